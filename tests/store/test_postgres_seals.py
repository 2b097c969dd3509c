"""Seals that are written with a document are those of what is read again."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import Connection

from knowbase.store.postgres import PostgresStore, create
from knowbase.store.postgres.reading import Reading, seqs
from knowbase.store.seals import seals_of
from knowbase.store.sqlite import create as create_file
from knowbase.values.changes import Changes, Edit
from knowbase.values.reading import Link
from postgres import new_base
from stores import MODEL, NOW, copy_into, draft, section

TEXT = st.text(max_size=30)


@pytest.fixture
def store() -> Iterator[PostgresStore]:
    made = create(new_base())
    made.use_model(MODEL)
    yield made
    made.close()


def agree(store: PostgresStore) -> bool:
    def compare(connection: Connection) -> bool:
        numbers = seqs(connection, store._base)
        copies = Reading(connection, store._base, numbers).copies()
        with store.copying().snapshot() as whole:
            stored = whole.seals(numbers)
        return bool(copies) and all(stored[one.document.seq] == seals_of(one) for one in copies)

    return store._connections.run(compare)


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


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(TEXT, min_size=1, max_size=3), fields=FIELDS)
def test_whatever_a_new_document_says_its_seals_are_those_of_what_is_read(
    store: PostgresStore, texts: list[str], fields: dict[str, Any]
) -> None:
    sections = [section(text, slug=f"s{n}") for n, text in enumerate(texts)]
    made = draft("one", *sections, **fields)
    made = made._replace(vectors=(None,) * len(made.chunks))
    store.apply(Changes(removed=("one",)), NOW)
    store.apply(Changes(drafts=(made,)), NOW)
    assert agree(store)


def test_a_document_that_is_written_twice_or_spoken_of_at_once_is_sealed_as_it_is_then(
    store: PostgresStore,
) -> None:
    first, second = (draft("one", section(text)) for text in ("alpha", "beta"))
    store.apply(Changes(drafts=(first, second)), NOW)
    assert agree(store)
    other = draft("two", section("gamma"))
    store.apply(Changes(drafts=(other,), edits=(Edit("two", {"archived": True}),)), NOW)
    assert agree(store)


def test_what_is_copied_from_a_file_is_sealed_as_it_is_read(
    store: PostgresStore, tmp_path: Path
) -> None:
    with closing(create_file(str(tmp_path / "base.db"))) as source:
        source.use_model(MODEL)
        text = "a long text of many words, which a file keeps packed, " * 50
        tagged = draft(
            "two", section("beta"), tags=("b", "a"), confidence=1, links=(Link("one", "wiki"),)
        )
        changes = Changes(drafts=(draft("one", section(text)), tagged))
        source.apply(changes._replace(edits=(Edit("one", {"archived": True}),)), NOW)
        copy_into(store, source)
    assert agree(store)
