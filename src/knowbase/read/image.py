"""Pictures: how large they are and how many pages they have, from their first bytes alone. What is
written in them is found elsewhere (read/ocr.py), a page at a time."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from knowbase.errors import ReadError
from knowbase.read.decode import BinaryFile
from knowbase.read.file import File
from knowbase.values.reading import Reading

SMALLEST = 40  # pixels of the shorter side: an icon has no line of text
MOST_PIXELS = 100_000_000
_MOST_PAGES = 10_000  # of a TIFF: what claims more is damaged
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_WIDTH, _HEIGHT = 256, 257  # tags of TIFF
_SHORT = 3


class Size(NamedTuple):
    """Of a picture, in pixels."""

    width: int
    height: int


def is_image(data: bytes) -> bool:
    """Whether its first bytes are those of a picture that can be looked at."""
    return _kind(data) is not None


def read_image(file: File) -> Reading:
    """A picture: pages to be looked at, none when it is too small to say anything."""
    if file.data and not is_image(file.data):  # what stands for it elsewhere
        raise BinaryFile("The file is not an image, as its name says.")
    try:
        sizes = _sizes(file.data) if file.data else []
    except (struct.error, IndexError, ValueError) as error:
        raise ReadError("The image is damaged and cannot be read.") from error
    for size in sizes:
        if size.width * size.height > MOST_PIXELS:
            most = MOST_PIXELS // 1_000_000
            raise ReadError(f"The image has more than {most} megapixels.")
    pages = tuple(page for page, size in enumerate(sizes, 1) if min(size) >= SMALLEST)
    return Reading("image", file.called, (), scans=pages)


def _kind(data: bytes) -> str | None:
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "png"
    if data.startswith(b"\xff\xd8\xff"):
        return "jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "gif"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "webp"
    if data.startswith((b"II*\0", b"MM\0*")):
        return "tiff"
    is_bitmap = data.startswith(b"BM") and data[6:10] == b"\0\0\0\0"
    return "bmp" if is_bitmap else None


def _sizes(data: bytes) -> list[Size]:
    kind = _kind(data)
    if kind == "png":
        return [Size(*struct.unpack_from(">II", data, 16))]
    if kind == "gif":
        return [Size(*struct.unpack_from("<HH", data, 6))]
    if kind == "bmp":
        width, height = struct.unpack_from("<ii", data, 18)
        return [Size(width, abs(height))]
    if kind == "jpeg":
        return [_size_of_jpeg(data)]
    if kind == "webp":
        return [_size_of_webp(data)]
    if kind == "tiff":
        return list(_sizes_of_tiff(data))
    raise ValueError


def _size_of_jpeg(data: bytes) -> Size:
    at = 2
    while True:
        if data[at] != 0xFF:
            raise ValueError
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Size(width, height)
        at += 1 if marker == 0xFF else 2 + struct.unpack_from(">H", data, at + 2)[0]


def _size_of_webp(data: bytes) -> Size:
    form = data[12:16]
    if form == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return Size(width & 0x3FFF, height & 0x3FFF)
    if form == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return Size((bits & 0x3FFF) + 1, ((bits >> 14) & 0x3FFF) + 1)
    if form == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") for at in (24, 27))
        return Size(width + 1, height + 1)
    raise ValueError


def _sizes_of_tiff(data: bytes) -> Iterator[Size]:
    """Of each page: a directory of tags, and where the next one is."""
    order = "<" if data.startswith(b"II") else ">"
    at, seen = struct.unpack_from(order + "I", data, 4)[0], set[int]()
    while at:
        if at in seen or len(seen) >= _MOST_PAGES:
            raise ValueError
        seen.add(at)
        number = struct.unpack_from(order + "H", data, at)[0]
        found = {}
        for entry in range(at + 2, at + 2 + 12 * number, 12):
            tag, form = struct.unpack_from(order + "HH", data, entry)
            if tag in (_WIDTH, _HEIGHT):
                letter = "H" if form == _SHORT else "I"
                found[tag] = struct.unpack_from(order + letter, data, entry + 8)[0]
        yield Size(found.get(_WIDTH, 0), found.get(_HEIGHT, 0))
        at = struct.unpack_from(order + "I", data, at + 2 + 12 * number)[0]
