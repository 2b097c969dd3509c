"""Having pictures and scanned pages looked at, one page after the other, each within its limits."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from knowbase.errors import ReadError
from knowbase.values.reading import Reading, Section

if TYPE_CHECKING:
    from knowbase.process.child import Children

JOB = "knowbase.read.ocr:scan_for_parent"
PACKAGE = "rapidocr"
EXTRA = "knowbase[ocr]"
INSTALL = f"pip install '{EXTRA}'"
OFF = "read.ocr is off"
MEMORY_MB = 4096  # of addresses: the engine asks for 1.6 GB, of which it uses half
AT_ONCE = 2
SETTINGS = {"overstayed": "read.ocr_timeout", "overgrown": "read.memory_mb"}
IN_A_ROW = 3  # pages that fail: the others would, too

Told = Callable[[int, int], None]  # the page that is looked at, and how many there are


@cache
def is_installed() -> bool:
    from importlib.util import find_spec

    return find_spec(PACKAGE) is not None


class Scanner(NamedTuple):
    """What looks at pages, and how long it may."""

    mode: str = "off"  # or "auto": when its package is there
    seconds: float = 120.0  # a page
    most: int = 200  # pages of a file
    memory_mb: int = MEMORY_MB

    @property
    def is_wanted(self) -> bool:
        return self.mode != "off"

    @property
    def is_on(self) -> bool:
        """Whether pages are looked at."""
        return self.is_wanted and is_installed()

    @property
    def missing(self) -> str:
        """What it needs, when it is not on."""
        return INSTALL if self.is_wanted else OFF

    @property
    def needed(self) -> str:
        """The same, where more is said elsewhere."""
        return f"{EXTRA} reads it" if self.is_wanted else OFF

    def scan(self, reading: Reading, data: bytes, tell: Told) -> Reading:
        """The same with the text of its pictures, as far as there is some; what cannot be looked
        at is said, and fails when it is all there is."""
        pages, warnings = reading.scans[: self.most], list(reading.warnings)
        if len(reading.scans) > self.most:
            number = len(reading.scans)
            warnings.append(f"only {self.most} of {number} scanned pages are read; read.ocr_pages")
        texts, failed = self._texts(reading.type, pages, data, tell)
        if failed and not texts and not reading.sections:
            raise ReadError(next(iter(failed.values())))
        warnings += [f"page {page}: {reason}" for page, reason in failed.items()]
        unseen = len(pages) - len(texts) - len(failed)
        if unseen:
            warnings.append(f"{unseen} more scanned pages are not read, since these failed")
        return reading._replace(sections=_with(reading, texts), warnings=tuple(warnings), scans=())

    def rest(self) -> None:
        """What is needed for pages takes much memory: it is kept no longer than there are some."""
        if self.is_on:
            self._children().close_idle()

    def _texts(
        self, kind: str, pages: Sequence[int], data: bytes, tell: Told
    ) -> tuple[dict[int, str], dict[int, str]]:
        """Page by page: what it says, and of those that failed why."""
        from knowbase.process.child import ChildFailed

        texts: dict[int, str] = {}
        failed: dict[int, str] = {}
        in_a_row = 0
        for number, page in enumerate(pages, 1):
            tell(number, len(pages))
            try:
                texts[page] = self._children().call({"type": kind, "page": page}, data)
                in_a_row = 0
            except ChildFailed as error:
                setting = SETTINGS.get(error.why)
                hint = f"; raise {setting}, then kb sync --verify" if setting else ""
                failed[page] = f"reading it {error.told}{hint}"
                in_a_row += 1
            except ReadError as error:
                failed[page] = error.message
                in_a_row += 1
            if in_a_row == IN_A_ROW:
                break
        return texts, failed

    def _children(self) -> "Children":
        from knowbase.process.child import Limits, children
        from knowbase.read.ocr import threads

        return children(JOB, Limits(self.seconds, self.memory_mb, AT_ONCE, threads=threads()))


def _with(reading: Reading, texts: dict[int, str]) -> tuple[Section, ...]:
    """A section for each page that says something, in its place."""
    if reading.type == "image" and reading.scans == (1,):
        text = texts.get(1, "")
        return (Section("_preamble", None, "", text, 1),) if text else ()
    scanned = [
        Section(f"page-{page}", f"Page {page}", "", text, 1, page)
        for page, text in texts.items()
        if text
    ]
    # Of a page that was looked at, a stamp or a number is all that was there before.
    kept = [one for one in reading.sections if not texts.get(one.page or 0)]
    return tuple(sorted([*kept, *scanned], key=lambda one: one.page or 0))
