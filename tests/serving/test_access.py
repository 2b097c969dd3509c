"""Tokens: what each may do, and that one project's token reaches nothing of another's."""

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.errors import KnowbaseError, NotAllowed
from knowbase.http.served import served
from knowbase.operations.declare import Operation
from knowbase.operations.results import plain
from knowbase.query.conditions import Compare
from knowbase.search.request import SearchRequest
from knowbase.values.access import Access
from knowbase.values.documents import ALL
from knowbase.values.notes import Note
from knowbase.values.parameters import build
from postgres import new_base
from servers import SECRET, Served, fill, serving, two_projects

OPERATIONS = {operation.name: operation for operation in served().values()}
TOKEN = "a token that nobody would guess"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_projects(tmp_path_factory.mktemp("access") / "original")


@pytest.fixture
def folder(original: Path, tmp_path: Path) -> Path:
    shutil.copytree(original, tmp_path / "copy")
    return tmp_path / "copy"


@pytest.fixture(scope="module")
def apollo(original: Path) -> Iterator[Served]:
    """Asked with a token that may write, held to apollo."""
    folder = original.parent / "apollo"
    shutil.copytree(original, folder)
    with serving(folder, token=token_of(Kb(folder), "--project", "apollo")) as server:
        yield server


def token_of(kb: Kb, *arguments: str) -> str:
    return str(kb.json("token", "new", *arguments)["token"])


def zeus(folder: Path) -> tuple[str, frozenset[str]]:
    """All that the other project has, and the ids of its documents."""
    with knowbase.open(str(folder)) as base:
        return everything_of_zeus(base)


def everything_of_zeus(base: Base) -> tuple[str, frozenset[str]]:
    documents = base.store.documents(Compare("project", "=", "zeus"), ALL)
    ids = frozenset(document.id for document in documents)
    parts = [
        documents,
        [base.store.chunks(one) for one in sorted(ids)],
        [base.store.relations(one) for one in sorted(ids)],
        base.store.recent_sessions("zeus", ALL),
        base.store.uses_in("s-ze"),
    ]
    return json.dumps(plain(parts), sort_keys=True), ids


