"""Part 6: what a base is written with fails at every n-th operation: the disk is full, gives I/O
errors, or there is no memory. Each gives an error that is meant, the base stays sound, nothing
that was acknowledged is lost, and the next try succeeds."""

import random
import resource
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw

import knowbase
from campaign import failing
from campaign.part import Budget, Outcome, complaint, on_all_cores
from campaign.soundness import assert_sound
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.errors import KnowbaseError, NotFound
from linked import FarApart

MOST = 2_000  # operations of a command: more, and it is not counted right
HEAP_STEP = 4_096  # bytes of memory that are granted more each time
MOST_HEAP = 4 << 20
ADDRESS_SPACES = 60  # limits of a whole process
LEAST_SPACE, MOST_SPACE = 40 << 20, 900 << 20


class Deed(NamedTuple):
    """Something that writes, and whether its effect is there."""

    name: str
    do: Callable[[Base], object]
    done: Callable[[Base], bool]


def has(reference: str) -> Callable[[Base], bool]:
    def found(base: Base) -> bool:
        try:
            return bool(base.get(reference))
        except NotFound:
            return False

    return found


DEEDS = (
    Deed("note", lambda base: base.note(Note("A new note", code="NEW-1")), has("NEW-1")),
    Deed(
        "long note",
        lambda base: base.note(Note("# A\n\n" + "many words of it " * 4_000, code="NEW-2")),
        has("NEW-2"),
    ),
    Deed(
        "change",
        lambda base: base.note(Note("Changed", replaces="KEPT-1")),
        lambda base: base.get("KEPT-1").text.strip() == "Changed",
    ),
    Deed(
        "archive",
        lambda base: base.lifecycle.archive(["KEPT-2"]),
        lambda base: base.get("KEPT-2").document.archived,
    ),
    Deed(
        "session",
        lambda base: base.sessions.start("new"),
        lambda base: any(one.id == "new" for one in base.sessions.recent().sessions),
    ),
    Deed(
        "saved search",
        lambda base: base.saved.add("new", "words", replace=True),
        lambda base: any(one.name == "new" for one in base.saved.all().saved),
    ),
    Deed("remove", lambda base: base.remove(["KEPT-3"]), lambda base: not has("KEPT-3")(base)),
    Deed(
        "add",
        lambda base: base.add([f"{base.home}/docs"]),
        lambda base: has("docs/2.md")(base) and has("docs/3.md")(base),
    ),
    Deed("search", lambda base: base.search(SearchRequest("kept words")), lambda _: True),
)
UNTOUCHED = "KEPT-0"


def template(folder: Path) -> Path:
    """A base with some notes, and files to be added."""
    whole = folder / "template"
    (whole / "docs").mkdir(parents=True)
    for number in range(4):
        (whole / "docs" / f"{number}.md").write_text(f"# Page {number}\n\nIts words.\n")
    with Base(knowbase.create(str(whole)).path, embedder=FarApart()) as base:
        for number in range(5):
            base.note(Note(f"Kept words {number}", code=f"KEPT-{number}"))
    return whole


