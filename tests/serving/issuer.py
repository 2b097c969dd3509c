"""A real authorization server: over HTTP, with real keys; it approves whoever asks."""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

Form = dict[str, str]


class Key:
    """A key that signs, and what is published of it."""

    def __init__(self, name: str, algorithm: str = "RS256") -> None:
        self.name, self.algorithm = name, algorithm
        self.private: Any = (
            ec.generate_private_key(ec.SECP256R1())
            if algorithm == "ES256"
            else rsa.generate_private_key(65537, 2048)
        )

    @property
    def published(self) -> dict[str, Any]:
        maker = jwt.get_algorithm_by_name(self.algorithm)
        public = json.loads(maker.to_jwk(self.private.public_key()))
        return {**public, "kid": self.name, "alg": self.algorithm, "use": "sig"}


class AuthorizationServer:
    """What it knows: its keys, who has registered, and which codes it has given away."""

    def __init__(self) -> None:
        self.keys = [Key("first")]
        self.url = ""
        self.scope = "kb:read kb:write"
        self.claims: dict[str, Any] = {}
        self.codes: dict[str, Form] = {}
        self.asked: list[str] = []  # the paths, in order

    def token(self, audience: str, key: Key | None = None, **claims: Any) -> str:
        """A token for an audience; a claim that is None is left out."""
        key, now = key or self.keys[-1], int(time.time())
        told = {
            "iss": self.url, "aud": audience, "sub": "ada", "iat": now, "exp": now + 300,
            "scope": self.scope, **self.claims, **claims,
        }  # fmt: skip
        told = {name: value for name, value in told.items() if value is not None}
        return jwt.encode(told, key.private, algorithm=key.algorithm, headers={"kid": key.name})

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "registration_endpoint": f"{self.url}/register",
            "jwks_uri": f"{self.url}/keys",
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none"],
            "scopes_supported": ["kb:read", "kb:write"],
        }

    def authorize(self, asked: Form) -> str:
        """Where the browser is sent, with a code."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        told = {"code": code, "state": asked["state"], "iss": self.url}
        return f"{asked['redirect_uri']}?{urlencode(told)}"

    def exchange(self, form: Form) -> dict[str, Any]:
        """A token for a code, to who began with the verifier of its challenge (PKCE)."""
        asked = self.codes.pop(form["code"])
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        assert asked["code_challenge"] == base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        assert form["resource"] == asked["resource"]
        token = self.token(form["resource"], scope=asked.get("scope", self.scope))
        return {"access_token": token, "token_type": "Bearer", "expires_in": 300}


@contextmanager
def issuing() -> Iterator[AuthorizationServer]:
    """Run one on a free port."""
    knows = AuthorizationServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, query = urlsplit(self.path).path, urlsplit(self.path).query
            knows.asked.append(path)
            if path == "/authorize":
                asked = {name: values[0] for name, values in parse_qs(query).items()}
                self.send_response(302)
                self.send_header("Location", knows.authorize(asked))
                self.send_header("Content-Length", "0")
                self.end_headers()
            elif path == "/.well-known/oauth-authorization-server":
                self.answer(knows.metadata())
            elif path == "/keys":
                self.answer({"keys": [key.published for key in knows.keys]})
            else:
                self.answer({"error": "not_found"}, 404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path == "/register":
                self.answer({**json.loads(body), "client_id": secrets.token_hex(8)}, 201)
            else:
                form = {name: values[0] for name, values in parse_qs(body).items()}
                self.answer(knows.exchange(form))

        def answer(self, told: dict[str, Any], status: int = 200) -> None:
            body = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        knows.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield knows
        finally:
            server.shutdown()
            thread.join()