# For each operation, what somebody of apollo might try in order to reach zeus.
ATTACKS: dict[str, list[dict[str, Any]]] = {
    "note": [
        {"text": "mine now", "replace": "ZE-1"},
        {"text": "mine now", "code": "ZE-1"},
        {"text": "---\nproject: zeus\n---\nsmuggled"},
        {"text": "---\nparent: ZE-1\nsuperseded_by: ZE-2\n---\nbelow yours, see [[ZE-3]]"},
    ],
    "notes": [
        {"notes": [{"text": "mine now", "project": "zeus"}]},
        {"notes": [{"text": "mine now"}, {"text": "mine, too", "code": "ZE-1"}], "key": "k"},
        {"notes": [{"text": "mine now", "parent": "ZE-1"}]},
    ],
    "remember": [
        {"text": "mine now", "project": "zeus"},
        {"text": "mine now", "code": "ZE-1"},
        {"text": "mine now", "code": "ze-1"},
        {"text": "mine now", "replace": "ZE-1"},
        {"text": "mine now", "supersede": "ZE-1"},
        {"text": "mine now", "parent": "ZE-1"},
        {"text": "mine now", "session": "s-ze"},
        {"text": "It was here for a day only", "type": "fact"},
    ],
    "search": [
        {"query": "moonrover"},
        {"query": "moonrovr"},
        {"query": "engine", "project": "zeus"},
        {"query": "engine OR project:zeus", "top": 50},
        {"query": "similar:'rocket engine'", "include": ["superseded", "archived", "expired"]},
        {"query": "like:ZE-1"},
        {"query": "related:ZE-1"},
        {"query": "related:AP-2", "explain": True},
        {"query": "under:ZE-1"},
        {"query": "under:ZE-1 NOT project:apollo", "explain_query": True},
        {"query": "", "under": "ZE-1"},
        {"query": "engine", "session": "s-ze"},
        {"query": "engine", "session_filter": "s-ze"},
        {"query": "engine", "session_record": "s-ze"},
        {"query": "launch window", "include": ["superseded"]},
        {"query": "is:superseded"},
        {
            "query": "engine",
            "facets": ["type", "tag", "project", "folder", "age", "week"],
            "offset": 5,
        },
    ],
    "get": [{"reference": "ZE-1"}, {"reference": "ZE-1:_preamble"}, {"reference": "2"}],
    "render": [
        {"reference": "ZE-1"},
        {"reference": "AP-1", "query": "moonrover"},
        {"reference": "AP-2", "query": "related:ZE-1"},
        {"reference": "ZE-1:_preamble"},
    ],
    "list": [{"limit": 10_000, "include": ["superseded", "archived", "expired"]}],
    "browse": [
        {"limit": 10_000, "include": ["superseded", "archived", "expired"]},
        {"project": "zeus"},
    ],
    "tags": [{}],
    "timeline": [{"anchor": "ZE-2"}, {"anchor": "AP-2", "before": 1000, "after": 1000}],
    "context": [{"reference": "ZE-1"}, {"reference": "AP-2"}, {"reference": "AP-3"}],
    "brief": [{"project": "zeus"}, {}, {"max_tokens": 100_000}],
    "inbox": [{}, {"project": "zeus"}, {"limit": 200, "group": "near_duplicate"}],
    "verdict": [
        {"reference": "ZE-1", "verdict": "forget"},
        {"reference": "AP-6", "verdict": "supersede", "other": "ZE-1"},
        {"reference": "AP-6", "verdict": "merge", "other": "ZE-1"},
        {"reference": "ZE-5", "verdict": "undo"},
    ],
    "relate": [
        {"source": "AP-1", "target": "ZE-1"},
        {"source": "ZE-1", "target": "ZE-2"},
        {"source": "AP-2", "target": "ZE-1", "remove": True},
    ],
    "feedback": [
        {"hit": "ZE-1", "verdict": "bad"},
        {"hit": "AP-1", "verdict": "good", "session": "s-ze"},
    ],
    "log": [{}, {"reference": "ZE-1"}, {"limit": 10_000}, {"session": "s-ze"}],
    "history": [{"reference": "ZE-1"}],
    "history prune": [{"keep": "off"}],
    "diff": [{"old": "ZE-1@now"}, {"old": "AP-1@now", "new": "ZE-1"}, {"old": "AP-1@s-ze"}],
    "undo": [{"list": True}, {"dry_run": True}, {"change": 1}, {"change": 99}],
    "supersede": [{"old": "ZE-1", "new": "AP-1"}, {"old": "AP-4", "new": "ZE-1"}],
    "forget": [
        {"references": ["ZE-1"]},
        {"references": ["AP-7", "ZE-1"]},
        {"references": ["ZE-1"], "erase": True},
        {"references": ["AP-7"], "erase": True},
    ],
    "restore": [{"references": ["ZE-5"]}, {"references": ["ZE-1@now"]}, {}, {"limit": 10_000}],
    "archive": [{"references": ["ZE-1"]}],
    "tag": [
        {"references": ["ZE-1"], "add": ["mine"]},
        {"references": ["AP-7", "ZE-1"], "remove": ["x"]},
    ],
    "extend": [{"references": ["ZE-1"]}, {"references": ["AP-7", "ZE-1"], "until": "never"}],
    "expire": [{}, {"within": "1y"}, {"delete": True}],
    "sessions": [{}, {"project": "zeus"}],
    "session start": [{"session": "s-ze"}, {"session": "s-new", "project": "zeus"}],
    "session end": [{"session": "s-ze", "summary": "over"}],
    "session show": [{"session": "s-ze"}],
    "links": [{"reference": "ZE-1"}, {"reference": "AP-1"}, {"reference": "AP-2"}],
    "related": [{"reference": "ZE-1", "depth": 6}, {"reference": "AP-2", "depth": 6, "limit": 20}],
    "neighbourhood": [
        {"reference": "ZE-1", "depth": 3},
        {"reference": "AP-2", "depth": 3, "limit": 500},
        {"reference": "AP-1", "tags": [SECRET]},
    ],
    "path": [{"source": "AP-1", "target": "ZE-1"}, {"source": "ZE-1", "target": "ZE-2"}],
    "communities": [{}],
    "rank": [{"top": 10_000}],
    "graph query": [{"query": "MATCH (d:Document) RETURN d.code, d.title"}],
    "graph rebuild": [{}],
    "rm": [{"references": ["ZE-1"]}, {"references": ["ZE-1"], "dry_run": True}],
    "status": [{}],
    "doctor": [{}],
    "searches": [{}],
    "models": [{}, {"folders": ["/etc"]}],
    "tasks": [{}],
    "original": [{"reference": "ZE-1"}, {"reference": "AP-1"}],
    "mcp clients": [{}],
    "task start": [{"task": "sync"}, {"task": "add", "paths": ["/etc/hostname"]}],
    "task stop": [{"id": "T1"}],
    "ignore": [{"pattern": "*.md"}, {"pattern": "*.md", "dry_run": True}],
    "config": [{}],
    "config set": [{"key": "search.default_top", "value": "1"}],
    "config reset": [{"key": "search.profile"}],
    "token new": [{}, {"project": "zeus"}],
    "token list": [{}],
    "token revoke": [{"name": "token-1"}],
    "profiles": [{}],
    "profiles show": [{"name": "best"}],
    "why-not": [{"reference": "ZE-1", "query": "engine"}],
    "query": [{"query": "under:ZE-1 like:ZE-2"}],
    "saved add": [{"name": "mine", "query": "engine"}, {"name": "engines", "replace": True}],
    "saved list": [{}],
    "saved run": [{"name": "engines", "set": ["what=moonrover"]}, {"name": "engine"}],
    "saved rm": [{"name": "engines"}],
    "synonyms add": [{"words": ["moonrover", "buggy"]}],
    "synonyms list": [{}],
    "synonyms import": [{"text": "moonrover, buggy"}],
    "synonyms remove": [{"word": "moonrover"}],
    "kb_search": [{"query": "moonrover"}, {"query": "engine", "limit": 50, "tags": ["quasrmark"]}],
    "kb_get_related": [{"entry_id": "ZE-1"}, {"entry_id": "AP-2", "limit": 20}],
}


