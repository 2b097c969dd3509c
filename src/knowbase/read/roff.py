"""Manual pages (.1 to .9, man and mdoc): sections, and text without requests of roff."""

import re
import shlex
from collections.abc import Iterator

from knowbase.read.blocks import Paragraphs, reading_of, row
from knowbase.read.file import File
from knowbase.values.reading import Reading

_PAGE = re.compile(r"^\.(?:TH|Dt)[ \t]+(\S.*)", re.MULTILINE)
_TAB = re.compile(r"\btab *\((.)\)")
_CELL = re.compile(r"T\{\n((?:(?!T\{).)*?)\nT\}", re.DOTALL)
_HEAD = 4000  # characters: remarks on licences stand before
_REQUEST = re.compile(r"[.'][ \t]*([A-Za-z]{1,3})?(?:[ \t]+(.*))?$")
_UNSEEN = re.compile(r"\.[ \t]*(?:de1?|am|ig)\b(?:[ \t]+\S+[ \t]+(\S+))?")
_HEADINGS = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_NAMED = re.compile(r"(.+?)\s+(?:\\-|-{1,2}|–|—)\s+(.+)")
# Of a line that such a macro begins, the rest is text; after the first ones a line goes on.
_INLINE = frozenset({
    "B", "I", "R", "SM", "SB", "BI", "BR", "IB", "IR", "RB", "RI", "Ar", "Fl", "Cm", "Pa", "Xr",
    "Ql", "Em", "Sy", "Li", "Dv", "Ev", "Ns", "No",
})  # fmt: skip
_WITH_TEXT = _INLINE | {
    "TP", "IP", "TQ", "UR", "MT", "Nm", "Nd", "Op", "Dq", "Sq", "It", "Fn", "Ft", "Fa", "Va", "Ic",
    "Ad", "An", "Aq", "Pq", "Bq", "Brq", "Er", "Tn", "Ux", "Lk", "Mt", "Qq",
}  # fmt: skip
_JOINED = frozenset({"BI", "BR", "IB", "IR", "RB", "RI"})  # their words stand without blanks
_ESCAPES = re.compile(
    r'\\(?:"(?P<remark>.*)|f(?:\[[^]]*\]|\(..|.)|s[-+]?\d|\*(?:\[(?P<name>[^]]*)\]|\((?P<pair>..)|.)'
    r"|\[(?P<long>[^]]*)\]|\((?P<glyph>..)|(?P<one>.)|$)"
)
_GLYPHS = {
    "em": "—", "en": "–", "aq": "'", "dq": '"', "bu": "•", "co": "©", "lq": "“", "rq": "”",
    "oq": "‘", "cq": "’", "ti": "~", "ha": "^", "ga": "`", "rs": "\\", "mu": "×", "<=": "≤",
    ">=": "≥", "->": "→", "la": "⟨", "ra": "⟩", "hy": "-", "mi": "−", "ua": "↑", "da": "↓",
}  # fmt: skip
_SINGLE = {
    "-": "-",
    "e": "\\",
    "\\": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "'": "´",
    "`": "`",
    ".": ".",
}


def looks_like_roff(text: str) -> bool:
    """Whether a text is a manual page."""
    return _PAGE.search(text[:_HEAD]) is not None


def read_roff(file: File) -> Reading:
    """A manual page; called by its line under NAME."""
    paragraphs = Paragraphs()
    end = None  # of a macro that the page defines, or of what it leaves out
    table: list[str] | None = None
    for number, line in enumerate(file.text.split("\n"), 1):
        if end is not None:
            end = None if "".join(line.split()).startswith(end) else end
        elif match := _UNSEEN.match(line):
            end = f".{match[1] or '.'}"
        elif line.startswith(".TS"):
            table = []
        elif line.startswith(".TE") and table is not None:
            paragraphs.end()
            paragraphs.blocks += [row(cells, number) for cells in _rows(table)]
            table = None
        elif table is not None:
            table.append(line)
        else:
            _take(line, number, paragraphs)
    paragraphs.end()
    reading = reading_of("text", paragraphs.blocks, None, file.stem)
    return reading._replace(title=_name(reading) or _called(file.text) or file.name)


def _rows(lines: list[str]) -> Iterator[list[str]]:
    """What tbl(1) makes a table of: options, formats up to a dot, then rows, whose cells may go
    over lines from T{ to T}."""
    options = lines[0] if lines and lines[0].rstrip().endswith(";") else ""
    tab = _TAB.search(options)
    first = next((n for n, line in enumerate(lines, 1) if line.rstrip().endswith(".")), len(lines))
    text = _CELL.sub(lambda match: " ".join(match[1].split()), "\n".join(lines[first:]))
    for line in text.split("\n"):
        cells = [_shown(cell).strip() for cell in line.split(tab[1] if tab else "\t")]
        if not line.startswith((".", "'")) and any(cell.strip("_=") for cell in cells):
            yield cells


def _called(text: str) -> str:
    match = _PAGE.search(text[:_HEAD])
    words = _words(match[1]) if match else []
    return _shown(words[0]) if words else ""


def _take(line: str, number: int, paragraphs: Paragraphs) -> None:
    if line[:1] not in (".", "'"):
        paragraphs.add(_shown(line), number)
        return
    request = _REQUEST.match(line)
    if request is None:
        return  # something that only roff understands
    macro, rest = request[1] or "", request[2] or ""
    if macro in _HEADINGS:
        paragraphs.heading(_shown(" ".join(_words(rest))).capitalize(), _HEADINGS[macro], number)
        return
    if macro not in _INLINE:
        paragraphs.end()
    if macro in _WITH_TEXT and rest:
        words = _words(rest)
        if macro == "IP":
            words = words[:1]  # then comes how far it is indented
        if macro == "Nd":
            words = ["-", *words]
        paragraphs.add(_shown(("" if macro in _JOINED else " ").join(words)), number)


def _words(rest: str) -> list[str]:
    lexer = shlex.shlex(rest, posix=True)
    lexer.quotes, lexer.escape, lexer.commenters = '"', "", ""
    lexer.whitespace_split = True
    try:
        return list(lexer)
    except ValueError:  # a quote that does not end
        return rest.replace('"', " ").split()


def _shown(text: str) -> str:
    return _ESCAPES.sub(_glyph, text) if "\\" in text else text


def _glyph(match: re.Match[str]) -> str:
    name = match["long"] or match["glyph"] or match["name"] or match["pair"]
    if name:
        return _GLYPHS.get(name, "")
    return _SINGLE.get(match["one"] or "", "")


def _name(reading: Reading) -> str:
    """`ls - list directory contents`, as the page says it of itself."""
    section = next((one for one in reading.sections if (one.heading or "").lower() == "name"), None)
    text = " ".join((section.text if section else "").split())
    match = _NAMED.match(text)
    return f"{match[1]} - {match[2]}"[:200] if match else text[:100]
