"""The base as it was: what users ask of it by a query, a flag, Python, HTTP and an agent's tools
(`tests/store/test_store_as_of.py` compares the answers with snapshots)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import knowbase
from knowbase import Base, Client, Note
from knowbase.base.services import Opened
from knowbase.errors import Conflict, KnowbaseError, NotFound
from knowbase.search.answer import Answer
from knowbase.store.plain import PlainStore
from knowbase.store.postgres import create as create_postgres
from knowbase.values.access import Access
from postgres import new_base
from servers import serving

if TYPE_CHECKING:
    from knowbase.store.contract import Store

DAYS = ("2026-01-05", "2026-02-05", "2026-03-05")


class Clock:
    """A clock that tests turn."""

    def __init__(self) -> None:
        self.time = 0.0

    def set(self, day: str) -> None:
        from datetime import datetime

        self.time = datetime.fromisoformat(f"{day}T12:00:00+00:00").timestamp()

    def __call__(self) -> float:
        return self.time


class Told:
    """A base with three moments, and what it answered at each."""

    def __init__(self, folder: Path, engine: str = "sqlite") -> None:
        self.clock = Clock()
        path = str(folder / "base.db")
        if engine == "sqlite":
            knowbase.create(path).close()
            self.base = Base(path, clock=self.clock)
        else:
            store: Store = PlainStore() if engine == "memory" else create_postgres(new_base())
            self.base = Base(path, clock=self.clock, opened=Opened(store))
        self.answers: dict[str, Any] = {}
        steps = (self._first, self._second, self._third)
        for day, step in zip(DAYS, steps, strict=True):
            self.clock.set(day)
            step()
            self.answers[day] = told(self.base)
        self.clock.set("2026-04-01")

    def _note(self, text: str, code: str, **stated: Any) -> None:
        known = self.base.store.find(code)
        self.base.note(Note(text, replaces=code if known else None, code=code, **stated))

    def _first(self) -> None:
        self._note("We deploy with jenkins. See [[OPS-2]].", "OPS-1", tags=["ops"], type="decision")
        self._note("Roll back by hand, as jenkins cannot.", "OPS-2", tags=["ops", "manual"])

    def _second(self) -> None:
        self._note("We deploy with argocd every friday.", "OPS-1", tags=["ops", "argo"])
        self._note("The jenkins server is gone.", "OPS-3", project="web")
        self.base.sessions.start("review")

    def _third(self) -> None:
        self.base.remove(["OPS-2"])
        self._note("We deploy with argocd every day.", "OPS-1", tags=["argo"], type="decision")


def hits(answer: Answer) -> list[tuple[str, float, str]]:
    return [(one.code, round(one.score, 9), one.snippet) for one in answer.hits]


def told(base: Base) -> dict[str, Any]:
    """What a base answers, by every way that there is."""
    asked = ("jenkins", "how do we deploy", "argocd tag:ops", "jenkins -server", '"by hand"')
    found: dict[str, Any] = {
        f"{mode}: {query}": hits(base.search(query, mode=mode))
        for query in asked
        for mode in ("hybrid", "keyword", "semantic")
    }
    found["facets"] = base.search("deploy jenkins", facets=["tag", "type"]).facets
    found["list"] = [(one.code, one.tags) for one in base.documents().documents]
    found["tags"] = base.tags()
    found["brief"] = base.brief().parts
    found["related"] = [one.document.code for one in base.graph.related("OPS-1").results]
    timeline = base.sessions.timeline("OPS-1", 5, 5)
    found["timeline"] = [one.code for one in (*timeline.before, *timeline.after)]
    found["get"] = base.get("OPS-1").text
    links = base.graph.links("OPS-1")
    found["links"] = [one.document.code for one in links.links if one.relation != "SIMILAR_TO"]
    return found


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    made = Told(tmp_path_factory.mktemp("as_of"))
    yield made
    made.base.close()


@pytest.mark.parametrize("engine", ["memory", "sqlite", "postgres"])
def test_a_base_answers_as_it_did_then(tmp_path: Path, engine: str) -> None:
    """E8: searches by words, meaning and links, with their scores; lists, tags, the brief."""
    known = Told(tmp_path, engine)
    with known.base:
        for day in DAYS:
            with known.base.as_of(day) as then:
                assert told(then) == known.answers[day]


def test_a_moment_is_said_in_the_query_by_a_keyword_or_beside_a_name(known: Told) -> None:
    base, then = known.base, known.answers["2026-01-05"]
    expected = then["hybrid: jenkins"]
    assert hits(base.search("jenkins as_of:2026-01-05")) == expected
    assert hits(base.search('jenkins as_of:"2026-01"')) == expected
    assert hits(base.search("jenkins", as_of="2026-01-05")) == expected
    assert hits(base.search("jenkins as_of:#2")) == expected
    assert base.get("OPS-1", as_of="2026-01-05").text == then["get"]
    assert base.get("OPS-1@2026-01-05").text == then["get"]
    assert hits(base.search("jenkins")) != expected
    assert "as of 2026-01-05, after change #2" in base.search("jenkins as_of:2026-01-05").notices


def test_a_session_is_the_moment_when_it_started(known: Told) -> None:
    found = known.base.search("jenkins as_of:review")
    assert hits(found) == known.answers["2026-02-05"]["hybrid: jenkins"]


def test_what_is_forgotten_today_is_not_found_at_another_moment(tmp_path: Path) -> None:
    with knowbase.create(tmp_path) as base:
        code = base.note("a secret of the otter").code
        number = base.store.history().last()
        base.lifecycle.forget([code])
        assert base.search("otter", as_of=f"#{number}").hits == ()
        base.lifecycle.restore([code])
        assert [one.code for one in base.search("otter", as_of=f"#{number}").hits] == [code]
        base.history.erase([code])
        found = base.search("otter", as_of=f"#{number}")
        assert found.hits == ()
        assert found.notices[-1] == f"as of #{number}; 1 document of then is no longer kept"


def test_when_it_held_and_when_it_was_known_are_two_questions(tmp_path: Path) -> None:
    clock = Clock()
    knowbase.create(str(tmp_path)).close()
    with Base(str(tmp_path / ".kb" / "base.db"), clock=clock) as base:
        clock.set("2026-01-05")
        old = base.note(Note("the port is 80", expires_at="2026-02-01T00:00:00.000000Z")).code
        clock.set("2026-03-05")
        base.note("the port is 443")
        assert [one.code for one in base.search("port").hits] != [old]
        then = base.search("port", as_of="2026-01-06")  # it had not expired
        assert [one.code for one in then.hits] == [old]
        later = base.search("port", as_of="2026-02-20")  # known, and expired by then
        assert [one.code for one in later.hits] == []
        shown = base.search("port include:expired", as_of="2026-02-20")
        assert [one.code for one in shown.hits] == [old]


@pytest.mark.parametrize(
    ("when", "told"),
    [
        ("1999-01-01", "there was no base yet at '1999-01-01'"),
        ("2030-01-01", "'2030-01-01' lies in the future"),
        ("no moment", "'no moment' is not a moment"),
        ("#99", "there is no change #99 yet"),
    ],
)
def test_a_moment_that_never_was_is_refused_in_one_sentence(
    known: Told, when: str, told: str
) -> None:
    for ask in (
        lambda: known.base.search("jenkins", as_of=when),
        lambda: known.base.get("OPS-1", as_of=when),
        lambda: known.base.as_of(when),
    ):
        with pytest.raises(Conflict) as refused:
            ask()
        assert (refused.value.message, refused.value.field) == (told, "as_of")
    asked = f'jenkins as_of:"{when}"'
    found = known.base.search(asked)  # no query is an error
    assert (found.hits, found.total, found.query) == ((), 0, asked)
    assert found.notices[0].startswith(f"{told}: nothing was searched (")
    with pytest.raises(Conflict, match="two moments"):
        known.base.search("jenkins as_of:#1", as_of="#2")


@pytest.mark.parametrize(
    ("query", "when"),
    [
        ('jenkins as_of:""', ""),
        ("jenkins as_of:#1 as_of:#2", "#1 and #2"),
        ("jenkins -as_of:#1", "-#1"),
    ],
)
def test_a_query_that_names_no_single_moment_searches_nothing(
    known: Told, query: str, when: str
) -> None:
    found = known.base.search(query)
    assert found.hits == ()
    assert found.notices[0].startswith(f"{when!r} is not a moment: nothing was searched (")
    assert known.base.search("jenkins as_of:#1 as_of:#1").hits


def test_nothing_is_written_through_a_moment(known: Told) -> None:
    number = known.base.store.history().last()
    with known.base.as_of("2026-01-05") as then:
        for write in (
            lambda: then.note("new"),
            lambda: then.remove(["OPS-1"]),
            lambda: then.lifecycle.forget(["OPS-1"]),
            lambda: then.search("jenkins", session_record="review"),
        ):
            with pytest.raises(KnowbaseError, match="what the base was cannot be changed"):
                write()
    used = known.base.store.find("OPS-1")
    known.base.search("argocd", profile="memory", as_of="2026-02-05")
    known.base.flush()
    assert known.base.store.find("OPS-1") == used
    assert known.base.store.history().last() == number


def test_a_token_of_a_project_sees_what_its_project_was(known: Told) -> None:
    web = known.base.within(Access(project="web", write=False))
    assert [one.code for one in web.search("jenkins", as_of="2026-02-05").hits] == ["OPS-3"]
    assert web.search("jenkins", as_of="2026-01-05").hits == ()
    with pytest.raises(NotFound):
        web.get("OPS-1", as_of="2026-01-05")


def test_commands_take_a_moment(known: Told, capsys: pytest.CaptureFixture[str]) -> None:
    from knowbase.cli import main

    def run(*words: str) -> Any:
        assert main([*words, "--base", known.base.path, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    then = known.answers["2026-01-05"]
    moment = ("--as-of", "#2")
    found = run("search", "jenkins", *moment)["hits"]
    assert [one["code"] for one in found] == [one[0] for one in then["hybrid: jenkins"]]
    listed = run("list", *moment)["documents"]
    assert [one["code"] for one in listed] == [one[0] for one in then["list"]]
    assert [(one["tag"], one["documents"]) for one in run("tags", *moment)["tags"]] == [
        *then["tags"]
    ]
    related = run("related", "OPS-1", *moment)["results"]
    assert [one["document"]["code"] for one in related] == then["related"]
    assert run("get", "OPS-1", *moment)["text"] == then["get"]


def test_a_served_base_answers_as_it_was(known: Told) -> None:
    then = known.answers["2026-01-05"]
    folder = Path(known.base.path).parent
    with serving(folder, "--base", known.base.path) as served:
        client = Client(served.address)
        assert served.json("tags", as_of="#2") == served.client.get("/api/tags?as_of=%232").json()
        found = client.search("jenkins", as_of="#2")
        assert [one.code for one in found.hits] == [one[0] for one in then["hybrid: jenkins"]]
        assert [one.code for one in client.search("jenkins as_of:#2").hits] == [
            one.code for one in found.hits
        ]
        assert [(one.tag, one.documents) for one in client.call("tags", as_of="#2").tags] == [
            *then["tags"]
        ]
        assert client.get("OPS-1", as_of="#2").text == then["get"]
        with pytest.raises(Conflict, match="lies in the future") as refused:
            client.search("jenkins", as_of="2999")
        assert refused.value.field == "as_of"
