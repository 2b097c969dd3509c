"""The commands that are killed: what is there before each, what it must leave behind whenever it
is killed, and how it ends when it is repeated."""

import json
import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

import apsw

import knowbase
import postgres
from campaign.part import child
from campaign.soundness import assert_sound
from conftest import COMMAND, Kb
from knowbase import Base, Note
from knowbase.query.conditions import EVERYTHING
from knowbase.store.location import is_url
from knowbase.store.sqlite.schema import APPLICATION_ID, STEPS
from knowbase.values.documents import ALL
from linked import FarApart

PAGES = 40
NOTES = 5
OLD = 2  # the schema of the base that is upgraded: before the graph
OLD_DOCUMENTS = 1_500


def page(number: int, words: str) -> str:
    return f"# Page {number}\n\nThe {words} of page {number}, see [[Page {number + 1}]].\n"


def write_pages(kb: Kb, words: str, numbers: Sequence[int] = range(PAGES)) -> None:
    for number in numbers:
        kb.write(f"docs/{number:03}.md", page(number, words))


def write_notes(base: Base) -> None:
    for number in range(NOTES):
        base.note(Note(f"Note {number}, acknowledged", code=f"NOTE-{number}"))


class Scene(ABC):
    """One command. A scene is prepared once; each kill works on a copy of its folder."""

    name: str
    engine = "sqlite"

    def __init__(self) -> None:
        self.place = ""  # the base of the copy at hand: a path or a URL

    def make(self, kb: Kb) -> None:
        """Fill the folder that is copied for each kill: a base with notes."""
        with knowbase.create(str(kb.folder)) as base:
            write_notes(base)

    def prepare(self, kb: Kb, chance: random.Random) -> None:
        """Change a copy before the command runs."""
        self.place = str(kb.base)

    @abstractmethod
    def words(self) -> Sequence[str]:
        """The command."""

    def command(self, kb: Kb) -> Sequence[str]:
        return (*COMMAND, *self.words())

    def check_killed(self, kb: Kb, printed: str) -> None:
        """What holds after the kill: the base is sound, what was acknowledged is there."""
        self.check_base()

    def repeat(self, kb: Kb) -> None:
        kb(*self.words(), "--quiet")

    @abstractmethod
    def check_done(self, kb: Kb) -> None:
        """What holds after the command has been repeated."""

    def check_base(self) -> None:
        if not is_url(self.place):
            assert_sound(Path(self.place))
        texts = texts_of(self.place)
        for number in range(NOTES):
            assert texts.get(f"NOTE-{number}") == f"Note {number}, acknowledged", f"NOTE-{number}"


def texts_of(place: str) -> dict[str, str]:
    """The text of every document by its code."""
    with Base(place) as base:
        documents = base.store.documents(EVERYTHING, ALL)
        return {one.code: base.get(one.id).text.strip() for one in documents}


def pages_of(place: str) -> dict[str, str]:
    """The text of every page by its path."""
    with Base(place) as base:
        documents = base.store.documents(EVERYTHING, ALL)
        return {one.path: base.get(one.id).text for one in documents if one.path}


def pages_on_disk(kb: Kb) -> dict[str, str]:
    return {f"docs/{one.name}": one.read_text() for one in (kb.folder / "docs").glob("*.md")}


class Add(Scene):
    name = "add"
    options: tuple[str, ...] = ()

    def make(self, kb: Kb) -> None:
        super().make(kb)
        write_pages(kb, "words")

    def words(self) -> Sequence[str]:
        return ("add", "docs", *self.options)

    def check_killed(self, kb: Kb, printed: str) -> None:
        super().check_killed(kb, printed)
        on_disk = pages_on_disk(kb)
        stored = pages_of(self.place)
        assert stored.items() <= on_disk.items(), "a page is stored that is not as on the disk"

    def check_done(self, kb: Kb) -> None:
        self.check_base()
        assert pages_of(self.place) == pages_on_disk(kb)


class AddLater(Add):
    name = "add --defer"
    options = ("--defer",)


