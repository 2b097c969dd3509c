"""Remembering is careful: nothing twice, nothing merged, everything said."""

import copy
import pickle
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note
from knowbase.embed.granite import Granite
from knowbase.errors import InvalidInput
from knowbase.query.conditions import HIDDEN_STATES

EMBEDDER = Granite()
REACT = "We use React with TypeScript"


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    with Base(knowbase.create(str(tmp_path / "b.db")).path, embedder=EMBEDDER) as made:
        yield made


def test_every_field_of_a_memory_is_kept(base: Base) -> None:
    """S0-05, S0-06, C10"""
    note = Note(
        "---\nauthor: Ann\n---\n" + REACT,
        title="Stack",
        tags=("#Web",),
        type="decision",
        code="D-1",
        project="web",
        scope="global",
        sector="reflective",
        tier="project",
        roles=("dev",),
        confidence=0.9,
        salience=0.0,
        expires_at="2099-01-01T00:00:00.000000Z",
    )
    document = base.remember(note).document
    for field in ("title", "type", "code", "project", "scope", "sector", "tier", "roles"):
        assert getattr(document, field) == note.value(field)
    assert (document.confidence, document.salience) == (0.9, 0.0)
    assert document.expires_at == note.value("expires_at")
    assert (document.tags, document.metadata) == (("web",), {"author": "Ann"})
    assert base.remember(REACT).document.type == "fact"


def test_the_same_text_in_the_same_project_and_type_is_known(base: Base) -> None:
    first = base.remember(Note(REACT, project="web", type="decision", session="s1"))
    again = base.remember(
        Note("  we use react\nwith  TypeScript ", project="web", type="decision", session="s2")
    )
    assert (first.created, again.created) == (True, False)
    assert again.document == first.document
    assert [use.usage for use in base.store.uses_in("s2")] == ["reinforced"]
    assert base.status().documents == 1
    for other in (
        Note(REACT, project="web"),
        Note(REACT, type="decision"),
        Note(REACT, project="x"),
    ):
        assert base.remember(other).created


def test_a_text_that_no_longer_holds_can_be_said_again(base: Base) -> None:
    for hide in (base.lifecycle.forget, base.lifecycle.archive):
        known = base.remember(REACT).document
        hide([known.id])
        again = base.remember(REACT)
        assert again.created
        base.remove([again.document.id, known.id])


def test_what_says_almost_the_same_is_written_and_told(base: Base) -> None:
    known = base.remember(Note(REACT + " for the frontend.", project="web")).document
    base.remember(Note(REACT + " for the frontend.", project="other"))
    base.remember(Note("Invoices are sent on the first of the month.", project="web"))
    new = base.remember(Note(REACT + " for our frontend.", project="web"))
    assert new.created
    assert [one.document.id for one in new.similar] == [known.id]
    assert 0.95 <= new.similar[0].similarity < 1
    assert new.similar[0].opening == REACT + " for the frontend."
    assert base.whole(known.id) == known  # nothing was merged


def test_what_is_superseded_at_once_is_not_told_as_alike(base: Base) -> None:
    old = base.remember(Note(REACT + " for the frontend.")).document
    new = base.remember(Note(REACT + " for our frontend.", supersedes=old.code))
    assert new.similar == ()
    assert new.superseded == base.whole(old.id)
    assert base.whole(old.id).superseded_by == new.document.id
    assert [one.id for one in base.documents().documents] == [new.document.id]
    # The very same text can take the place of what it was.
    same = base.remember(Note(REACT + " for our frontend.", supersedes=new.document.code))
    assert same.created
    assert base.documents(include=HIDDEN_STATES).total == 3


