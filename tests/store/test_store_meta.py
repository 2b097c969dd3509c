"""What front matter says besides the fields: every store finds the same by it (S3-41)."""

from pathlib import Path

import pytest

from knowbase.query.conditions import AllOf, Condition, Not
from knowbase.query.meta import where
from knowbase.query.words import FieldWeights, keyword_query
from knowbase.store.contract import Store
from knowbase.values.changes import Changes
from knowbase.values.documents import ALL
from stores import BACKENDS, MODEL, NOW, draft, section, vector

SAYS: dict[str, dict[str, object]] = {
    "one": {"Status": "Active", "priority": 3, "due": "2026-02-10", "done": False, "x.y": "dot"},
    "two": {"status": "done", "priority": 10.5, "due": "2026-03-01T10:00:00", "done": True},
    "six": {"status": ["active", "late", None, [1]], "priority": "high", "deep": {"Key": {"k": 7}}},
    "ten": {"status": None, "list": [], "straße": "ÄB", "year": 2026, "big": 10**40},
    "nil": {},
}


@pytest.fixture(params=list(BACKENDS), scope="module")
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = BACKENDS[request.param](Path(tmp_path_factory.mktemp("meta")))
    drafts = tuple(draft(name, section("engine"), metadata=says) for name, says in SAYS.items())
    made.use_model(MODEL)
    made.apply(Changes(drafts=drafts), NOW)
    return made


def asked(text: str) -> Condition:
    found = where(text, NOW)
    assert found is not None
    return found


CASES = [
    ("status=active", {"one", "six"}),
    ("STATUS=Active", {"one", "six"}),
    ("status=done,late", {"two", "six"}),
    ("status", {"one", "two", "six"}),
    ("list", set()),
    ("priority=3", {"one"}),
    ("priority=3.0", {"one"}),
    ("priority>3", {"two"}),
    ("priority>=3", {"one", "two"}),
    ("priority<=10.5", {"one", "two"}),
    ("priority<0", set()),
    ("priority=high", {"six"}),
    ("due<2026-02-11", {"one"}),
    ("due<2026-02-10", set()),
    ("due>2026-02", {"two"}),
    ("due>=2026-02-10", {"one", "two"}),
    ("due<=2026-03-01", {"one", "two"}),
    ("due=2026-02", {"one"}),
    ("due=2026-03-01", {"two"}),
    ("done=true", {"two"}),
    ("done=FALSE", {"one"}),
    ("x.y=dot", {"one"}),
    ("deep.key.k=7", {"six"}),
    ("deep.key", {"six"}),
    ("deep.other", set()),
    ("straße=ÄB", {"ten"}),
    ("year>=2026", {"ten"}),
    ("year>2026", set()),
    ("big>5", {"ten"}),
    ("status='; --", set()),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_key_is_found_by_value_and_range(store: Store, text: str, expected: set[str]) -> None:
    """S3-41."""
    condition = asked(text)
    assert {document.id for document in store.documents(condition, ALL)} == expected
    others = {document.id for document in store.documents(Not(condition), ALL)}
    assert others == SAYS.keys() - expected


def test_both_legs_are_bound_by_it(store: Store) -> None:
    condition = AllOf((asked("status=active"), asked("priority!=high")))
    words = store.keyword(keyword_query("engine", "any"), condition, 10, FieldWeights())
    meaning = store.semantic(vector(1, 0, 0, 0), condition, 10)
    passages = store.passages([one.chunk for one in (*words, *meaning)])
    assert len(words) == len(meaning) == 1
    assert {passage.document.id for passage in passages.values()} == {"one"}


@pytest.mark.parametrize("text", ["", " ", "=x", "status=", "due<soon", "status!=", "<3"])
def test_what_asks_for_nothing_is_none(text: str) -> None:
    assert where(text, NOW) is None


def test_the_documents_with_the_most_chunks_are_counted(store: Store) -> None:
    assert store.heaviest(asked("status"), 2) == [("one", 1), ("two", 1)]
    assert store.heaviest(asked("nothing"), 2) == []
