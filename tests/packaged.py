"""The files of the packaged model that are made from its two others.

`python tests/packaged.py` writes them; a test compares. `graph.onnx` is `model.onnx` without its
large weights, which it points to: a session maps them instead of copying them twice.
`merges.bin` has the pairs of tokens that become one, for texts too short to load a tokenizer.
"""

import json
import struct
from collections.abc import Iterator
from typing import NamedTuple

import knowbase_granite as packaged

GRAPH, INITIALIZER, LARGE = 7, 5, 1 << 16
INT8, DATA_TYPE, RAW_DATA, EXTERNAL_DATA, DATA_LOCATION = 3, 2, 9, 13, 14


class Part(NamedTuple):
    """A field of a protobuf message: where it, what it has, and what follows it start."""

    number: int
    start: int
    inside: int
    end: int


def graph() -> bytes:
    """The model, with what is large left where it is."""
    with open(packaged.MODEL, "rb") as file:
        data = file.read()
    return b"".join(
        _message(GRAPH, _pointing(data, part)) if part.number == GRAPH else _whole(data, part)
        for part in _parts(data, 0, len(data))
    )


def _pointing(data: bytes, graph: Part) -> bytes:
    return b"".join(
        _message(INITIALIZER, _tensor(data, part))
        if part.number == INITIALIZER and part.end - part.inside > LARGE
        else _whole(data, part)
        for part in _parts(data, graph.inside, graph.end)
    )


def _tensor(data: bytes, tensor: Part) -> bytes:
    """Weights of one byte are pointed to; others would not lie at a multiple of their size."""
    parts = list(_parts(data, tensor.inside, tensor.end))
    kinds = [data[part.inside] for part in parts if part.number == DATA_TYPE]
    if kinds != [INT8]:
        return data[tensor.inside : tensor.end]
    return b"".join(
        _pointer(part) if part.number == RAW_DATA else _whole(data, part) for part in parts
    )


def _pointer(raw: Part) -> bytes:
    said = {"location": "model.onnx", "offset": raw.inside, "length": raw.end - raw.inside}
    entries = (
        _message(1, name.encode()) + _message(2, str(value).encode())
        for name, value in said.items()
    )
    return b"".join(_message(EXTERNAL_DATA, entry) for entry in entries) + bytes(
        (DATA_LOCATION << 3, 1)
    )


def _parts(data: bytes, at: int, end: int) -> Iterator[Part]:
    while at < end:
        start = at
        tag, at = _number(data, at)
        inside, following = at, at + {1: 8, 5: 4}.get(tag & 7, 0)
        if tag & 7 == 0:
            _, following = _number(data, at)
        elif tag & 7 == 2:
            length, inside = _number(data, at)
            following = inside + length
        yield Part(tag >> 3, start, inside, following)
        at = following


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while data[at] & 128:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    return value | data[at] << shift, at + 1


def _written(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes((*out, number))


def _message(number: int, content: bytes) -> bytes:
    return _written(number << 3 | 2) + _written(len(content)) + content


def _whole(data: bytes, part: Part) -> bytes:
    return data[part.start : part.end]


def merges() -> bytes:
    """The token of each byte; pairs of tokens, sorted; the rank and the token of each pair."""
    with open(packaged.TOKENIZER, encoding="utf-8") as file:
        model = json.load(file)["model"]
    ids = model["vocab"]
    table = {}
    for rank, pair in enumerate(model["merges"]):
        one, other = pair.split(" ") if isinstance(pair, str) else pair
        table[ids[one] << 16 | ids[other]] = rank << 16 | ids[one + other]
    return struct.pack(
        f"<256H{len(table)}I{len(table)}I",
        *(ids[letter] for letter in _letters()),
        *sorted(table),
        *(table[pair] for pair in sorted(table)),
    )


def _letters() -> list[str]:
    """How GPT-2 writes each byte: those that cannot be seen as letters from 256 on."""
    seen = {*range(33, 127), *range(161, 173), *range(174, 256)}
    unseen = [byte for byte in range(256) if byte not in seen]
    return [chr(byte if byte in seen else 256 + unseen.index(byte)) for byte in range(256)]


if __name__ == "__main__":
    for path, content in ((packaged.GRAPH, graph()), (packaged.MERGES, merges())):
        with open(path, "wb") as file:
            file.write(content)