def test_every_served_operation_is_attacked() -> None:
    assert set(ATTACKS) == set(OPERATIONS)


@pytest.mark.parametrize("name", ATTACKS)
def test_nothing_of_another_project_is_seen_or_changed(apollo: Served, name: str) -> None:
    folder = apollo.log.parent
    before, ids = zeus(folder)
    by_id = [{"reference": one} for one in ids if set(ATTACKS[name][0]) == {"reference"}]
    for values in ATTACKS[name] + by_id:
        response = apollo.post(name, **values)
        assert response.status_code in (200, 403, 404, 409, 422), (values, response.text)
        assert SECRET not in response.text, (values, response.text)
        # What took AP-4's place is said of AP-4: an id, by which nothing can be had.
        told = re.sub(r'"superseded_by": "[^"]*"', "", response.text)
        assert not [one for one in ids - set(map(str, values.values())) if one in told], (
            values,
            told,
        )
        assert '"project": "zeus"' not in response.text
    assert zeus(folder)[0] == before


def test_the_same_holds_for_a_base_in_postgresql() -> None:
    """Without a server before it: the store alone keeps the projects apart."""
    place = new_base()
    fill(place)
    with knowbase.open(place) as base:
        before, ids = everything_of_zeus(base)
        held = base.within(Access(project="apollo"))
        for operation in (one for one in OPERATIONS.values() if not one.whole):
            for values in ATTACKS[operation.name]:
                told = tried(operation, held, values)
                assert SECRET not in told, (operation.name, values, told)
                others = re.sub(r'"superseded_by": "[^"]*"', "", told)
                assert not [one for one in ids if one in others], (operation.name, values, told)
        assert everything_of_zeus(base)[0] == before
        codes = {hit.code for hit in held.search("rocket engine").hits}
        assert "AP-1" in codes
        assert not [code for code in codes if code.startswith("ZE-")]


