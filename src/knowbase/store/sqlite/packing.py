"""Texts as they lie in the file: the longer ones deflated, in half of the room. And hashes, in
half of theirs.

A packed text is a blob, and one that is not is a text: what is too short to gain stays as it is. In
SQL, `packed` and `plain` are functions of every connection of ours; triggers need them.
"""

import re
import zlib
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from knowbase.errors import BaseDamaged
from knowbase.store.rows import damaged
from knowbase.store.sqlite.common_words import LETTERS

if TYPE_CHECKING:
    import apsw

PACKED = ("text", "terms")
"""The columns that hold packed texts, of what is and of what was."""


def _letters(column: str) -> str:
    return f"iif(typeof({column}) = 'blob', lower(hex({column})), {column})"


HASH = _letters("c.hash")
"""The hash of a chunk `c` as everybody knows it."""
CONTENT_HASH = _letters("d.content_hash")
"""The same of a document `d`."""
HEADER = (
    "iif(typeof(c.header) = 'blob',"
    " substr('######', 1, length(c.header)) || ' ' || c.heading || char(10), c.header)"
)
"""What stands before the text of a chunk `c`: mostly its heading, behind a few `#`."""
TERMS = (
    "coalesce((SELECT plain(terms) FROM documents WHERE seq = c.document), '') || plain(c.terms)"
)
"""What is indexed beside the fields of a chunk `c`: what all of its document begin with, first."""
SIMILAR = "''"
"""The relation SIMILAR_TO as it is kept, and its origin: nearly all edges are of it."""
MILLION = 1e6
"""What the weights of edges are kept as parts of: a whole number takes three bytes of eight."""
LEAST = 96  # letters: less gains a few bytes at most
MARK = b"\x01"  # says which letters a text refers to
_RAW = -15  # deflate alone: seals say whether a text is what was written
# Deflating keeps 8 kB in view, more than a chunk has: with more, getting the memory would take
# longer than the work.
_LEVEL, _IN_VIEW, _MEMORY = 6, -13, 8
_LETTERS = 64  # of a hash
_SHORT = 12  # letters: a code is hardly longer
_ASKED_SOON = 128  # texts: rows of a statement, each with two
_just_packed: dict[bytes, str] = {}
"""What a trigger asks for, once the row that it was packed for is there."""
_KEY, _ID_BYTES, _ID_LETTERS = 8, 16, 36


def packed(text: Any) -> Any:
    """A text as it is kept."""
    if not isinstance(text, str) or len(text) < LEAST:
        return text
    given = text.encode()
    deflating = _ready().copy()
    made = MARK + deflating.compress(given) + deflating.flush()
    if len(made) >= len(given):
        return text
    if len(_just_packed) >= _ASKED_SOON:
        _just_packed.clear()
    _just_packed[made] = text
    return made


@cache
def _ready() -> Any:
    """To be copied: looking through the letters that texts refer to takes longer than that."""
    return zlib.compressobj(_LEVEL, zlib.DEFLATED, _IN_VIEW, _MEMORY, zdict=LETTERS)


def plain(kept: Any) -> Any:
    """What was packed; anything else is as it is."""
    if not isinstance(kept, bytes):
        return kept
    known = _just_packed.pop(kept, None) if _just_packed else None
    if known is not None:
        return known
    inflating = _inflating(kept)
    try:
        text: str = inflating.decompress(kept[1:]).decode()
    except (zlib.error, UnicodeDecodeError) as error:
        raise damaged("a stored text cannot be unpacked") from error
    if not inflating.eof:
        raise damaged("a stored text has lost its end")
    return text


def readable(kept: bytes) -> str:
    """What can still be read of a packed text that is damaged."""
    found = b""
    try:
        inflating = _inflating(kept)
        for byte in kept[1:]:
            found += inflating.decompress(bytes((byte,)))
    except (zlib.error, BaseDamaged):
        pass
    return found.decode(errors="replace")


def _inflating(kept: bytes) -> Any:
    if kept[:1] != MARK:
        raise damaged("a stored text is packed in no known way")
    return zlib.decompressobj(_RAW, zdict=LETTERS)


def register(connection: "apsw.Connection") -> None:
    """The functions of SQL, on one connection."""
    for name, function in (("packed", packed), ("plain", plain), ("kept_name", kept_name)):
        one: Any = function
        connection.create_scalar_function(name, one, 1, deterministic=True)


@cache
def _id() -> re.Pattern[str]:
    return re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def kept_name(name: str) -> bytes | str:
    """The key of a document, or of a link to one, as it is kept: a hash is as good where keys are
    only compared. One that can be an id or a code stays one."""
    if len(name) <= _SHORT:
        return name
    if len(name) == _ID_LETTERS and _id().fullmatch(name):
        return bytes.fromhex(name.replace("-", ""))
    key: bytes = _hashing()(name.encode("utf-8", "surrogatepass")).digest()
    return key


@cache
def _hashing() -> Any:
    """Loaded where names are written, and not looked for again for each of them."""
    from hashlib import blake2b

    return partial(blake2b, digest_size=_KEY)


def name_of(kept: Any) -> str | None:
    """The name, where it can be told from its key."""
    if isinstance(kept, bytes):
        letters = kept.hex()
        parts = (letters[:8], letters[8:12], letters[12:16], letters[16:20], letters[20:])
        return "-".join(parts) if len(kept) == _ID_BYTES else None
    return kept if isinstance(kept, str) else None


def place(column: str) -> str:
    """Where the value of a column goes in a statement."""
    return "packed(?)" if column in PACKED else "?"


def digest(letters: str) -> bytes | str:
    """A hash as it is kept: a byte for two letters."""
    try:
        return bytes.fromhex(letters) if len(letters) == _LETTERS else letters
    except ValueError:
        return letters


def kept_hash(letters: str) -> str:
    """The same in SQL, of a column or parameter with letters."""
    return f"iif(length({letters}) = {_LETTERS}, coalesce(unhex({letters}), {letters}), {letters})"


def in_millionths(weight: float) -> int:
    """Similarities have no more digits (`DIGITS` of store/neighbours.py), and no relation has."""
    return round(weight * MILLION)


def kept_header(header: str, heading: str | None) -> str | bytes:
    """A byte for each `#`, where nothing else stands before the heading."""
    marks = len(header) - len(heading or "") - 2
    is_usual = heading and 1 <= marks <= 6 and header == f"{'#' * marks} {heading}\n"
    return bytes(marks) if is_usual else header


def has_hash(letters: str, chunk: str = "c") -> str:
    """Whether a chunk has the hash of these letters: found by its first bytes, which are all that
    the index has of it."""
    wanted = kept_hash(letters)
    return f"substr({chunk}.hash, 1, 8) = substr({wanted}, 1, 8) AND {chunk}.hash = {wanted}"
