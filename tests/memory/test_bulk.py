"""Many notes at once: all or none, and once for a key; from Python, the command and over HTTP."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note
from knowbase.errors import Conflict, InvalidInput
from knowbase.values.access import Access
from postgres import new_base
from servers import PATIENCE, serving

NOTES = (Note("One of two.", tags=("bulk",)), Note("Two of two.", code="BK-2", type="decision"))


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    place = str(tmp_path) if request.param == "sqlite" else new_base()
    with knowbase.create(place) as made:
        yield made


def test_sent_again_with_its_key_nothing_is_written_again(base: Base) -> None:
    """Also by another process, after the notes were edited or forgotten, and for each project
    apart."""
    first = base.notes(NOTES, key="import-1")
    assert [base.get(one.code).document.id for one in first.notes] == [o.id for o in first.notes]
    assert first.notes[1].code == "BK-2"
    with Base(base.path) as another:
        assert another.notes(NOTES, key="import-1") == first
    base.note(Note("Edited since.", replaces=first.notes[0].code))
    base.lifecycle.forget(["BK-2"])
    assert base.notes(NOTES, key="import-1") == first
    assert base.get(first.notes[0].code).text == "Edited since."
    assert base.store.counts().documents == 1
    elsewhere = base.within(Access(project="web")).notes(("Of web.",), key="import-1")
    assert base.get(elsewhere.notes[0].code).document.project == "web"
    assert base.notes(("No key.",)) != base.notes(("No key.",))


def test_a_key_is_for_one_set_of_notes(base: Base) -> None:
    base.notes(NOTES, key="import-1")
    for others in (("Something else.",), NOTES[:1], (*NOTES, "A third."), NOTES[::-1]):
        with pytest.raises(Conflict, match="this key was used for other notes"):
            base.notes(others, key="import-1")
    assert base.store.counts().documents == 2


def test_one_that_cannot_be_written_keeps_all_from_being_written(base: Base) -> None:
    base.note(Note("It is here.", code="BK-1"))
    wrong: tuple[tuple[Any, str], ...] = (
        (("Good.", Note("Taken.", code="BK-1")), "BK-1"),
        (("Good.", " "), "there is no text"),
        ((Note("Twice.", code="BK-7"), Note("Twice!", code="BK-7")), "taken"),
        ((), "there are 0 notes"),
        ("Good.", "one note"),
    )
    for notes, message in wrong:
        with pytest.raises(InvalidInput, match=message):
            base.notes(notes, key="k")
    for key in ("", " ", "k" * 201):
        with pytest.raises(InvalidInput, match="key cannot be"):
            base.notes(NOTES, key=key)
    assert base.store.counts().documents == 1


def test_many_at_once_write_them_once(tmp_path: Path) -> None:
    """Several clients, and a server that is killed and started again in between."""
    knowbase.create(str(tmp_path)).close()
    body = {"notes": [{"text": f"Note {one}.", "tags": ["bulk"]} for one in range(5)]}
    header = {"Idempotency-Key": "import-1"}
    answers = []
    for _ in range(2):
        with serving(tmp_path) as server:

            def send(_: int, address: str = server.address) -> httpx.Response:
                return httpx.post(
                    f"{address}/api/notes", json=body, headers=header, timeout=PATIENCE
                )

            with ThreadPoolExecutor(4) as clients:
                answers += list(clients.map(send, range(4)))
            assert server.json("list")["total"] == 5
            other = {"notes": [{"text": "Another."}]}
            refused = server.client.post("/api/notes", json=other, headers=header)
            assert refused.status_code == 409
            wrong = server.post("notes", notes=[{"text": "x"}, {"text": "y", "type": "poem"}])
            assert (wrong.status_code, wrong.json()["error"]["field"]) == (422, "notes[1].type")
            empty = server.post("notes", notes=[{"text": "x"}, {"text": " "}])
            assert empty.json()["error"]["field"] == "notes[1].text"
            once = server.client.post("/api/note", json={"text": "x"}, headers=header)
            assert once.json()["error"]["field"] == "Idempotency-Key"  # nothing would honour it
            unfit: tuple[Any, ...] = (
                [{"text": "x", "colour": "red"}],
                ["text"],
                [{}],
                {"text": "x"},
                [],
            )
            for bad in unfit:
                assert server.post("notes", notes=bad).status_code == 422, bad
            misspelt = server.post("notes", notes=[{"text": "x"}, {"text": "y", "tags": 5}])
            assert misspelt.json()["error"]["field"] == "notes[1].tags"
            assert server.json("list")["total"] == 5
            server.process.kill()
            server.process.wait()
    assert {one.status_code for one in answers} == {200}
    assert len({one.text for one in answers}) == 1


def test_the_command_takes_lines_of_json(kb: Kb) -> None:
    kb("init")
    lines = "\n".join(json.dumps({"text": f"Line {n}.", "project": "web"}) for n in range(3))
    first = kb.json("notes", "--key", "k", text=lines)
    assert kb.json("notes", "--key", "k", text=lines) == first
    assert kb.json("list")["total"] == 3
    shown = kb("notes", "--key", "k", text=lines).out.split()
    assert shown == [one["code"] for one in first["notes"]]
    line = kb("notes", text='{"text": "one"}\nno json\n', code=2).err
    assert "line 2 of notes is not JSON" in line
