"""Seals that a file gets with a new document are those of what is read again."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from knowbase.store.seals import seals_of
from knowbase.store.sqlite import SqliteStore, create
from knowbase.values.changes import Changes, Codes, Draft, Edit, Reinforcement, Verdict
from knowbase.values.reading import Link
from stores import MODEL, NOW, draft, section

TEXT = st.text(max_size=30)
LONG = "a long text of many words, which a file keeps packed, " * 9


@pytest.fixture
def store(tmp_path: Any) -> SqliteStore:
    made = create(str(tmp_path / "base.db"))
    made.use_model(MODEL)
    return made


def agree(store: SqliteStore) -> bool:
    copying = store.copying()
    copies = copying.copies(copying.seqs())
    with copying.snapshot() as whole:
        stored = whole.seals(copying.seqs())
    return bool(copies) and all(stored[one.document.seq] == seals_of(one) for one in copies)


FIELDS = st.fixed_dictionaries(
    {
        "title": TEXT,
        "tags": st.lists(TEXT, max_size=3).map(tuple),
        "links": st.lists(st.builds(Link, TEXT, st.sampled_from(["wiki", "code"]))).map(tuple),
        "metadata": st.dictionaries(
            TEXT, st.one_of(st.none(), st.integers(), st.floats(0, 1), TEXT)
        ),
        "confidence": st.one_of(st.none(), st.integers(0, 1), st.floats(0, 1)),
    }
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXT | st.just(LONG), min_size=1, max_size=3), fields=FIELDS)
def test_whatever_a_new_document_says_its_seals_are_those_of_what_is_read(
    store: SqliteStore, texts: list[str], fields: dict[str, Any]
) -> None:
    sections = [section(text, slug=f"s{n}") for n, text in enumerate(texts)]
    made = draft("one", *sections, **fields)
    made = made._replace(vectors=(None,) * len(made.chunks))
    store.apply(Changes(removed=("one",)), NOW)
    store.apply(Changes(drafts=(made,)), NOW)
    assert agree(store)


@pytest.mark.parametrize(
    "changes",
    [
        Changes(drafts=tuple(draft("one", section(text)) for text in ("alpha", "beta"))),
        Changes(drafts=(draft("one", section("a")),), edits=(Edit("one", {"archived": True}),)),
        Changes(drafts=tuple(draft(one, section(one), path="a.md") for one in ("one", "two"))),
        Changes(drafts=(draft("one", section("a")),), codes=(Codes("one", ("X-1", "X-2")),)),
        Changes(drafts=(draft("one", section("a")),), reinforced=(Reinforcement("one", 0.1),)),
        Changes(drafts=(draft("one", section("a")),), verdicts=(Verdict("one", "s", True, 0.1),)),
    ],
)
def test_a_document_that_is_written_twice_or_spoken_of_at_once_is_sealed_as_it_is_then(
    store: SqliteStore, changes: Changes
) -> None:
    store.apply(changes, NOW)
    assert agree(store)


def test_many_documents_of_many_chunks_are_stored_together_as_one_by_one(
    store: SqliteStore, tmp_path: Any
) -> None:
    def many(number: int) -> Draft:
        texts = [f"text {place} of {number} " + LONG * (place % 2) for place in range(5)]
        return draft(f"d{number}", *(section(t, slug=f"s{p}") for p, t in enumerate(texts)))

    drafts = tuple(map(many, range(31)))  # 155 chunks: statements of each size
    store.apply(Changes(drafts=drafts), NOW)
    alone = create(str(tmp_path / "alone.db"))
    alone.use_model(MODEL)
    for one in drafts:
        alone.apply(Changes(drafts=(one,)), NOW)
    both = [one.copying() for one in (store, alone)]
    assert both[0].copies(both[0].seqs()) == both[1].copies(both[1].seqs())
    assert agree(store)
    alone.close()