class AddToPostgres(Add):
    name = "add (PostgreSQL)"
    engine = "postgres"

    def make(self, kb: Kb) -> None:
        write_pages(kb, "words")

    def prepare(self, kb: Kb, chance: random.Random) -> None:
        self.place = postgres.new_base()
        with knowbase.create(self.place) as base:
            write_notes(base)

    def words(self) -> Sequence[str]:
        return ("add", "docs", "--base", self.place)

    def check_killed(self, kb: Kb, printed: str) -> None:
        self.check_base()

    def check_done(self, kb: Kb) -> None:
        self.check_base()
        found = {text for code, text in texts_of(self.place).items() if "NOTE" not in code}
        assert found == {text.strip() for text in pages_on_disk(kb).values()}


class Sync(Scene):
    name = "sync"

    def make(self, kb: Kb) -> None:
        super().make(kb)
        write_pages(kb, "words")
        kb("add", "docs")

    def prepare(self, kb: Kb, chance: random.Random) -> None:
        super().prepare(kb, chance)
        changed = chance.sample(range(PAGES), PAGES // 2)
        write_pages(kb, "changed words", changed)
        write_pages(kb, "new words", range(PAGES, PAGES + 10))
        for number in set(range(PAGES)) - set(changed):
            (kb.folder / f"docs/{number:03}.md").unlink()
        self.before = pages_of(self.place)

    def words(self) -> Sequence[str]:
        return ("sync", "--prune")

    def check_killed(self, kb: Kb, printed: str) -> None:
        super().check_killed(kb, printed)
        on_disk = pages_on_disk(kb)
        for path, text in pages_of(self.place).items():
            assert text in (self.before.get(path), on_disk.get(path)), path

    def check_done(self, kb: Kb) -> None:
        self.check_base()
        assert pages_of(self.place) == pages_on_disk(kb)


class Embed(Scene):
    name = "embed"

    def make(self, kb: Kb) -> None:
        super().make(kb)
        write_pages(kb, "words")
        kb("add", "docs", "--defer")

    def words(self) -> Sequence[str]:
        return ("embed",)

    def check_done(self, kb: Kb) -> None:
        self.check_base()
        counts = kb.json("status")
        assert counts["chunks"] == counts["embedded"] == PAGES + NOTES


class Move(Embed):
    name = "move"
    target = "copy.db"

    def make(self, kb: Kb) -> None:
        super().make(kb)
        kb("embed")

    def words(self) -> Sequence[str]:
        return ("move", self.place, self.target)

    def check_done(self, kb: Kb) -> None:
        super().check_done(kb)
        target = self.target if is_url(self.target) else str(kb.folder / self.target)
        assert texts_of(target) == texts_of(self.place)


class MoveToPostgres(Move):
    name = "move (to PostgreSQL)"
    engine = "postgres"

    def prepare(self, kb: Kb, chance: random.Random) -> None:
        super().prepare(kb, chance)
        self.target = postgres.new_base()


class WriteNote(Scene):
    name = "note"

    def words(self) -> Sequence[str]:
        return ("note", "A note that may be killed", "--code", "LAST-1")

    def check_killed(self, kb: Kb, printed: str) -> None:
        super().check_killed(kb, printed)
        assert "LAST-1" not in printed or "LAST-1" in texts_of(self.place)

    def repeat(self, kb: Kb) -> None:
        if "LAST-1" not in texts_of(self.place):
            super().repeat(kb)

    def check_done(self, kb: Kb) -> None:
        self.check_base()
        assert texts_of(self.place)["LAST-1"] == "A note that may be killed"


class ManyNotes(Scene):
    """One process that writes note after note: whatever it said is written stays."""

    name = "notes, one after the other"

    def make(self, kb: Kb) -> None:
        with Base(knowbase.create(str(kb.folder)).path, embedder=FarApart()) as base:
            write_notes(base)

    def words(self) -> Sequence[str]:
        return ()

    def command(self, kb: Kb) -> Sequence[str]:
        return child("writing", "notes", self.place, 7, 60, 60)

    def check_killed(self, kb: Kb, printed: str) -> None:
        super().check_killed(kb, printed)
        acknowledged = [line for line in printed.splitlines() if line.startswith("N7-")]
        texts = texts_of(self.place)
        assert set(acknowledged) <= set(texts), "acknowledged notes are lost"

    def repeat(self, kb: Kb) -> None:
        with Base(self.place, embedder=FarApart()) as base:
            base.note(Note("And one more", code="LAST-1"))

    def check_done(self, kb: Kb) -> None:
        self.check_base()
        assert "LAST-1" in texts_of(self.place)


class ManyNotesInPostgres(ManyNotes):
    name = "notes (PostgreSQL)"
    engine = "postgres"

    def make(self, kb: Kb) -> None:
        kb.folder.mkdir(exist_ok=True)

    def prepare(self, kb: Kb, chance: random.Random) -> None:
        self.place = postgres.new_base()
        with Base(knowbase.create(self.place).path, embedder=FarApart()) as base:
            write_notes(base)


class Backup(Move):
    name = "backup"

    def words(self) -> Sequence[str]:
        return ("backup", self.target)

    def check_killed(self, kb: Kb, printed: str) -> None:
        super().check_killed(kb, printed)
        if (kb.folder / self.target).exists():  # then it is whole
            assert texts_of(str(kb.folder / self.target)) == texts_of(self.place)


class Restore(Backup):
    """A backup takes the place of a base that went on after it."""

    name = "restore"

    def make(self, kb: Kb) -> None:
        super().make(kb)
        kb("backup", self.target)
        kb("note", "Written after the backup", "--code", "LATER-1")

    def words(self) -> Sequence[str]:
        return ("backup", "restore", self.target, "--yes")

    def check_killed(self, kb: Kb, printed: str) -> None:
        self.check_base()


class Upgrade(Scene):
    name = "upgrade"

    def make(self, kb: Kb) -> None:
        kb.folder.mkdir(exist_ok=True)
        kb.base.parent.mkdir()
        old = apsw.Connection(str(kb.base))
        old.execute("PRAGMA journal_mode = WAL").fetchall()
        old.execute(f"PRAGMA application_id = {APPLICATION_ID:d}")
        with old:
            for step in STEPS[:2]:
                old.execute(step)
            old.executemany(
                "INSERT INTO documents (id, code, title, type, created_at, updated_at, roles,"
                " archived, scope, salience, metadata) VALUES ('id' || ?1, 'OLD-' || ?1, 'Old',"
                " 'note', '2026', '2026', '[]', 0, 'global', 0.5, '{}')",
                [(number,) for number in range(OLD_DOCUMENTS)],
            )
            old.executemany(
                "INSERT INTO chunks (document, position, slug, chunk_index, hash, line, tokens,"
                " overlap, title, header, text, terms) VALUES (?1, 1, '_preamble', 1, 'h' || ?1,"
                " 1, 1, 0, 'Old', '', 'Old text ' || ?1 || ' see OLD-7', '')",
                [(number + 1,) for number in range(OLD_DOCUMENTS)],
            )
            old.execute(f"PRAGMA user_version = {OLD:d}")
        old.close()

    def words(self) -> Sequence[str]:
        return ("status",)

    def check_base(self) -> None:
        with apsw.Connection(self.place) as connection:
            assert connection.execute("PRAGMA integrity_check").get == "ok"
            assert connection.execute("SELECT count(*) FROM documents").get == OLD_DOCUMENTS
            assert connection.pragma("user_version") in (OLD, len(STEPS))
        connection.close()

    def check_done(self, kb: Kb) -> None:
        assert_sound(kb.base)
        texts = texts_of(self.place)
        assert texts == {f"OLD-{n}": f"Old text {n + 1} see OLD-7" for n in range(OLD_DOCUMENTS)}
        assert json.loads(kb("status", "--json").out)["documents"] == OLD_DOCUMENTS


SCENES: tuple[tuple[type[Scene], int], ...] = (
    (Add, 3), (AddLater, 3), (Sync, 3), (Embed, 3), (Move, 2), (WriteNote, 3), (ManyNotes, 4),
    (Backup, 3), (Restore, 3), (Upgrade, 2), (AddToPostgres, 1), (MoveToPostgres, 1),
    (ManyNotesInPostgres, 1),
)  # fmt: skip
"""Every scene, and how often it comes up."""
