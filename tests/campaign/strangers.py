"""Two bases for the question of who sees what: one project alone, and the same with another
project beside it whose every part holds a word of its own."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import knowbase
from knowbase import Base, Note
from knowbase.values.access import Access
from servers import TEXTS

MARK = "quasar"  # every secret begins with it, and nothing else does
WORDS = {
    part: MARK + part
    for part in ("text", "title", "tag", "path", "session", "summary", "saved", "role", "heading")
}
CODE = "ZQ"
FORGOTTEN = 1  # of the others' documents


class Foreign(NamedTuple):
    """What the other project has that can be named."""

    codes: tuple[str, ...]
    ids: tuple[str, ...]
    numbers: tuple[str, ...]
    paths: tuple[str, ...]

    def references(self) -> Sequence[str]:
        """Ways to name what is not one's own."""
        return (
            *self.codes[:3], self.codes[0].lower(), f"{self.codes[0]}:_preamble", *self.ids[:2],
            *self.numbers[:2], *self.paths, f"docs/../{self.paths[0]}", WORDS["title"],
            WORDS["session"], WORDS["saved"], "zeus",
        )  # fmt: skip


def alone(folder: Path) -> Path:
    """Apollo's base."""
    folder.mkdir(parents=True)
    with knowbase.create(str(folder)) as base:
        base.sessions.start("s-ap", "apollo")
        for number, text in enumerate(TEXTS, start=1):
            base.remember(_note(number, text, "AP", "apollo", "s-ap"))
        base.relate("AP-2", "AP-1")
        base.saved.add("engines", "engine")
    return folder


def beside(apollo: Path, folder: Path) -> Foreign:
    """The same base, with zeus's documents in it too."""
    shutil.copytree(apollo, folder)
    page = folder / "docs" / f"{WORDS['path']}.md"
    page.parent.mkdir()
    page.write_text(
        f"---\nproject: zeus\ntags: [{WORDS['tag']}]\n---\n# {WORDS['title']}\n\nAn engine.\n\n"
        f"## {WORDS['heading']}\n\nThe rocket engine, {WORDS['text']}, see AP-1 and [[AP-2]].\n"
    )
    with knowbase.open(str(folder)) as base:
        base.sessions.start(WORDS["session"], "zeus")
        for number, text in enumerate(TEXTS, start=1):
            told = f"{text} Our {WORDS['text']} engine does so too, see AP-1."
            base.remember(_note(number, told, CODE, "zeus", WORDS["session"]))
        base.relate(f"{CODE}-2", "AP-1")
        base.lifecycle.supersede(f"{CODE}-4", "AP-4")
        base.lifecycle.forget([f"{CODE}-5"])
        base.sessions.end(WORDS["session"], f"We hid the {WORDS['summary']}")
        base.saved.add(WORDS["saved"], f"engine {WORDS['text']}")
        base.add([str(page.parent)])
        return foreign(base)


def use_up_numbers(apollo: Path, number: int) -> None:
    """Let the next document have the number that it has beside the others: numbers are counted
    for a whole base, and every answer would differ by them."""
    with knowbase.open(str(apollo)) as base:
        for one in range(number):
            base.note(Note(f"gone {one}", code=f"GONE-{one}"))
        base.remove([f"GONE-{one}" for one in range(number)])


def codes_of_new(folder: Path) -> list[str]:
    """The codes that a new note gets, without others and beside them."""
    apollo = alone(folder / "alone")
    beside(apollo, folder / "beside")
    codes = []
    for home in (apollo, folder / "beside"):
        with knowbase.open(str(home)) as base:
            codes.append(base.within(Access(project="apollo")).note(Note("A new note")).code)
    return codes


def foreign(base: Base) -> Foreign:
    found = [one for one in base.documents(include=("superseded",)).documents
             if one.project == "zeus"]  # fmt: skip
    return Foreign(
        tuple(one.code for one in found),
        tuple(one.id for one in found),
        tuple(str(one.seq) for one in found),
        tuple(one.path for one in found if one.path),
    )


def _note(number: int, text: str, code: str, project: str, session: str) -> Note:
    own = project == "zeus"
    return Note(
        text,
        code=f"{code}-{number}",
        title=f"{WORDS['title'] if own else 'About'} {number}",
        project=project,
        session=session,
        tags=("engine", *((WORDS["tag"],) if own else ())),
        roles=(WORDS["role"],) if own else ("qa",),
        type="lesson" if number == 3 else "decision",
        parent=f"{code}-1" if number in (2, 3) else None,
    )
