"""Rich text (.rtf): its words, paragraphs and headings."""

import codecs
import re
from typing import Any, NamedTuple

from knowbase.errors import ReadError
from knowbase.read.about import stated
from knowbase.read.blocks import Block, reading_of, row
from knowbase.read.file import File
from knowbase.values.reading import Reading

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])"
    rb"|[\r\n]+|([^\\{}\r\n]+)"
)
_UNSEEN = frozenset({
    "fonttbl", "colortbl", "pict", "object", "themedata", "colorschememapping", "latentstyles",
    "datastore", "generator", "listtable", "listoverridetable", "rsidtbl", "xmlnstbl", "fldinst",
    "header", "footer", "headerl", "headerr", "footerl", "footerr", "headerf", "footerf",
    "filetbl", "revtbl", "operator", "company", "comment", "doccomm", "nonshppict", "bkmkstart",
    "bkmkend", "pntext", "listtext", "userprops", "template", "mmathPr", "wgrffmtfilter", "do",
    "sp", "list", "listlevel", "listname", "listoverride", "objdata",
})  # fmt: skip
_LAYOUT = ("par", "sect", "page", "cell", "row", "pard", "s", "outlinelevel", "intbl")
_CODING = ("u", "uc", "ansicpg", "deff", "f", "fcharset", "plain")
_INFO = ("title", "author", "subject", "keywords")
_MARKS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ",
    "footnote": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "-", b"-": "", b"\\": "\\", b"{": "{", b"}": "}"}
