"""NUL and lone surrogates, which not every database can hold: U+FFFD in all of them, through
every entrance, and found again by what was given."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Kb
from knowbase import Note, SearchRequest
from knowbase.base import Base, create
from knowbase.errors import KnowbaseError
from knowbase.query.conditions import Compare, InSession, Tagged
from knowbase.store.contract import Store
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes, Edit, SavedSearch
from knowbase.values.characters import clean, storable
from knowbase.values.documents import ALL, Page
from knowbase.values.sessions import Session, Use
from linked import FarApart
from postgres import new_base
from stores import NOW, draft, section

ODD = ("a\0b", "a\ud800b", "\0", "\udcff", "x\udfffy\0z", "漢\0", "𐍈\udc00")


@pytest.mark.parametrize("odd", ODD)
def test_a_character_that_cannot_be_held_is_replaced(odd: str) -> None:
    assert len(clean(odd)) == len(odd)
    assert "\ufffd" in clean(odd)
    clean(odd).encode()
    value = (odd, {odd: [odd, 1]}, None, frozenset({odd}), b"\0")
    assert storable(value) == (
        (cleaned := clean(odd)), {cleaned: [cleaned, 1]}, None, frozenset({cleaned}), b"\0",
    )  # fmt: skip


def test_what_is_sound_stays_the_very_same() -> None:
    value = Changes(drafts=(draft("one", section("text 漢𐍈"), metadata={"a": [1]}),))
    assert storable(value) is value


def test_every_store_holds_and_finds_them_alike(store: Store) -> None:
    odd = "x\udfffy\0z"
    held = clean(odd)
    stated: dict[str, Any] = {
        "tags": (odd,),
        "project": odd,
        "code": odd,
        "roles": (odd,),
        "metadata": {odd: odd},
    }
    changes = Changes(
        drafts=(draft("one", section(f"text {odd} more"), title=odd, **stated),),
        edits=(Edit("one", {"superseded_by": odd}),),
        sessions=(Session(odd, odd, NOW, NOW, odd),),
        uses=(Use(odd, "one", "created", NOW),),
    )
    [document] = store.apply(changes, NOW)
    assert (document.title, document.tags, document.project) == (held, (held,), held)
    assert (document.code, document.roles, document.metadata) == (held, (held,), {held: held})
    [passage] = store.chunks("one")
    assert passage.chunk.text == f"text {held} more"
    for name in (odd, held):
        found = store.find(name)
        assert found is not None
        for condition in (Tagged((name,)), Compare("project", "=", name), InSession(name)):
            assert [one.id for one in store.documents(condition, ALL)] == ["one"]
        assert list(store.sessions((name,))) == [held]
        assert [one.id for one in store.recent_sessions(name, Page())] == [held]
        assert [one.document for one in store.uses_in(name)] == ["one"]
    assert store.save_search(SavedSearch(odd, odd, {odd: odd}, NOW, NOW))
    assert store.saved_searches() == [SavedSearch(held, held, {held: held}, NOW, NOW)]
    assert not store.save_search(SavedSearch(held, "", {}, NOW, NOW))
    assert store.drop_search(odd)


# through a base: the same outcome, be it an answer or an error, in a file and in PostgreSQL


def calls(base: Base, odd: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    def search(query: str, **more: Any) -> Callable[[], Any]:
        request = SearchRequest(query, mode="keyword", **more)
        return lambda: [hit.code for hit in base.search(request).hits]

    def note(text: str = "text", **stated: Any) -> Callable[[], Any]:
        return lambda: base.note(Note(text, **stated))._replace(id="")

    front = '---\ntags: ["q\\0"]\nfoo: "v\\ud800"\nproject: "p\\0"\n---\ntext'
    yield "note", note(f"text {odd} here")
    yield "title", note(title=f"t {odd}")
    yield "tag", note(tags=(f"t{odd}",))
    yield "code", note(code=f"C-{odd}1")
    yield "project", note(project=f"p{odd}")
    yield "session", note(session=f"s{odd}")
    yield "parent", note(parent=f"s{odd}")
    yield "front matter", note(f"---\ntags: ['q{odd}']\nfoo: 'v{odd}'\n---\ntext")
    yield "escapes", note(front)
    yield "remember", lambda: base.remember(f"mem {odd} abc").document.title
    yield "words", search(f"text {odd}")
    yield "tags", search("text", tags=(f"t{odd}",))
    yield "tag:", search(f"tag:t{odd} text")
    yield "project:", search(f'text project:"p{odd}"')
    yield "session_filter", search("text", session_filter=f"s{odd}")
    yield "session", search("text", session=f"s{odd}")
    yield "get", lambda: base.get(f"C-{odd}1").document.code
    yield "get nothing", lambda: base.get(odd)
    yield "plan", lambda: base.plan(f"a {odd}").query
    yield "start", lambda: base.sessions.start(f"n{odd}", project=f"p{odd}")
    yield "end", lambda: base.sessions.end(f"n{odd}", f"sum {odd}")
    yield "brief", lambda: base.brief(f"p{odd}").text
    yield "save", lambda: base.saved.add(f"n{odd}", SearchRequest(f"q {odd}", tags=(f"t{odd}",)))
    yield "relate", lambda: base.relate("KB-1", "KB-2", f"R{odd}")
    yield "feedback", lambda: base.feedback("KB-1", "good", f"s{odd}").counted
    yield "list", lambda: [one.code for one in base.documents(tags=(f"t{odd}",)).documents]
    yield "related", lambda: base.graph.related(f"K{odd}").results
    yield "forget", lambda: base.lifecycle.forget([f"K{odd}"])
    yield "remove", lambda: base.remove([f"K{odd}"])


def outcome(call: Callable[[], Any]) -> str:
    try:
        return repr(call())
    except KnowbaseError as error:
        return f"{type(error).__name__}: {error}"


def test_every_entrance_of_both_engines_gives_the_same(tmp_path: Path) -> None:
    places = (str(tmp_path / "base.db"), new_base())
    made = [Base(create(p).path, embedder=FarApart(), clock=lambda: 1.7e9) for p in places]
    for odd in ODD:
        for (name, one), (_, other) in zip(*(calls(base, odd) for base in made), strict=True):
            told = outcome(one)
            assert outcome(other) == told, f"{name} {odd!r}"
            if "Error: " in told or "InvalidInput: " in told:
                continue
            raw = r"(?<!\\)\\(x00|ud800|udcff|udfff|udc00)"  # not a backslash that was written
            assert re.search(raw, told) is None, f"{name} {odd!r}"
    for base in made:
        base.close()


def test_a_file_whose_text_has_them_is_stored(kb: Kb) -> None:
    """JSON can spell what UTF-8 cannot."""
    book = '{"cells": [{"cell_type": "markdown", "source": ["zebra \\ud800 \\u0000 text"]}]}'
    kb.write("book.ipynb", book)
    kb.write("page.md", '---\ntitle: "zebra \\ud800"\ncode: "Z-\\0"\n---\nzebra text')
    assert kb.json("add", ".", "--defer")["failed"] == []
    assert len(kb.json("search", "zebra", "--fts-only")["hits"]) == 2


def test_the_beginning_of_a_word_is_not_that_word(store: Store) -> None:
    """No bound of a range is lost to the cleaning."""
    store.apply(Changes(drafts=(draft("one", section("seaside")),)), NOW)
    words = [Word("sea"), Word("seaside"), Word("sea", prefix=True)]
    assert store.unknown_words(words) == [Word("sea")]
