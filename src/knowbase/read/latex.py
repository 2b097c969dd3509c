"""LaTeX: headings and text; formulas stay as they are written."""

import re

from knowbase.read.about import moment, stated
from knowbase.read.blocks import Paragraphs, reading_of
from knowbase.read.file import File
from knowbase.read.links import document_link
from knowbase.values.reading import Link, Reading

_LEVELS = {"part": 1, "chapter": 2, "section": 3, "subsection": 4, "subsubsection": 5,
           "paragraph": 6, "frametitle": 4}  # fmt: skip
_COMMENT = re.compile(r"(?<!\\)((?:\\\\)*)%.*")
_HEADING = re.compile(r"\\(" + "|".join(_LEVELS) + r")\*?\s*(?:\[[^\]]*\])?\s*\{")
_ABOUT = re.compile(r"\\(title|author|date|keywords)\s*(?:\[[^\]]*\])?\s*\{")
_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([\w*]+)\}(?:\s*\[[^\]\n]*\])?")
_TARGET = re.compile(r"\\hypertarget\s*\{[^{}]*\}\s*\{|\\def\\\w+.*")
_TABULAR = re.compile(
    r"\\begin\s*\{(?:tabular[x*]?|longtable|array|tabulary)\}(?:\s*\[[^\]\n]*\])?\s*\{"
)
_INPUT = re.compile(r"\\(?:input|include|subfile)\s*\{([^{}]+)\}")
_KEPT = re.compile(r"\\(?:cite\w*|parencite|textcite)\*?(?:\[[^\]]*\])*\s*\{([^{}]*)\}")
_DROPPED = re.compile(
    r"\\(?:label|ref|eqref|autoref|[cC]ref|pageref|nocite|vspace|hspace|includegraphics"
    r"|bibliography|bibliographystyle|usepackage|documentclass|newcommand|renewcommand|setlength"
    r"|index\w*|thanks|pagestyle|thispagestyle|input|include|subfile|addcontentsline)\*?"
    r"(?:\[[^\]]*\])*(?:\s*\{[^{}]*\})*"
)
_HREF = re.compile(r"\\href\s*\{[^{}]*\}\s*\{([^{}]*)\}")
_FOOTNOTE = re.compile(r"\\footnote\s*\{([^{}]*)\}")
_STYLED = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*? ?")
_MATH = re.compile(r"\$\$.+?\$\$|\$[^$\n]+\$|\\\(.+?\\\)|\\\[.+?\\\]", re.DOTALL)
_ACCENT = re.compile(r"\\([\"'`^~=.]|[cvuHrk](?=\s*\{|\s))\s*(?:\{\\?([a-zA-Z])\}|\\?([a-zA-Z]))")
_ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303",
            "=": "\u0304", ".": "\u0307", "c": "\u0327", "v": "\u030c", "u": "\u0306",
            "H": "\u030b", "r": "\u030a", "k": "\u0328"}  # fmt: skip
_LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł",
            "L": "Ł", "aa": "å", "AA": "Å", "i": "i", "j": "j", "dots": "…", "ldots": "…",
            "LaTeX": "LaTeX", "TeX": "TeX", "textendash": "–", "textemdash": "—"}  # fmt: skip
_LETTER = re.compile(
    r"\\(" + "|".join(sorted(_LETTERS, key=len, reverse=True)) + r")(?![a-zA-Z])(?:\{\}| )?"
)
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MARKUP = re.compile(r"[\\{}$~&]|--|``|''")
_SIGNS = re.compile(r"\\([&%$#_{}])")
_PLACE = "\ue000"
_RUNS = 12  # how deep braces lie in braces


def read_latex(file: File) -> Reading:
    """A LaTeX file."""
    source = "\n".join(_COMMENT.sub(r"\1", line) for line in file.text.split("\n"))
    source = _without_columns(_TARGET.sub("", source))
    links = [document_link(name) for name in _INPUT.findall(source)]
    said = _about(source)
    paragraphs = Paragraphs()
    _body(source, paragraphs)
    fields = stated(
        {"author": said.get("author"), "date": said.get("date")},
        said.get("keywords", ""),
        moment(said.get("date")),
    )
    reading = reading_of("text", paragraphs.blocks, said.get("title"), file.stem)
    kept: tuple[Link, ...] = tuple(dict.fromkeys(link for link in links if link))
    return reading._replace(stated=fields, links=kept)


