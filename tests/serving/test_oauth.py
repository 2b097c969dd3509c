"""Tokens of an authorization server: what is published, verified, refused, and held to."""

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import httpx
import httpx2
import jwt
import pytest
from issuer import AuthorizationServer, Key, issuing
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

import knowbase
from knowbase.http import issuer as issuing_keys
from knowbase.http.failures import IssuerUnavailable
from knowbase.http.issuer import Keys, WrongToken
from servers import PATIENCE, Served, serving, two_projects

WELL_KNOWN = "/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def issuer() -> Iterator[AuthorizationServer]:
    with issuing() as running:
        yield running


@pytest.fixture(scope="module")
def server(
    tmp_path_factory: pytest.TempPathFactory, issuer: AuthorizationServer
) -> Iterator[Served]:
    folder = two_projects(tmp_path_factory.mktemp("oauth") / "base")
    env = {"KB_SERVE_OAUTH_ISSUER": issuer.url, "KB_SERVE_OAUTH_PROJECT_CLAIM": "kb_project"}
    with serving(folder, env=env) as running:
        yield running


@pytest.fixture(autouse=True)
def whole_base(issuer: AuthorizationServer) -> None:
    issuer.claims = {"kb_project": "*"}


ADDRESSES = (f"127.0.0.{number}" for number in range(2, 250))