def test_rewriting_keeps_what_is_not_said_anew(base: Base) -> None:
    note = Note(REACT, project="web", type="decision", sector="reflective", confidence=0.9)
    old = base.remember(note).document
    new = base.remember(Note("We use Svelte", replaces=old.code, session="s1")).document
    assert (new.id, new.title) == (old.id, "We use Svelte")
    for field in ("project", "type", "sector", "confidence", "salience", "scope", "created_at"):
        assert getattr(new, field) == getattr(old, field)
    assert [use.usage for use in base.store.uses_in("s1")] == ["updated"]


@pytest.mark.parametrize(
    ("field", "value", "allowed"),
    [
        ("sector", "x", "reflective, semantic, procedural, emotional, episodic"),
        ("tier", "x", "session, project, global"),
        ("scope", "x", "global, project"),
        ("type", "x", "decision, lesson"),
        ("confidence", 1.5, "from 0 to 1"),
        ("salience", -0.1, "from 0 to 1"),
        ("text", " ", None),
    ],
)
def test_a_wrong_value_is_refused_with_the_right_ones(
    base: Base, field: str, value: object, allowed: str | None
) -> None:
    with pytest.raises(InvalidInput) as caught:
        base.remember(Note(REACT)._replace(**{field: value}))
    assert caught.value.field == field
    assert allowed is None or allowed in (caught.value.hint or "")
    assert base.status().documents == 0


def test_a_memory_its_session_and_what_it_supersedes_are_written_together_or_not_at_all(
    base: Base,
) -> None:
    old = base.remember("The old one").document
    with pytest.raises(InvalidInput):
        base.remember(Note("The new one", supersedes=old.code, session="s1", sector="x"))
    assert base.whole(old.id) == old
    assert base.sessions.recent().sessions == ()


def test_types_can_be_registered(tmp_path: Path) -> None:
    """S0-06"""
    (tmp_path / "kb.toml").write_text('[index]\ntypes = ["recipe"]\n')
    path = knowbase.create(str(tmp_path / ".kb" / "base.db")).path
    with Base(path, embedder=EMBEDDER) as base:
        assert base.remember(Note("Boil the water", type="recipe")).document.type == "recipe"


def test_the_same_text_from_many_at_once_is_written_once(base: Base) -> None:
    created: list[bool] = []
    threads = [
        threading.Thread(target=lambda: created.append(base.remember(REACT).created))
        for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert base.status().documents == 1
    assert created.count(True) == 1


def test_saying_it_again_with_its_code_is_no_error(base: Base) -> None:
    first = base.remember(Note(REACT, code="D-1"))
    assert base.remember(Note(REACT, code="D-1")).document == first.document
    with pytest.raises(InvalidInput, match="belongs to 'We use React"):
        base.remember(Note("Another text", code="D-1"))
    base.lifecycle.forget(["D-1"])
    with pytest.raises(InvalidInput, match="belongs to a forgotten document"):
        base.remember(Note("Another text", code="D-1"))


def test_a_role_is_found_in_any_case(base: Base) -> None:
    base.remember(Note(REACT, roles=("QA",)))
    assert base.search("role:QA").returned == base.search("role:qa").returned == 1


def test_an_expiry_that_is_no_time_is_refused(base: Base) -> None:
    with pytest.raises(InvalidInput, match="expires_at cannot be 'tomorrowish'"):
        base.remember(Note(REACT, expires_at="tomorrowish"))
    kept = base.remember(Note(REACT, expires_at="2099-12-31")).document
    assert kept.expires_at == "2099-12-31T00:00:00.000000Z"


def test_a_note_is_a_value_that_can_be_copied_and_says_what_it_states() -> None:
    note = Note("text", title="A title", tags=["#Ops"], session="s1", roles=("QA",))
    assert pickle.loads(pickle.dumps(note)) == copy.copy(note) == note
    assert (note.title, note.tags, note.roles, note.project) == ("A title", ("ops",), ("qa",), None)
    assert note._replace(text="other", title="B").title == "B"
    with pytest.raises(InvalidInput, match="a note has no 'colour'"):
        Note("text", colour="red")
    with pytest.raises(AttributeError):
        note.colour  # noqa: B018