def _about(source: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for match in _ABOUT.finditer(source):
        inside, _ = braced(source, match.end())
        text = " ".join(shown(inside.replace("\\and", ", ").replace("\\\\", " ")).split())
        found.setdefault(match[1], text)
    return found


def _without_columns(source: str) -> str:
    """How the columns of a table are to look is no text."""
    parts, at = [], 0
    for match in _TABULAR.finditer(source):
        if match.start() >= at:
            parts.append(source[at : match.start()])
            at = braced(source, match.end())[1]
    return "".join((*parts, source[at:]))


def braced(source: str, start: int) -> tuple[str, int]:
    """What stands up to the brace that closes the one before `start`, and where that ends."""
    depth = 1
    for match in _BRACE.finditer(source, start):
        depth += (match[0] == "{") - (match[0] == "}")
        if not depth:
            return source[start : match.start()], match.end()
    return source[start:], len(source)


def _body(source: str, paragraphs: Paragraphs) -> None:
    _, begin, body = source.rpartition("\\begin{document}")
    before = source[: len(source) - len(body)] if begin else ""
    body = body.partition("\\end{document}")[0]
    line = before.count("\n") + 1
    at = 0
    for match in _HEADING.finditer(body):
        if match.start() < at:
            continue
        _paragraph_lines(body[at : match.start()], line, paragraphs)
        line += body.count("\n", at, match.start())
        heading, end = braced(body, match.end())
        paragraphs.heading(shown(heading), _LEVELS[match[1]], line)
        line, at = line + body.count("\n", match.start(), end), end
    _paragraph_lines(body[at:], line, paragraphs)
    paragraphs.end()


def _paragraph_lines(text: str, line: int, paragraphs: Paragraphs) -> None:
    for number, one in enumerate(shown(text).split("\n"), line):
        paragraphs.add(one, number)


def shown(text: str) -> str:
    """What a person reads of it; as many lines as before."""
    if not _MARKUP.search(text):
        return text
    formulas: list[str] = []

    def keep(match: re.Match[str]) -> str:
        formulas.append(match[0])
        return f"{_PLACE}{len(formulas) - 1}{_PLACE}"

    text = _MATH.sub(keep, text)
    text = _ENVIRONMENT.sub(
        lambda m: "Abstract." if m[2] == "abstract" and m[1] == "begin" else "", text
    )
    text = _SIGNS.sub(lambda match: chr(0xE100 + ord(match[1])), text).replace("&", "|")
    text = re.sub(r"\\\\(?:\[[^\]]*\])?|~|\\ ", " ", _ACCENT.sub(_accented, text))
    text = _LETTER.sub(lambda match: _LETTERS[match[1]], text)
    text = re.sub(r"\\item\b\s?(?:\[([^\]]*)\])?", lambda m: f"- {m[1] or ''}", text)
    for pattern, instead in (
        (_KEPT, r"[\1]"), (_DROPPED, ""), (_HREF, r"\1"), (_FOOTNOTE, r" (\1)"),
    ):  # fmt: skip
        text = pattern.sub(instead, text)
    for _ in range(_RUNS):
        text, changes = _STYLED.subn(r"\1", text)
        if not changes:
            break
    text = _COMMAND.sub("", text)
    text = text.replace("{", "").replace("}", "").replace("---", "—").replace("``", "“")
    text = text.replace("''", "”").replace("--", "–")
    text = re.sub(r"[\ue100-\ue1ff]", lambda match: chr(ord(match[0]) - 0xE100), text)
    return re.sub(f"{_PLACE}(\\d+){_PLACE}", lambda match: formulas[int(match[1])], text)


def _accented(match: re.Match[str]) -> str:
    import unicodedata

    letter = match[2] or match[3]
    return unicodedata.normalize("NFC", letter + _ACCENTS[match[1]])