def tried(operation: Operation, base: Base, values: dict[str, Any]) -> str:
    try:
        return json.dumps(plain(operation.run(base, build(operation.request, values))))
    except KnowbaseError as error:
        return json.dumps(error.as_dict())


@pytest.mark.parametrize("place", ["file", "postgresql"])
def test_what_others_have_changes_no_number_that_a_project_gets(place: str, tmp_path: Path) -> None:
    """Not a score, not a count: neither tells how many foreign texts have a word."""
    told = []
    for number, foreign in enumerate([(), ("valves", "a rare valve", "engine", "engine engine")]):
        with knowbase.create(
            str(tmp_path / f"{number}.db") if place == "file" else new_base()
        ) as base:
            for text in ("The engine has valves.", "Engines are tested.", "A valve is a valve"):
                base.note(Note(text, project="apollo"))
            for text in foreign:
                base.note(Note(text, project="zeus"))
            held = base.within(Access(project="apollo"))
            for query in ("engine", "valve engine", '"a valve"', "engin*", "rare", "vavle"):
                found = held.search(SearchRequest(query, explain=True))
                told.append((number, json.dumps(plain(found))))
            status = plain(held.status()) | {"base": "", "models": []}
            told.append((number, json.dumps(status)))
            told.append((number, str([one.vectors for one in held.store.models()])))
    own = r'[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[0-9:.]+Z|"(?:chunk_)?id": \d+|_ms": [0-9.]+'
    alone, among = ([re.sub(own, "", text) for of, text in told if of == one] for one in (0, 1))
    assert alone == among


def test_a_project_has_codes_of_its_own(folder: Path) -> None:
    """Whether another one has a code cannot be told: both are written alike."""
    kb = Kb(folder)
    with serving(folder, token=token_of(kb, "--project", "apollo")) as server:
        for code in ("ZE-1", "FREE-1"):
            written = server.json("note", text=f"about {code}", code=code)
            assert written["code"] == f"apollo/{code}"
            for name in (code, f"apollo/{code}", f"Apollo/{code.lower()}"):
                assert server.json("get", reference=name)["document"]["id"] == written["id"]
            taken = server.post("note", text="another", code=code)
            assert (taken.status_code, taken.json()["error"]["field"]) == (409, "code")
            child = server.json("note", text="below it", parent=code)
            assert child["parent"] == f"apollo/{code}"
        assert server.json("note", text="own", replace="AP-7", code="AP-7")["code"] == "AP-7"
        own = [server.json("note", text=f"number {one}")["code"] for one in range(2)]
        numbers = [int(code.removeprefix("apollo/KB-")) for code in own]
        assert numbers[1] == numbers[0] + 1
    assert kb.json("get", "ZE-1")["document"]["project"] == "zeus"
    assert kb.json("get", "apollo/ZE-1")["document"]["project"] == "apollo"


@pytest.mark.parametrize("place", ["file", "postgresql"])
def test_a_project_has_sessions_of_its_own(place: str, tmp_path: Path) -> None:
    """One that another project has can be started, used and looked at as a new one can."""
    with knowbase.create(str(tmp_path / "base.db") if place == "file" else new_base()) as base:
        base.sessions.start("theirs", "zeus")
        base.sessions.start("ours", "apollo")
        base.remember(Note("Zeus was here", project="zeus", session="theirs"))
        held = base.within(Access(project="apollo"))
        for name in ("theirs", "new", "ours"):
            if name != "ours":
                assert held.sessions.start(name).id == name
            made = held.remember(Note(f"Written in {name}", session=name)).document
            shown = held.sessions.show(name)
            assert (shown.session.id, shown.session.project) == (name, "apollo")
            assert [one.document.id for one in shown.used] == [made.id]
            found = held.search(SearchRequest("written", session_filter=name)).hits
            assert [hit.id for hit in found] == [made.id]
            assert [hit.id for hit in held.search(f"session:{name}").hits] == [made.id]
            assert held.sessions.context(made.code).created_in.id == name  # type: ignore[union-attr]
            held.feedback(made.code, "good", name)
            assert held.sessions.end(name, "done").summary == "done"
        assert {one.id for one in held.sessions.recent().sessions} == {"theirs", "new", "ours"}
        assert [one.document.title for one in base.sessions.show("theirs").used] == [
            "Zeus was here"
        ]


