"""Choosing a reader by a file's name, and reading plain text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowbase.errors import ReadError
from knowbase.read import BinaryFile, read, type_of
from knowbase.values.documents import DOCUMENT_TYPES


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/B.MD", "markdown"),
        ("x.markdown", "markdown"),
        ("x.htm", "html"),
        ("x.pdf", "pdf"),
        ("x.Py", "code"),
        ("x.yaml", "text"),
        ("x.json", "text"),
        ("x.csv", "text"),
        ("README", "text"),
        ("x.unknown", "text"),
    ],
)
def test_the_extension_chooses_the_reader(path: str, kind: str) -> None:
    assert type_of(path) == kind
    if kind != "pdf":
        assert read(path, b"hello").type == kind


def test_plain_text_is_one_section_titled_by_its_first_line() -> None:
    reading = read("notes.txt", b"\n\n  My notes \nmore\n")
    assert reading.title == "My notes"
    assert [(s.slug, s.heading, s.text, s.line) for s in reading.sections] == [
        ("_preamble", None, "\n\n  My notes \nmore\n", 1)
    ]


def test_a_long_first_line_is_no_title() -> None:
    assert read("a/notes.txt", b"x" * 101).title == "notes"
    assert read("a/notes.txt", b"x" * 100).title == "x" * 100


@pytest.mark.parametrize("data", ["\u00ad", "# \u00ad\n\ntext", "\u200b", "<h1>\u00ad</h1>x"])
@pytest.mark.parametrize("name", ["notes.txt", "notes.md", "notes.html"])
def test_a_title_that_nobody_can_see_is_none(name: str, data: str) -> None:
    assert any(one.isprintable() for one in read(name, data.encode()).title)


def test_settings_are_titled_by_their_file() -> None:
    assert read("a/x.json", b"{}").title == "x.json"


def test_an_empty_file_has_no_sections() -> None:
    for name in ("a.md", "a.txt", "a.py", "a.rb", "a.html", "a.json"):
        assert read(name, b"").sections == ()


@pytest.mark.parametrize("name", ["a.bin", "a.md", "a.py", "a.txt", "noextension"])
def test_binary_data_is_refused_under_any_name(name: str) -> None:
    with pytest.raises(BinaryFile):
        read(name, b"\x7fELF\x02\x01\x01\0\0\0\0\0")


@pytest.mark.parametrize(
    "name",
    ["a.md", "a.html", "a.txt", "a.json", "a.rb", "a.py", "a.js", "a.ts", "a.tsx", "a.go", "a.rs",
     "a.java", "a.c", "a.h", "a.cpp", "a.unknown", "Makefile", "a.pdf"],
)  # fmt: skip
@settings(deadline=None)
@given(
    data=st.one_of(st.binary(), st.text().map(str.encode), st.binary().map(b"%PDF-1.4\n".__add__))
)
def test_any_bytes_give_a_reading_or_a_read_error(name: str, data: bytes) -> None:
    try:
        reading = read(name, data)
    except ReadError:
        return
    assert reading.type in DOCUMENT_TYPES
    assert reading.title
    for section in reading.sections:
        (section.header + section.text).encode("utf-8")


def test_a_calendar_is_called_by_its_file() -> None:
    assert read("tide.ics", b"BEGIN:VCALENDAR\nSUMMARY:Tide\n").title == "tide"


def test_a_long_log_is_read_in_part_and_that_is_said() -> None:
    line = "2024-01-01 INFO another line of a log\n"
    reading = read("app.log", (line * 1000).encode(), most_data=len(line) * 10 + 5)
    assert reading.sections[0].text.count("INFO") == 10
    assert reading.warnings == (
        "only its first 10 lines are read, the rest is left out; read.max_data_kb",
    )
    assert read("app.txt", (line * 1000).encode(), most_data=100).warnings == ()
