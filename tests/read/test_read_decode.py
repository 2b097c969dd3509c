"""Decoding bytes to text."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.errors import ReadError
from knowbase.read.decode import BinaryFile, decode

TEXT = "Grüße aus Łódź — naïve café"


@pytest.mark.parametrize(
    "data",
    [
        TEXT.encode(),
        TEXT.encode("utf-8-sig"),
        TEXT.encode("utf-16"),
        b"\xff\xfe" + TEXT.encode("utf-16-le"),
        b"\xfe\xff" + TEXT.encode("utf-16-be"),
        TEXT.encode("utf-16-le"),
        TEXT.encode("utf-16-be"),
        TEXT.encode("utf-32"),
    ],
)
def test_unicode_is_decoded_with_and_without_a_mark(data: bytes) -> None:
    assert decode(data) == TEXT


def test_western_eight_bit_text_is_recognised() -> None:
    assert decode("“café” – naïve".encode("cp1252")) == "“café” – naïve"
    assert decode("café \x81".encode("latin-1") + b" and so on" * 5).startswith("café")


def test_one_broken_byte_does_not_spoil_utf8_text() -> None:
    assert decode("äöüäöü ".encode() * 9 + b"\xff") == "äöüäöü " * 9 + "\ufffd"


def test_line_ends_become_line_feeds() -> None:
    assert decode(b"a\r\nb\rc\nd") == "a\nb\nc\nd"


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01\x02\x03",
        b"abc\0def",
        gzip.compress(b"hello" * 99, mtime=0),
        bytes(range(256)),
        b"\x01",
    ],
)
def test_binary_data_is_refused(data: bytes) -> None:
    with pytest.raises(BinaryFile) as caught:
        decode(data)
    assert caught.value.code == "binary_file"


def test_nothing_is_an_empty_text() -> None:
    assert decode(b"") == ""


@given(st.binary())
def test_any_bytes_give_text_or_a_read_error(data: bytes) -> None:
    try:
        text = decode(data)
    except ReadError:
        return
    assert "\r" not in text
    assert "\0" not in text
    text.encode("utf-8")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"])))
def test_any_text_in_utf8_comes_back(text: str) -> None:
    assert decode(text.encode()) == text.removeprefix("\ufeff")
