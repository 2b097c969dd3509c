"""Settings and tokens over HTTP: to this machine alone, to who may do everything."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase.http.served import served
from servers import Served, serving

NEAR = [path for path, operation in served().items() if operation.near]


def test_what_this_machine_alone_is_served_is_known() -> None:
    assert {"/api/config", "/api/models", "/api/token/new", "/api/task/start"} <= set(NEAR)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("near")
    knowbase.create(str(folder)).close()
    with serving(folder, env={"KB_INDEX_HIDDEN": "true"}) as running:
        yield running


def lines(server: Served) -> dict[str, dict[str, object]]:
    return {one["key"]: one for one in server.json("config")["settings"]}


def test_a_setting_is_shown_changed_and_reset(server: Served) -> None:
    told = lines(server)["search.default_top"]
    assert (told["value"], told["origin"], told["most"]) == (0, "default", 1000)
    wanted = {"key": "search.default_top", "value": "7"}
    preview = server.json("config set", **wanted, dry_run=True)
    assert preview["diff"] == ["+[search]", "+default_top = 7"]
    assert lines(server)["search.default_top"]["value"] == 0
    changed = server.json("config set", **wanted)
    assert (changed["before"], changed["value"], changed["restart"]) == (0, 7, True)
    told = lines(server)["search.default_top"]
    assert (told["value"], told["origin"], told["in_use"]) == (7, "kb.toml", False)
    server.json("config reset", key="search.default_top")
    assert lines(server)["search.default_top"]["origin"] == "default"


@pytest.mark.parametrize(
    ("key", "value", "status"),
    [
        ("search.default_top", "many", 422),
        ("search.default_top", "100000", 422),
        ("search.profile", "no such", 422),
        ("no.such", "1", 422),
        ("graph.code_pattern", "(", 422),
        ("index.hidden", "false", 409),  # the environment has it
        ("serve.host", "0.0.0.0", 403),  # who is let in is decided elsewhere
        ("embed.url", "https://example.org", 403),  # … and where texts are sent
        ("rerank.url", "https://example.org", 403),
        ("rerank_url", "https://example.org", 403),
    ],
)
def test_what_cannot_be_changed_is_refused(
    server: Served, key: str, value: str, status: int
) -> None:
    answer = server.post("config set", key=key, value=value)
    assert answer.status_code == status, answer.text


def test_no_address_of_a_service_is_changed_or_reset(server: Served) -> None:
    addresses = [key for key in lines(server) if key.endswith("url")]
    assert {"embed.url", "rerank.url"} <= set(addresses)
    for key in addresses:
        for asked in (("config set", {"key": key, "value": ""}), ("config reset", {"key": key})):
            assert server.post(asked[0], **asked[1]).status_code == 403, (key, asked)


def test_who_asks_through_a_proxy_is_not_near(server: Served) -> None:
    for name in ("X-Forwarded-For", "Forwarded", "Via"):
        for path in NEAR:
            answer = server.client.post(path, json={}, headers={name: "10.0.0.1"})
            assert answer.status_code == 403, (name, path)


def test_tokens_are_made_listed_and_revoked_by_who_may_do_everything(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    owner = kb("token", "new", "owner").out.strip()
    with serving(tmp_path, token=owner) as server:
        made = server.json("token new", name="reader", scope="read")
        assert [one["name"] for one in server.json("token list")["tokens"]] == ["owner", "reader"]
        held = server.json("token new", name="held", project="apollo")["token"]
        for token in (made["token"], held):
            headers = {"Authorization": f"Bearer {token}"}
            for path in ("config", "token/list"):
                answer = server.client.get(f"/api/{path}", headers=headers)
                assert answer.status_code == 403, answer.text
            answer = server.client.post("/api/token/new", json={}, headers=headers)
            assert answer.status_code == 403
        server.json("token revoke", name="reader")
        headers = {"Authorization": f"Bearer {made['token']}"}
        assert server.client.get("/api/tags", headers=headers).status_code == 401
        assert server.json("config")["settings"]


def test_a_server_that_others_know_by_name_serves_no_settings(tmp_path: Path) -> None:
    knowbase.create(str(tmp_path)).close()
    with serving(tmp_path, env={"KB_SERVE_URL": "https://kb.example.com"}) as server:
        for path in NEAR:
            assert server.client.post(path, json={}).status_code == 403, path


def test_the_command_changes_kb_toml_and_leaves_the_rest(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb("init")
    home = Path(kb.json("config")["base"]).parents[1]
    file = home / "kb.toml"
    file.write_text(
        '# ours\n[search] # how\ndefault_top = 3 # few\n\n[profiles.x]\nsource = "kb"\n'
    )
    kb("config", "set", "search.default_top", "4")
    kb("config", "set", "index.types", "plan,adr")
    kb("config", "set", "search.profile", "x")
    told = file.read_text()
    assert told.startswith("# ours\n[search] # how\n")
    assert tomllib.loads(told) == {
        "search": {"default_top": 4, "profile": "x"},
        "profiles": {"x": {"source": "kb"}},
        "index": {"types": ["plan", "adr"]},
    }
    assert "default_top" in kb("config", "reset", "search.default_top", "--dry-run").out
    assert file.read_text() == told
    kb("config", "reset", "search.default_top")
    assert "default_top" not in file.read_text()
    kb("config", "set", "serve.port", "9000")  # here it may be
    file.write_text('index = {types = [\n"a"]}\n')
    assert "by hand" in kb.error("config", "set", "index.types", "b", code=2)
