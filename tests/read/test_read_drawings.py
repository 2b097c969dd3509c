"""Drawings, and files whose content lies elsewhere."""

import base64
import json
import zlib
from urllib.parse import quote

import pytest

from knowbase.errors import ReadError
from knowbase.read import NeedsReader, read
from knowbase.values.reading import Reading

MODEL = (
    '<mxGraphModel><root><mxCell id="0"/><mxCell id="2" value="Quay &lt;b&gt;north&lt;/b&gt;"/>'
    '<UserObject id="3" label="Crane"/><mxCell id="4" value="Crane"/></root></mxGraphModel>'
)


def packed(text: str) -> str:
    deflate = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = deflate.compress(quote(text).encode()) + deflate.flush()
    return base64.b64encode(data).decode()


def drawing(page: str) -> bytes:
    return f'<mxfile host="a"><diagram name="Harbour">{page}</diagram></mxfile>'.encode()


def texts(reading: Reading) -> list[tuple[str | None, str]]:
    return [(section.heading, section.text) for section in reading.sections]


@pytest.mark.parametrize("page", [MODEL, packed(MODEL)])
def test_of_a_drawing_the_words_are_read(page: str) -> None:
    assert texts(read("plan.drawio", drawing(page))) == [("Harbour", "Quay north\nCrane\n")]
    assert texts(read("plan.drawio", MODEL.encode())) == [(None, "Quay north\nCrane\n")]


def test_a_drawing_that_is_damaged_or_has_no_end_is_refused() -> None:
    for page in ("%%%", packed(" " * (8 << 20))):
        with pytest.raises(ReadError, match=r"damaged|more than 16 MB"):
            read("plan.drawio", drawing(page))
    with pytest.raises(ReadError, match="not valid JSON"):
        read("plan.excalidraw", b"{")


def test_of_a_drawing_of_excalidraw_the_texts_are_read_from_top_to_bottom() -> None:
    elements = [
        {"type": "text", "text": "below", "y": 9},
        {"type": "text", "text": "above", "y": 1},
        {"type": "text", "text": "gone", "y": 0, "isDeleted": True},
        {"type": "line"},
    ]
    board = json.dumps({"type": "excalidraw", "elements": elements, "files": {"a": "data:x"}})
    assert texts(read("plan.excalidraw", board.encode())) == [(None, "above\n\nbelow\n")]


@pytest.mark.parametrize("name", ["a.pdf", "a.docx", "a.png", "a.csv", "a.md"])
def test_what_was_not_fetched_is_not_damaged(name: str) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
    with pytest.raises(NeedsReader, match="git lfs pull"):
        read(name, pointer)
    with pytest.raises(NeedsReader, match="git annex get"):
        read(name, b"/annex/objects/SHA256E-s1--4d7a.pdf\n")