def asked(server: Served, token: str, path: str = "/api/tags") -> httpx.Response:
    """From an address of its own: one that is wrong too often has to wait."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    transport = httpx.HTTPTransport(local_address=next(ADDRESSES))
    with httpx.Client(transport=transport, timeout=PATIENCE) as client:
        return client.get(server.address + path, headers=headers)


def test_who_has_no_token_is_told_where_to_get_one(
    server: Served, issuer: AuthorizationServer
) -> None:
    """RFC 9728, for the whole server and for /mcp."""
    for path, own in (("/api/tags", ""), ("/mcp", "/mcp")):
        refused = asked(server, "", path)
        assert refused.status_code == 401
        place = f"{server.address}{WELL_KNOWN}{own}"
        assert refused.headers["www-authenticate"] == f'Bearer resource_metadata="{place}"'
        told = httpx.get(place).json()
        assert told["resource"] == server.address + own
        assert told["authorization_servers"] == [issuer.url]
        assert told["scopes_supported"] == ["kb:read", "kb:write"]


def test_a_token_of_the_issuer_is_good(server: Served, issuer: AuthorizationServer) -> None:
    for audience in (server.address, f"{server.address}/mcp"):
        assert asked(server, issuer.token(audience)).status_code == 200
    several = issuer.token(audience, aud=["https://elsewhere.example", server.address])
    assert asked(server, several).status_code == 200
    assert asked(server, "kb_nobody").status_code == 401


def test_scopes_and_the_project_are_what_the_claims_say(
    server: Served, issuer: AuthorizationServer
) -> None:
    reading = issuer.token(server.address, scope="openid kb:read", kb_project="apollo")
    with httpx.Client(base_url=server.address, timeout=PATIENCE) as client:
        client.headers["Authorization"] = f"Bearer {reading}"
        found = client.post("/api/search", json={"query": "engine", "mode": "keyword"}).json()
        assert {one["code"][:2] for one in found["hits"]} == {"AP"}
        assert client.get("/api/get?reference=ZE-1").status_code == 404
        assert client.post("/api/note", json={"text": "mine"}).status_code == 403
        writing = issuer.token(server.address, scope="kb:write", kb_project="apollo")
        client.headers["Authorization"] = f"Bearer {writing}"
        made = client.post("/api/note", json={"text": "A note of apollo's."}).json()
        assert made["project"] == "apollo"
        assert client.get("/api/status").status_code == 403


@pytest.mark.parametrize(
    ("claims", "status", "error"),
    [
        ({"scope": "openid"}, 403, "insufficient_scope"),
        ({"scope": None}, 403, "insufficient_scope"),
        ({"kb_project": None}, 403, "insufficient_scope"),
        ({"kb_project": ""}, 403, "insufficient_scope"),
        ({"kb_project": ["apollo"]}, 403, "insufficient_scope"),
        ({"aud": "https://elsewhere.example"}, 401, "invalid_token"),
        ({"aud": None}, 401, "invalid_token"),
        ({"iss": "https://elsewhere.example"}, 401, "invalid_token"),
        ({"exp": 1_000_000_000}, 401, "invalid_token"),
        ({"exp": None}, 401, "invalid_token"),
        ({"nbf": 4_000_000_000}, 401, "invalid_token"),
    ],
)
def test_a_token_that_is_for_others_or_another_time_is_refused(
    server: Served, issuer: AuthorizationServer, claims: dict[str, Any], status: int, error: str
) -> None:
    refused = asked(server, issuer.token(server.address, **claims))
    assert refused.status_code == status
    assert f'error="{error}"' in refused.headers["www-authenticate"]
    assert "resource_metadata=" in refused.headers["www-authenticate"]


def encoded(value: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


def test_no_token_is_believed_that_the_issuer_has_not_signed(
    server: Served, issuer: AuthorizationServer
) -> None:
    good = issuer.token(server.address)
    claims = jwt.decode(good, options={"verify_signature": False})
    pem = json.dumps(issuer.keys[-1].published).encode()
    unsigned = f"{encoded({'alg': 'none', 'kid': 'first'})}.{encoded(claims)}."
    start = f"{encoded({'alg': 'HS256', 'kid': 'first'})}.{encoded(claims)}"
    mac = hmac.new(pem, start.encode(), hashlib.sha256).digest()
    symmetric = f"{start}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"
    head, _, signature = good.split(".")
    changed = f"{head}.{encoded({**claims, 'kb_project': 'zeus'})}.{signature}"
    stranger = issuer.token(server.address, key=Key("first"))
    for token in (unsigned, symmetric, changed, stranger, "a.b.c", ".."):
        assert asked(server, token).status_code == 401, token


def test_keys_are_kept_and_a_new_one_is_found(tmp_path: Path) -> None:
    """Rotation: the new key is fetched when it is named, the old one is good no more once it is
    not published; and an issuer that is away is needed for nothing that is known."""
    knowbase.create(str(tmp_path)).close()
    with ExitStack() as stack:
        issuer = stack.enter_context(issuing())
        env = {"KB_SERVE_OAUTH_ISSUER": issuer.url}
        server = stack.enter_context(serving(tmp_path, env=env))
        old = issuer.token(server.address)
        for _ in range(3):
            assert asked(server, old).status_code == 200
        assert issuer.asked.count("/keys") == 1
        issuer.keys = [Key("second", "ES256")]
        new = issuer.token(server.address)
        end = time.monotonic() + PATIENCE
        while asked(server, new).status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.7)
        assert asked(server, old).status_code == 401
        issuer.keys = []
        assert asked(server, new).status_code == 200


def test_an_issuer_that_cannot_be_asked_is_told_without_its_address(tmp_path: Path) -> None:
    knowbase.create(str(tmp_path)).close()
    with issuing() as issuer:
        token = issuer.token("x")
    with serving(tmp_path, env={"KB_SERVE_OAUTH_ISSUER": issuer.url}) as server:
        refused = asked(server, token)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "issuer_unavailable")
        assert issuer.url not in refused.text


def test_unknown_keys_hold_up_no_known_one_and_are_fetched_for_once(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = Keys(issuer.url, f"{issuer.url}/keys")
    first = issuer.keys[0].name
    assert keys.key(first, "RS256")
    monkeypatch.setattr(issuing_keys, "COOLDOWN", 0.2)
    time.sleep(0.3)
    fetching, go_on, asked_for = threading.Event(), threading.Event(), []

    def slow(url: str) -> Any:
        asked_for.append(url)
        fetching.set()
        assert go_on.wait(PATIENCE)
        return {"keys": [key.published for key in issuer.keys]}

    monkeypatch.setattr(issuing_keys, "_json", slow)
    with ThreadPoolExecutor(6) as pool:
        unknown = [pool.submit(keys.key, f"unknown {number}", "RS256") for number in range(4)]
        assert fetching.wait(PATIENCE)
        try:
            time.sleep(0.3)  # the cooldown counts from the end of a fetch, not from its start
            assert pool.submit(keys.key, first, "RS256").result(timeout=5)
            monkeypatch.setattr(keys, "_fetched", keys._fetched - issuing_keys.FRESH)
            assert pool.submit(keys.key, first, "RS256").result(timeout=5)  # old, and good enough
        finally:
            go_on.set()
        for one in unknown:
            assert isinstance(one.exception(PATIENCE), WrongToken)
    assert len(asked_for) == 1


def test_keys_that_are_said_to_be_at_an_open_address_are_not_fetched(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = Keys(issuer.url, "")
    assert keys.key(issuer.keys[0].name, "RS256")
    moved = {**issuer.metadata(), "jwks_uri": "http://keys.example/keys"}
    monkeypatch.setattr(issuer, "metadata", lambda: moved)
    monkeypatch.setattr(keys, "_fetched", keys._fetched - issuing_keys.FRESH)
    monkeypatch.setattr(keys, "_tried", keys._tried - issuing_keys.FRESH)
    assert keys.key(issuer.keys[0].name, "RS256")  # the old ones stay
    with pytest.raises(IssuerUnavailable):
        Keys(issuer.url, "").key(issuer.keys[0].name, "RS256")


class Storage:
    """What the client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def test_an_agent_finds_the_issuer_gets_a_token_and_uses_the_tools(
    server: Served, issuer: AuthorizationServer
) -> None:
    """The SDK's own client: from the first refusal to an answer, with no word about the issuer."""
    issuer.claims = {"kb_project": "apollo"}
    sent: list[str] = []

    async def redirect(url: str) -> None:
        async with httpx.AsyncClient() as browser:
            sent.append((await browser.get(url)).headers["location"])

    async def callback() -> AuthorizationCodeResult:
        told = parse_qs(urlsplit(sent[-1]).query)
        return AuthorizationCodeResult(
            code=told["code"][0], state=told["state"][0], iss=told["iss"][0]
        )

    async def run() -> set[str]:
        wanted = OAuthClientMetadata(
            client_name="a test", redirect_uris=[AnyUrl("http://127.0.0.1:9/callback")]
        )
        storage = Storage()
        address = f"{server.address}/mcp"
        auth = OAuthClientProvider(address, wanted, storage, redirect, callback)
        http = httpx2.AsyncClient(auth=auth, timeout=PATIENCE)
        transport = streamable_http_client(address, http_client=http)
        async with http, Client(transport) as client:
            found = await client.call_tool("kb_search", {"query": "rocket engine"})
            assert storage.tokens is not None
            return {one["code"][:2].upper() for one in found.structured_content["results"]}

    assert anyio.run(run) == {"AP"}
    assert len(sent) == 1
