"""Tags of a note are changed, and nothing else of it."""

from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note
from linked import FarApart

TEXTS = (
    "---\nx: 1\n---\n\n---\nrule: first\n---\n\nbody",
    "status:: active\nowner:: me\n\nsecond:: line\n\nbody",
    "# Title\n\nSome words, a [[link]] and #inline\n\n## Part\n\nMore of it\n",
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_tag_changes_no_word_of_the_text(tmp_path: Path, text: str) -> None:
    with Base(knowbase.create(tmp_path / "base.db").path, embedder=FarApart()) as base:
        before = base.get(base.note(Note(text, code="N-1", tags=["old"])).code)
        [changed] = base.tag(["N-1"], add=["new"], remove=["old"]).documents
        after = base.get("N-1")
    assert after.text == before.text
    assert set(changed.tags) == {*before.document.tags, "new"} - {"old"}
    same = ("id", "code", "title", "type", "metadata", "created_at", "project")
    assert [getattr(after.document, name) for name in same] == [
        getattr(before.document, name) for name in same
    ]


def test_a_tag_leaves_the_links_that_front_matter_names(tmp_path: Path) -> None:
    with Base(knowbase.create(tmp_path / "base.db").path, embedder=FarApart()) as base:
        base.note(Note("The first", code="N-1"))
        base.note(Note("---\nblocked_by: [N-1]\n---\nThe second", code="N-2"))
        before = base.graph.links("N-2").links
        base.tag(["N-2"], add=["new"])
        after = base.graph.links("N-2").links
    assert [one.relation for one in before] == [one.relation for one in after] == ["BLOCKED_BY"]