def test_the_search_of_one_project_finds_what_is_its_own(apollo: Served) -> None:
    hits = apollo.json("search", query="rocket engine tests", top=20)["hits"]
    assert "AP-1" in {hit["code"] for hit in hits}
    assert not [hit for hit in hits if hit["code"].startswith("ZE-")]
    listed = apollo.json("list", limit=100)["documents"]
    assert {document["project"] for document in listed} == {"apollo"}


def test_what_is_written_gets_the_project_of_the_token(folder: Path) -> None:
    kb = Kb(folder)
    with serving(folder, token=token_of(kb, "--project", "apollo")) as server:
        assert server.json("note", text="A note")["project"] == "apollo"
        assert server.json("remember", text="A fact")["document"]["project"] == "apollo"
        assert server.json("session start", session="mine")["project"] == "apollo"
        assert server.json("search", query="A fact", session_record="mine")["returned"] > 0
        assert server.json("remember", text="A fact")["created"] is False
        refused = server.post("remember", text="Another", project="zeus")
        assert (refused.status_code, refused.json()["error"]["field"]) == (403, "project")


def test_what_concerns_the_whole_base_is_refused_to_one_project(apollo: Served) -> None:
    for name in (one.name for one in OPERATIONS.values() if one.whole):
        assert apollo.post(name, **ATTACKS[name][0]).status_code == 403
    assert apollo.client.get("/metrics").status_code == 403


def test_a_token_for_reading_cannot_write(folder: Path) -> None:
    kb = Kb(folder)
    with knowbase.open(str(folder)) as base:
        before = base.store.documents(Compare("seq", ">", 0), ALL)
    with serving(folder, token=token_of(kb, "--scope", "read")) as server:
        for operation in OPERATIONS.values():
            response = server.post(operation.name, **ATTACKS[operation.name][0])
            assert (response.status_code == 403) == (operation.writes or operation.near)
        assert server.json("expire", within="1y")["documents"]
        assert server.post("expire", delete=True).status_code == 403
        assert server.json("search", query="engine", profile="memory")["returned"] > 0
        recording = server.post("search", query="engine", session_record="s-ap")
        assert recording.status_code == 403
    with knowbase.open(str(folder)) as base:
        assert base.store.documents(Compare("seq", ">", 0), ALL) == before


def test_nothing_of_a_base_is_written_with_access_for_reading(folder: Path) -> None:
    with knowbase.open(str(folder)) as base:
        reading = base.within(Access(write=False))
        assert base.within(Access(write=False)) is reading
        model = base.store.model()
        assert model is not None
        for write in (
            lambda: reading.store.use_model(model),
            lambda: reading.store.link_similar(0.5),
        ):
            with pytest.raises(NotAllowed):
                write()


def test_a_get_records_nothing(folder: Path) -> None:
    with serving(folder) as server:

        def known() -> tuple[Any, Any]:
            return server.json("session show", session="s-ap"), server.json("list", limit=100)

        before = known()
        for name in ("session", "session_record"):
            asked = {"query": "engine", name: "s-ap"}
            refused = server.client.get("/api/search", params=asked)
            assert refused.status_code == 403
            assert "a POST records" in refused.json()["error"]["hint"]
        params = {"query": "engine", "profile": "memory"}
        assert server.client.get("/api/search", params=params).status_code == 200
        assert known() == before
        server.json("search", **params)
        assert known()[1] != before[1]
        server.json("search", query="engine", session_record="s-ap")
        assert known()[0] != before[0]


def test_without_a_token_that_is_known_nothing_is_told(folder: Path) -> None:
    token_of(Kb(folder), "first")
    with serving(folder) as server:
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic a2I6a2I="}):
            response = server.client.get("/api/tags", headers=header)
            assert response.status_code == 401
            assert response.headers["www-authenticate"] == "Bearer"
            assert response.json()["error"]["code"] == "unauthorized"
        assert server.client.get("/metrics").status_code == 401
        assert server.client.get("/api/nothing").status_code == 401
        assert server.client.get("/health").status_code == 200


