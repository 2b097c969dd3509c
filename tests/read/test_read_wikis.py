"""Manual pages, pages of wikis and exports of Evernote."""

import base64

import pytest

from knowbase.read import read
from knowbase.values.reading import Link
from readings import from_file, headings, text_of


def test_a_manual_page_is_its_sections_without_requests_of_roff() -> None:
    reading = from_file("pandoc.1")
    assert (reading.type, reading.title) == ("text", "The Harbour Plan")
    assert headings(reading)[:4] == ["Summary", "Costs", "Who pays", "Risks"]
    told = text_of(reading)
    assert "deepened to eleven metres" in told
    assert "•\nhalf in advance" in told
    assert not any(mark in told for mark in ("\n.P", "\n.I", "\\", "T{"))


@pytest.mark.parametrize(
    ("text", "title", "told"),
    [
        (
            ".TH LS 1\n.SH NAME\nls \\- list directory contents\n.SH OPTIONS\n.TP\n"
            "\\fB\\-a\\fR, \\fB\\-\\-all\\fR\nshow hidden\n",
            "ls - list directory contents",
            "-a, --all\nshow hidden",
        ),
        (
            '.\\" a licence\n.Dd May 1, 2020\n.Dt ECHO 1\n.Os\n.Sh NAME\n.Nm echo\n.Nd write\n'
            ".Sh DESCRIPTION\n.de XX\nunseen\n..\nThe\n.Nm echo\nutility.\n",
            "echo - write",
            "utility.",
        ),
    ],
)
def test_a_manual_page_is_called_as_it_says(text: str, title: str, told: str) -> None:
    reading = read("page.1", text.encode())
    assert reading.title == title
    assert told in text_of(reading)
    assert "unseen" not in text_of(reading)


def test_a_log_that_was_put_aside_is_not_a_manual_page() -> None:
    text = "12:00 started\n12:01 ended\n"
    assert text_of(read("app.log.1", text.encode())) == text


def test_a_page_of_a_wiki_has_its_links_and_categories() -> None:
    page = (
        "{{Infobox|a={{nested|x}}}}\n= Ships =\n'''Bold''' [[Sea port#Quay|the port]]"
        " [[File:a.png|thumb|A crane]] [https://example.org a site]<!-- unseen -->\n"
        "[[Category:Harbours]]\n__NOTOC__\n"
    )
    reading = read("ships.mediawiki", page.encode())
    assert (reading.title, reading.tags) == ("Ships", ("Harbours",))
    assert reading.links == (Link("Sea port", "wiki"),)
    assert "Bold the port A crane a site\n" in text_of(reading)
    assert not any(mark in text_of(reading) for mark in ("{", "[", "'''", "unseen", "__"))


def test_a_page_of_zim_is_known_by_its_header() -> None:
    reading = from_file("zim.txt")
    assert reading.title == "The Harbour Plan"
    assert reading.stated["created_at"] == "2024-03-01T09:00:00.000000Z"
    assert Link("permit.docx", "wiki") in reading.links
    assert "Content-Type" not in text_of(reading)


def test_an_export_of_evernote_is_its_notes() -> None:
    picture = base64.b64encode(bytes(range(256))).decode()
    export = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE en-export SYSTEM "evernote4.dtd">'
        "<en-export><note><title>Tides</title><created>20200105T101112Z</created>"
        "<updated>20210203T000000Z</updated><tag>sea</tag><tag>to do</tag><note-attributes>"
        "<author>Ana</author><source-url>https://example.org/t</source-url></note-attributes>"
        "<content><![CDATA[<?xml version='1.0'?><en-note><div>High at <b>noon</b></div>"
        "</en-note>]]></content><resource><data>"
        f"{picture}</data></resource></note><note><title>Tides</title></note></en-export>"
    )
    reading = read("notes.enex", export.encode())
    assert [part.name for part in reading.parts] == ["tides", "tides-2"]
    note = reading.parts[0].reading
    assert (note.title, note.tags) == ("Tides", ("sea", "to do"))
    assert text_of(note) == "High at noon\n\n"
    assert note.stated["created_at"] == "2020-01-05T10:11:12.000000Z"
    assert note.stated["updated_at"] == "2021-02-03T00:00:00.000000Z"
    assert note.value("metadata") == {"author": "Ana", "address": "https://example.org/t"}
    assert reading.warnings == ("files that lie in its notes are not read: 1",)


@pytest.mark.parametrize(
    "text",
    ["<!--", "<ref>", "{{", "[[a", "=", "= ", "'", "| a || b\n", "{|\n", "#", "__A", "<a "],
)
def test_marks_without_end_are_read(text: str) -> None:
    """Whoever goes back at each of them would still be reading."""
    assert read("page.mediawiki", (text * 100_000).encode()).type == "text"
    for page in (f".TH A 1\n{text * 50_000}", ".TH A 1\n.TS\n" + "T{\n" * 50_000):
        assert read("page.1", page.encode()).title == "A"
