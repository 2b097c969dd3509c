"""Any base: what goes out comes in again as it was, once, and beside whatever else there is."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.exchange.exporting import FORMATS, Wanted, export
from knowbase.exchange.taking import take_export
from knowbase.query.conditions import EVERYTHING
from knowbase.upkeep.digests import digests, of_history
from knowbase.values.documents import ALL, Document

SAID = st.sampled_from(("archive", "forget", "supersede", "judge", "relate", "feedback", "nothing"))
WORDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from("\n-#[]:\"'"), max_size=40
)


class Given(NamedTuple):
    """A document, and what happens to it."""

    text: str
    type: str
    tags: tuple[str, ...]
    code: str | None
    parent: int  # counted back
    link: int
    said: str
    other: int


DOCUMENTS = st.lists(
    st.builds(
        Given,
        text=WORDS,
        type=st.sampled_from(("fact", "decision", "lesson", "note")),
        tags=st.lists(st.sampled_from(("ops", "a b", "köln", "c#")), max_size=2).map(tuple),
        code=st.none() | st.sampled_from(("KB-1", "KB-2", "KB-7", "X-1", "x-2", "Ä-1")),
        parent=st.integers(0, 3),
        link=st.integers(0, 3),
        said=SAID,
        other=st.integers(1, 3),
    ),
    min_size=1,
    max_size=5,
)


def fill(base: Base, documents: list[Given], whose: str) -> None:
    """A base that was lived in, as a person or an agent does it."""
    base.sessions.start("s1", whose)
    codes: list[str] = []
    for number, one in enumerate(documents):
        before = codes[::-1]
        parent = before[one.parent - 1] if 0 < one.parent <= len(before) else None
        link = f" see [[{before[one.link - 1]}]]" if 0 < one.link <= len(before) else ""
        taken = one.code is not None and base.store.find(one.code) is not None
        note = Note(
            f"{whose} {number} {one.text}{link}", type=one.type, tags=one.tags, parent=parent,
            code=None if taken else one.code, session="s1",
        )  # fmt: skip
        codes.append(base.note(note).code)
    base.note(Note(f"{whose} 0, written anew", replaces=codes[0]))
    base.sessions.end("s1", f"Summary of {whose}")
    base.saved.add("mine", SearchRequest(f"under:{codes[0]} herons", top=3))
    base.synonyms.add(["heron", f"bird of {whose}"])
    for code, one in zip(codes, documents, strict=True):
        at = codes.index(code) - one.other
        live(base, one.said, code, codes[at] if at >= 0 else None)


def live(base: Base, said: str, code: str, other: str | None) -> None:
    if said == "archive":
        base.lifecycle.archive([code])
    elif said == "forget":
        base.lifecycle.forget([code])
    elif said == "judge":
        base.verdict(code, "accept")
    elif said == "feedback":
        base.feedback(code, "good", "s1")
    elif other is not None and other in base.store.codes():
        if said == "supersede":
            base.lifecycle.supersede(other, code)
        elif said == "relate":
            base.relate(other, code)


@contextmanager
def bases(*names: str) -> Iterator[list[Any]]:
    """Real files, in a folder that goes; and the folder."""
    with TemporaryDirectory() as folder:
        made = [knowbase.create(os.path.join(folder, f"{name}.db")) for name in names]
        try:
            yield [*made, Path(folder)]
        finally:
            for one in made:
                one.close()


def parts(base: Base) -> tuple[Any, ...]:
    copying = base.store.copying()
    return (*digests(copying), of_history(copying))


def told(base: Base) -> dict[str, tuple[Any, ...]]:
    """What each document says, and where it leads, by titles instead of codes."""
    every = base.store.documents(EVERYTHING, ALL)
    titles = {one.id: one.title.split(" ")[:2] for one in every}
    titles |= {one.code.lower(): one.title.split(" ")[:2] for one in every}

    def named(name: str | None) -> Any:
        return titles.get(name or "", titles.get((name or "").lower(), name))

    return {
        one.id: (one.type, one.tags, one.archived, bool(one.deleted_at), bool(one.judged),
                 named(one.parent), named(one.superseded_by), leads(base, one))
        for one in every
    }  # fmt: skip


def leads(base: Base, document: Document) -> tuple[Any, ...]:
    if document.deleted_at is not None:
        return ()
    found = base.graph.links(document.code).links
    return tuple(sorted((one.relation, one.direction, one.document.id) for one in found))


@pytest.fixture(autouse=True)
def _by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")


@settings(max_examples=3, deadline=None, phases=(Phase.explicit, Phase.generate),
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@given(first=DOCUMENTS, second=DOCUMENTS)
def test_any_base_goes_out_and_in_again(first: list[Given], second: list[Given]) -> None:
    with bases("one", "other", "markdown", "jsonl") as (one, other, *empty, folder):
        fill(one, first, "one")
        fill(other, second, "other")
        before, mine, theirs = parts(one), told(other), told(one)
        for kind, base in zip(FORMATS, empty, strict=True):
            export(one, Wanted(str(folder / kind), format=kind))
            assert take_export(base, str(folder / kind)).verified
            assert parts(base) == before
            again = take_export(base, str(folder / kind))
            assert (again.added, again.changed, again.failed) == (0, 0, ())
            assert parts(base) == before == parts(one)
        found = take_export(other, str(folder / "jsonl"))
        assert (found.added, found.changed, found.kept) == (len(theirs), 0, 0)
        both = told(other)
        assert both == mine | theirs
        for kind in FORMATS:
            again = take_export(other, str(folder / kind))
            assert (again.added, again.changed, again.kept, again.failed) == (0, 0, 0, ())
            assert told(other) == both