def test_a_revoked_token_is_refused_at_once_and_the_last_one_opens_no_door(folder: Path) -> None:
    kb = Kb(folder)
    with serving(folder, token=token_of(kb, "only")) as server:
        assert server.client.get("/api/tags").status_code == 200
        kb("token", "revoke", "only")
        assert server.client.get("/api/tags").status_code == 401
        later = token_of(kb, "later")
        headers = {"Authorization": f"Bearer {later}"}
        assert server.client.get("/api/tags", headers=headers).status_code == 200
        (folder / ".kb" / "base.db.tokens.toml").write_text("no = [toml")
        assert server.client.get("/api/tags", headers=headers).status_code == 401


def test_a_file_of_tokens_that_cannot_be_read_opens_no_door(folder: Path) -> None:
    """Neither one that appears while nobody needs a token, nor at the second request."""
    tokens = folder / ".kb" / "base.db.tokens.toml"
    with serving(folder) as server:
        assert server.client.get("/api/tags").status_code == 200
        tokens.write_bytes(b'[[token]]\nname = "J\xfcrgen"\n')
        for _ in range(2):
            assert server.client.get("/api/tags").status_code == 401
        tokens.unlink()
        later = {"Authorization": f"Bearer {token_of(Kb(folder), 'later')}"}
        assert server.client.get("/api/tags", headers=later).status_code == 200
    tokens.write_bytes(b"\xff")
    assert "cannot be read" in Kb(folder).error("serve", "--port", "0", code=2)


def test_a_base_that_a_link_leads_to_has_its_tokens(folder: Path, tmp_path: Path) -> None:
    token_of(Kb(folder), "only")
    link = tmp_path / "link.db"
    link.symlink_to(folder / ".kb" / "base.db")
    with serving(folder, "--base", str(link)) as server:
        assert server.client.get("/api/tags").status_code == 401


def test_a_token_is_printed_once_and_kept_as_a_hash(folder: Path) -> None:
    kb = Kb(folder)
    token = kb("token", "new", "ci", "--scope", "read", "--project", "apollo").out.split()[0]
    kept = (folder / ".kb" / "base.db.tokens.toml").read_text()
    assert token not in kept
    assert (folder / ".kb" / "base.db.tokens.toml").stat().st_mode & 0o077 == 0
    listed = kb.json("tokens")["tokens"][0]
    assert (listed["name"], listed["scope"], listed["project"]) == ("ci", "read", "apollo")
    assert token not in kb("tokens").out
    assert "already" in kb.error("token", "new", "ci", code=2)
    assert "no token" in kb.error("token", "revoke", "other", code=3)


def test_the_tokens_may_lie_elsewhere(folder: Path, tmp_path: Path) -> None:
    env = {"KB_TOKENS_FILE": str(tmp_path / "far" / "tokens.toml")}
    kb = Kb(folder)
    token = kb.json("token", "new", env=env)["token"]
    with serving(folder, env=env, token=token) as server:
        assert server.client.get("/api/tags").status_code == 200


def test_an_address_that_others_reach_wants_a_token(folder: Path) -> None:
    kb = Kb(folder)
    assert "wants a token" in kb.error("serve", "--host", "0.0.0.0", "--port", "0", code=2)
    weak = kb.error("serve", "--port", "0", code=2, env={"KB_TOKEN": "short"})
    assert "too short" in weak
    with serving(folder, "--host", "0.0.0.0", env={"KB_TOKEN": TOKEN}) as server:
        assert server.client.get("/api/tags").status_code == 401
        allowed = server.client.get("/api/tags", headers={"Authorization": f"Bearer {TOKEN}"})
        assert allowed.status_code == 200


def test_what_a_token_writes_is_written_down_as_its_own(apollo: Served) -> None:
    """J7: who, through what, by which command; of the token's project alone."""
    import getpass

    apollo.json("note", text="Somebody wrote this", code="AP-W1")
    newest = apollo.json("log", limit=1)["changes"][0]
    assert (newest["surface"], newest["command"]) == ("http", "note")
    assert newest["who"] not in ("", getpass.getuser())
    assert [one["code"] for one in newest["touched"]] == ["apollo/AP-W1"]