_CHARSETS = {  # of fonts; what is not here is in the encoding of the file
    77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_DEEPEST = 10_000


class _State(NamedTuple):
    """What holds until the group ends."""

    unseen: bool = False
    target: str = ""  # where its text goes: nothing, "stylesheet", or a name of _INFO
    skip: int = 1  # how many characters stand for one of Unicode, for older programs
    font: int | None = None
    in_fonts: bool = False  # where the fonts are named


def read_rtf(file: File) -> Reading:
    """A rich text."""
    if not file.data.lstrip().startswith(b"{\\rtf"):
        raise ReadError("The rich text is damaged or something else, and cannot be read.")
    text = _Text()
    text.take(file.data)
    about = {"author": text.info.get("author"), "subject": text.info.get("subject")}
    reading = reading_of("office", text.blocks, text.info.get("title"), file.stem)
    fields: dict[str, Any] = stated(about, text.info.get("keywords") or "")
    return reading._replace(stated=fields)


class _Text:
    """Gathers paragraphs while it goes through the file once."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.info: dict[str, str] = {}
        self._codec = "cp1252"
        self._default = 0
        self._fonts: dict[int, str] = {}  # those whose characters are in another encoding
        self._stack: list[_State] = []
        self._state = _State()
        self._parts: list[str] = []
        self._bytes = bytearray()  # of one encoding, not yet read as text
        self._cells: list[str] = []
        self._styles: dict[int, int] = {}
        self._style: int | None = None
        self._level = 0
        self._left = 0  # characters to be skipped
        self._is_optional = False
        self._is_open = self._is_first = False  # whether a group begins, or began just before
        self._in_table = False

    def take(self, data: bytes) -> None:
        at = 0
        while at < len(data):
            match = _TOKEN.match(data, at)
            if match is None:
                at += 1
                continue
            at = match.end()
            word, number, byte, symbol, brace, plain = match.groups()
            if word == b"bin":  # so many bytes follow that are none of the text's
                at += max(0, int(number or 0))
                continue
            self._is_first, self._is_open = self._is_open, brace == b"{"
            if brace:
                self._brace(brace)
            elif word:
                self._word(word.decode(), int(number) if number else None)
            elif byte:
                self._put_byte(int(byte, 16))
            elif symbol:
                self._symbol(symbol)
            elif plain:
                self._put_plain(plain)
        if self._cells:  # a row that never ended
            self._state = _State()
            self._layout("row", None)
        self._paragraph()

    def _brace(self, brace: bytes) -> None:
        self._flush()
        self._left = 0
        if brace == b"{":
            if len(self._stack) > _DEEPEST:
                raise ReadError("The rich text is nested too deep to be read.")
            self._stack.append(self._state)
        elif self._stack:
            if self._state.target == "stylesheet" and self._stack[-1].target == "stylesheet":
                self._name_style()
            self._state = self._stack.pop()

    def _symbol(self, symbol: bytes) -> None:
        if symbol == b"*":
            self._is_optional = self._is_first  # elsewhere it says nothing
        elif symbol in (b"\n", b"\r"):
            self._paragraph()
        else:
            self._put(_SYMBOLS.get(symbol, ""))

    def _word(self, word: str, number: int | None) -> None:
        optional, self._is_optional = self._is_optional, False
        if word in _MARKS:
            self._put(_MARKS[word])
        elif word in _LAYOUT:
            self._layout(word, number)
        elif word in _CODING:
            self._coding(word, number)
        elif word == "result":  # what is seen of an object
            self._state = self._state._replace(unseen=False)
        elif word == "stylesheet" or word in _INFO:
            self._flush()
            self._state = self._state._replace(target=word)
        elif word == "upr" or (word == "ud" and optional):
            return
        elif word in _UNSEEN or (optional and word not in ("shppict", "shpinst", "shptxt")):
            self._flush()
            in_fonts = self._state.in_fonts or word == "fonttbl"
            self._state = self._state._replace(unseen=True, in_fonts=in_fonts)

    def _coding(self, word: str, number: int | None) -> None:
        """What says how characters are written."""
        if word == "u" and number is not None:
            self._put(chr(number % 65536))
            self._left = self._state.skip
        elif word == "uc":
            self._state = self._state._replace(skip=min(number or 0, 8))
        elif word == "ansicpg" and number:
            self._codec = _known(f"cp{number}") or self._codec
        elif word == "deff":
            self._default = number or 0
        else:
            self._font(word, number)

    def _font(self, word: str, number: int | None) -> None:
        """Which font follows; a font may say in which encoding its characters are."""
        self._flush()
        state = self._state
        if word in ("f", "plain"):
            self._state = state._replace(font=number if word == "f" else None)
        elif state.in_fonts and state.font is not None and number in _CHARSETS:
            self._fonts[state.font] = _CHARSETS[number]

    def _layout(self, word: str, number: int | None) -> None:
        if word == "pard":
            self._style, self._level, self._in_table = None, 0, False
        elif word == "intbl":
            self._in_table = True
        elif word == "s":
            self._style = number
        elif word == "outlinelevel":
            self._level = (number or 0) + 1 if (number or 0) < 9 else 0
        elif self._state.unseen or self._state.target:
            return
        elif word == "cell":
            self._cells.append(self._gathered())
        elif word == "row":
            self._flush()
            if any(cell.strip() for cell in self._cells):
                self.blocks.append(row(self._cells))
            self._cells = []
        elif self._cells or self._in_table:  # several paragraphs in a cell
            self._put(" ")
        else:
            self._paragraph()

    def _paragraph(self) -> None:
        text = self._gathered()
        level = self._level or self._styles.get(self._style or -1, 0)
        if text:
            self.blocks.append(Block(" ".join(text.split()) if level else text, level=level))

    def _gathered(self) -> str:
        self._flush()
        text, self._parts = _whole("".join(self._parts)), []
        return text.strip()

    def _put(self, text: str) -> None:
        self._flush()
        self._say(text)

    def _put_byte(self, byte: int) -> None:
        if self._left:
            self._left -= 1
        else:
            self._bytes.append(byte)

    def _put_plain(self, plain: bytes) -> None:
        cut = min(self._left, len(plain))
        self._left -= cut
        self._bytes += plain[cut:]

    def _flush(self) -> None:
        """Bytes are read as text together: some characters have two."""
        if self._bytes:
            font = self._default if self._state.font is None else self._state.font
            codec = self._fonts.get(font, self._codec)
            text = self._bytes.decode(codec, "replace")
            self._bytes = bytearray()
            self._say(text)

    def _say(self, text: str) -> None:
        if self._state.unseen:
            return
        target = self._state.target
        if target:
            self.info[target] = (self.info.get(target, "") + text)[:1000]
        else:
            self._parts.append(text)

    def _name_style(self) -> None:
        """The name that ends the group of a style: "heading 1;"."""
        name = self.info.pop("stylesheet", "").strip().rstrip(";")
        found = _HEADING.fullmatch(name)
        if found and self._style is not None:
            self._styles[self._style] = int(found[1])


def _known(codec: str) -> str | None:
    try:
        return codecs.lookup(codec).name
    except LookupError:
        return None


def _whole(text: str) -> str:
    """Characters beyond 65535 are written as two halves."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
