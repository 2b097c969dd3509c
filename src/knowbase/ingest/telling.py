"""What is said of files besides that they are in: once for all that are alike."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath
from typing import NamedTuple

from knowbase.ingest.noise import noise_by_name
from knowbase.query.conditions import EVERYTHING, OneOf
from knowbase.read.scanned import INSTALL, Scanner
from knowbase.store.contract import DocumentStore
from knowbase.values.files import FileRecord
from knowbase.values.reading import Reading

MOST_ALIKE = 3  # warnings that are the same and each said
LEAST_CHUNKS = 2_000  # in a smaller base of few documents, every file is a large part of it
MANY_CHUNKS, MANY_DOCUMENTS = 20_000, 100
HEAVY, HEAVY_AMONG_FEW = 0.05, 0.5  # of many, and of fewer: a long manual may be half of it
LARGE = 1_000  # chunks of a file that is weighed however little came in with it …
SMALL = 20  # … and of one that never is
MOST_HEAVY = 10
MOST_NAMED = 500  # documents that are asked for by name


class Unread(NamedTuple):
    """Files of one extension that were left out for one reason."""

    reason: str
    extension: str
    files: int
    example: str


class Suspect(NamedTuple):
    """A file that was read, and perhaps should not have been."""

    path: str
    reason: str
    large: bool = False  # it only makes much of the base: perhaps it is what the base is for


def grouped(told: Sequence[tuple[str, str]]) -> list[str]:
    """A line for each warning, or for all documents that have the same one."""
    paths: dict[str, list[str]] = {}
    for path, warning in told:
        paths.setdefault(warning, []).append(path)
    lines: list[str] = []
    for warning, where in paths.items():
        if len(where) <= MOST_ALIKE:
            lines += [f"{path}: {warning}" for path in where]
        else:
            lines.append(f"{len(where)} documents: {warning} (such as {where[0]})")
    return lines


class Pictures:
    """What a run finds that would have to be looked at, where nothing does."""

    def __init__(self, scanner: Scanner) -> None:
        self._scanner = scanner
        self._readings: list[Reading] = []  # images and PDFs
        self._within: list[int] = []  # pictures in the text of each file that has some

    def note(self, reading: Reading, *, alone: bool) -> None:
        """A file was read; of one that was named `alone`, its own reason is said."""
        if reading.scans and not alone:
            self._readings.append(reading)
        if reading.pictures:
            self._within.append(reading.pictures)

    def why(self, reading: Reading, *, alone: bool) -> str:
        """Why nothing is known of a picture, or of a PDF of nothing else."""
        kind = "an image" if reading.type == "image" else "a scanned PDF"
        return f"{kind}: {self._scanner.missing if alone else self._scanner.needed}"

    def told(self) -> list[str]:
        """What they would have to be looked at with."""
        if not self._scanner.is_wanted:
            return []
        images = sum(one.type == "image" for one in self._readings)
        pages = sum(len(one.scans) for one in self._readings if one.type != "image")
        counts = ((images, "image"), (pages, "scanned PDF page"))
        told = [_number(number, noun) for number, noun in counts if number]
        lines = [f"{', '.join(told)}: {INSTALL}"] if told else []
        if self._within:
            pictures = _number(sum(self._within), "picture")
            files = _number(len(self._within), "office file or book")
            lines.append(f"{pictures} in the text of {files}: words in them are not read")
        return lines


def _number(number: int, noun: str) -> str:
    words = noun if number == 1 else " or ".join(f"{word}s" for word in noun.split(" or "))
    return f"{number} {words}"


def unread(records: Iterable[FileRecord]) -> tuple[Unread, ...]:
    """What was left out, by reason and extension, the most first."""
    left = [one for one in records if one.skipped is not None]
    examples: dict[tuple[str, str], str] = {}
    numbers: Counter[tuple[str, str]] = Counter()
    for record in sorted(left):
        key = (record.skipped or "", PurePath(record.path).suffix.lower())
        examples.setdefault(key, record.path)
        numbers[key] += 1
    found = [Unread(*key, number, examples[key]) for key, number in numbers.items()]
    return tuple(sorted(found, key=lambda one: (-one.files, one.reason, one.extension)))


def heavy(store: DocumentStore, among: Collection[str] | None = None) -> dict[str, str]:
    """Documents that make a large part of the base, of all or of these, by id, and how much that
    is."""
    few = among is not None and len(among) <= MOST_NAMED
    found = store.heaviest(OneOf("id", tuple(among or ())) if few else EVERYTHING, MOST_HEAVY)
    one_by_one = among is not None and len(among) < MANY_DOCUMENTS
    if not found or found[0][1] < (LARGE if one_by_one else SMALL):  # counting takes its time
        return {}
    counts = store.counts()
    total, is_many = counts.chunks, counts.documents >= MANY_DOCUMENTS
    if total < LEAST_CHUNKS and not is_many:
        return {}
    share = HEAVY if is_many or total >= MANY_CHUNKS else HEAVY_AMONG_FEW
    return {
        document: f"makes {number / total:.0%} of the base: {number} of {total} chunks"
        for document, number in found
        if number > total * share and number >= SMALL
    }


def suspects(records: Iterable[FileRecord], store: DocumentStore) -> tuple[Suspect, ...]:
    """What was read, and perhaps should not have been."""
    too_heavy = heavy(store)
    found = []
    for record in sorted(one for one in records if one.document is not None):
        noise, large = noise_by_name(record.path), too_heavy.get(record.document or "")
        if noise or large:
            found.append(Suspect(record.path, noise or large or "", noise is None))
    return tuple(found)