@contextmanager
def opened(whole: Path) -> Iterator[Base]:
    """A copy of the base, opened on the file system that fails."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "copy"
        shutil.copytree(whole, copy)
        with Base(str(copy / ".kb" / "base.db"), embedder=FarApart()) as base:
            base.home = str(copy)
            base.search(SearchRequest("kept"))  # all connections are open, all modules loaded
            yield base


def failed(deed: Deed, base: Base) -> bool:
    """Do it while something fails; whether it said so. Any other error than ours goes on."""
    try:
        result = deed.do(base)
    except KnowbaseError:
        return True
    return bool(getattr(result, "failed", ()))  # of files, one by one


def check_after(deed: Deed, base: Base, said: bool) -> None:
    """Nothing fails any more: what holds now."""
    assert_sound(Path(base.path))
    assert base.get(UNTOUCHED).text.strip() == "Kept words 0", "what was there is lost"
    assert said or deed.done(base), "it was acknowledged, and is not there"
    if not deed.done(base):
        deed.do(base)
    assert deed.done(base), "the next try did nothing"
    assert_sound(Path(base.path))


class Trial(NamedTuple):
    """One way to fail."""

    deed: Deed
    error: str
    lasting: bool

    def __str__(self) -> str:
        return f"{self.deed.name}, {self.error}{', lasting' * self.lasting}"

    def at(self, number: int, whole: Path) -> bool:
        """Let the operation of this number fail; False when there are not as many."""
        with opened(whole) as base:
            failing.FAULT.arm(number, self.error, lasting=self.lasting)
            try:
                said = failed(self.deed, base)
            finally:
                failing.FAULT.disarm()
            if failing.FAULT.fired:
                check_after(self.deed, base, said)
            return failing.FAULT.fired


def without_memory(deed: Deed, more: int, whole: Path) -> bool:
    """Let SQLite have only so much more memory; False when that was enough."""
    with opened(whole) as base:
        apsw.hard_heap_limit(apsw.memory_used() + more)
        try:
            said = failed(deed, base)
        finally:
            apsw.hard_heap_limit(0)
        check_after(deed, base, said)
        return said


def fail_files(budget: Budget, seed: int, whole: Path) -> Outcome:
    """Every n-th operation on files; in a smaller campaign, every few."""
    chance, ends, done, wrong = random.Random(seed), budget.ends(), 0, []
    step = max(1, round(1 / (budget.share * budget.workers)))
    trials = [Trial(deed, error, lasting) for deed in DEEDS for error in failing.ERRORS
              for lasting in (False, True)]  # fmt: skip
    for trial in trials[budget.worker :: budget.workers]:
        number, fired = 1 + chance.randrange(step), True
        while fired and number < MOST and time.monotonic() < ends:
            try:
                fired = trial.at(number, whole)
            except Exception as error:
                wrong.append(complaint(f"{trial}, operation {number}", error))
            number, done = number + step, done + fired
    return Outcome({"failing operations on files": done}, wrong=tuple(wrong))


def fail_memory(budget: Budget, seed: int, whole: Path) -> Outcome:
    chance, ends, done, wrong = random.Random(seed), budget.ends(), 0, []
    step = max(HEAP_STEP, round(HEAP_STEP / (budget.share * budget.workers)))
    for deed in DEEDS[budget.worker :: budget.workers]:
        more, short = chance.randrange(step), True
        while short and more < MOST_HEAP and time.monotonic() < ends:
            try:
                short = without_memory(deed, more, whole)
            except Exception as error:
                wrong.append(complaint(f"{deed.name} with {more} bytes", error))
            more, done = more + step, done + short
    return Outcome({"times without memory in SQLite": done}, wrong=tuple(wrong))


def fail_processes(budget: Budget, seed: int, whole: Path) -> Outcome:
    """A whole command in an address space that is too small for it."""
    chance, ends, done, wrong = random.Random(seed), budget.ends(), 0, []
    with tempfile.TemporaryDirectory() as name:
        kb = Kb(Path(name) / "copy")
        shutil.copytree(whole, kb.folder)
        while done < budget.of(ADDRESS_SPACES) and time.monotonic() < ends:
            space = chance.randrange(LEAST_SPACE, MOST_SPACE)
            try:
                run_within(space, kb, f"small-{done}")
            except Exception as error:
                wrong.append(complaint(f"a command in {space >> 20} MB", error))
            done += 1
    return Outcome({"processes without memory": done}, wrong=tuple(wrong))


def run_within(space: int, kb: Kb, session: str) -> None:
    """Read and write in this much; afterwards it works with all there is."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (space, space))

    for words in (("search", "kept words", "--fts-only"), ("session", "start", session)):
        ended = kb(*words, code=None, before=limit)
        assert ended.code >= 0, f"{words[0]} ended by signal {-ended.code}"
        assert_sound(kb.base)
    assert ended.code or session in kb("sessions").out, "it was acknowledged, and is not there"
    assert "Kept words" in kb("search", "kept words", "--fts-only").out


def work(budget: Budget, seed: int) -> Outcome:
    failing.install()
    try:
        with tempfile.TemporaryDirectory() as name:
            whole = template(Path(name))
            return (
                fail_files(budget.part(0.6), seed, whole)
                + fail_memory(budget.part(0.25), seed, whole)
                + fail_processes(budget.part(0.15), seed, whole)
            )
    finally:
        failing.uninstall()


def run(budget: Budget, seed: int) -> Outcome:
    return on_all_cores(work, budget, seed)
