"""Every format, on small files that the usual programs have made."""

import base64
import json
from pathlib import Path

import pytest

from knowbase.read import BinaryFile, read, type_of
from knowbase.read.formats import FORMATS
from knowbase.values.documents import DOCUMENT_TYPES
from knowbase.values.reading import Link
from readings import FILES, from_file, headings, text_of

COSTS = "Item | Cost | Year\nDredging | 120000 | 2024\nLanterns | 8500 | 2025"
SHEET = "Name | Built | Cost | Active\nÖland | 1998-05-17 | 1250000.5 | TRUE"


@pytest.mark.parametrize(
    "name",
    [
        "pandoc.docx", "libreoffice.docx", "pandoc.odt", "libreoffice.odt", "pandoc.rtf",
        "libreoffice.rtf", "pandoc.epub", "pandoc.rst", "pandoc.org", "pandoc.adoc", "pandoc.tex",
        "pandoc.ipynb", "libreoffice.fodt", "pandoc.mediawiki", "zim.txt",
    ],
)  # fmt: skip
def test_a_text_has_its_sections_and_words_in_every_format(name: str) -> None:
    reading = from_file(name)
    told = text_of(reading)
    assert headings(reading)[-4:] == ["Summary", "Costs", "Who pays", "Risks"]
    for words in ("eleven metres", "Measured at lowest astronomical tide", "Storms in Øresund",
                  "half in advance", "def depth(tide)"):  # fmt: skip
        assert words in told.replace("*", ""), words
    assert "120000" in told
    assert not any(markup in told for markup in ("\\section", "<w:", "{\\", ".. ", "{#", "=="))
    if name not in ("pandoc.rtf", "pandoc.ipynb", "pandoc.mediawiki"):  # these say no title
        assert reading.title == "The Harbour Plan"


@pytest.mark.parametrize(
    "name", ["pandoc.docx", "libreoffice.docx", "libreoffice.odt", "pandoc.rtf", "libreoffice.rtf",
             "pandoc.epub", "pandoc.rst", "pandoc.mediawiki", "pandoc.1"]
)  # fmt: skip
def test_tables_are_rows(name: str) -> None:
    assert COSTS in text_of(from_file(name))


def test_who_wrote_it_and_its_keywords_are_kept() -> None:
    for name in ("pandoc.docx", "libreoffice.odt", "libreoffice.rtf"):
        reading = from_file(name)
        assert reading.value("metadata")["author"] == "Ana Lindqvist"
        assert reading.value("metadata")["subject"] == "Harbours"
        assert reading.tags == ("harbour", "dredging")
    assert "generated" not in str(from_file("python-docx.docx").value("metadata"))
    assert Link("permit.docx", "markdown") in from_file("pandoc.docx").links


@pytest.mark.parametrize("name", ["pandoc.pptx", "libreoffice.pptx", "libreoffice.odp"])
def test_a_presentation_is_its_slides_with_their_notes(name: str) -> None:
    reading = from_file(name)
    assert reading.title == "Quarterly review"
    slides = [(section.heading, section.page) for section in reading.sections]
    assert slides[1:] == [("Slide 2: Revenue grew", 2), ("Slide 3: Next steps", 3)]
    assert "- Cargo: flat\n\nNotes: Mention the strike in March." in text_of(reading)
    assert "Task | Owner\nPermit | Bo" in text_of(reading)


@pytest.mark.parametrize("name", ["openpyxl.xlsx", "libreoffice.xlsx", "libreoffice.ods"])
def test_a_workbook_is_rows_under_their_header(name: str) -> None:
    reading = from_file(name)
    assert reading.title == "Ferry register"
    assert headings(reading) == ["Ferries, rows 2–3", "Staff list, rows 4–5"]
    assert SHEET in text_of(reading)
    assert "Harbour staff\nPerson | Role\nBo Ek | pilot" in text_of(reading)


def test_a_day_is_a_day_in_whatever_way_a_cell_shows_it() -> None:
    assert "Freja | 2011-11-03 | 990000" in text_of(from_file("xlsxwriter.xlsx"))


def test_a_notebook_is_its_cells_and_what_they_print() -> None:
    reading = from_file("jupyter.ipynb")
    assert (reading.title, headings(reading)) == ("Tides", ["Tides", "Loading", "Loading"])
    told = text_of(reading)
    assert "```python\nimport pandas as pd" in told
    for printed in ("0    1.5", "highest 2.25", "ZeroDivisionError: division by zero"):
        assert printed in told
    assert not any(noise in told for noise in ("iVBOR", "<table>", "Figure size", "\x1b"))
    assert reading.links == (Link("plan.md", "markdown"),)


def test_a_mailbox_is_its_messages() -> None:
    reading = from_file("python.mbox")
    assert [part.reading.title for part in reading.parts] == [
        "Dredging permit", "Re: Dredging permit", "Lanterns",
    ]  # fmt: skip
    first, second, third = (part.reading for part in reading.parts)
    assert "\nFrom now on we dig." in text_of(first)  # written as ">From" there
    assert first.value("metadata")["from"] == "Ana Lindqvist <ana@example.org>"
    assert first.stated["updated_at"] == "2024-03-01T09:30:00.000000Z"
    assert second.links == (Link(reading.parts[0].name, "wiki"),)
    assert [part.name for part in second.parts] == ["plan.docx"]  # and not the picture
    assert "Attachments: plan.docx, dot.png" in text_of(second)
    assert COSTS in text_of(second.parts[0].reading)
    assert "# Lanterns\n\nThe north lantern is out." in text_of(third)


def test_a_message_is_linked_to_what_it_answers() -> None:
    reading = from_file("python.eml")
    assert reading.links == (Link("Dredging permit", "wiki"),)
    assert "Grüße! Then we start on Monday." in text_of(reading)
    maildir = read("Mail/cur/1700000000.M1P2.host:2,S", (FILES / "python.eml").read_bytes())
    assert (maildir.type, maildir.title) == ("mail", "Re: Dredging permit")
    assert read("Inbox", (FILES / "python.mbox").read_bytes()).type == "mail"


@pytest.mark.parametrize(
    ("name", "key", "words", "year"),
    [
        ("refs.bib", "knuth1984", "Gödel, Kurt. Literate Programming", "1984"),
        ("refs.ris", "shannon-1948-a-mathematical-theory-of-communication", "entropy", "1948"),
    ],
)
def test_a_bibliography_is_its_entries(name: str, key: str, words: str, year: str) -> None:
    entry = from_file(name).parts[0]
    assert entry.name == key
    assert words in text_of(entry.reading)
    assert entry.reading.value("metadata")["year"] == year
    assert not any(mark in text_of(entry.reading) for mark in "{}\\")


def test_subtitles_are_lines_with_time_and_speaker() -> None:
    assert text_of(from_file("talk.vtt")) == (
        "00:00:01 Ana: Welcome to the harbour & all.\n"
        "00:06:00 Bo: Thank you.\n00:06:02 Let us begin.\n"
    )
    assert "00:00:01 Where is the ferry?" in text_of(from_file("talk.srt"))


def test_of_a_drawing_only_its_words_are_read() -> None:
    assert text_of(from_file("cluster.svg")) == "Cluster\nControl plane\nkubelet\n"
    bare = b'<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0L9 9"/></svg>'
    assert read("a.svg", bare).sections == ()


def test_rows_stand_in_groups_under_their_header() -> None:
    assert "name | born | city\nAda | 1815 | London\nKurt; G | 1906 | Brünn" in text_of(
        from_file("people.csv")
    )
    rows = "".join(f"{number},town {number}\n" for number in range(500))
    reading = read("a.csv", f"id,name\n{rows}".encode())
    assert len(reading.sections) > 5
    assert all(section.text.startswith("id | name\n") for section in reading.sections)
    assert reading.sections[1].line == reading.sections[0].text.count("\n") + 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", "id,name\n" + "1,abcdefgh\n" * 2000),
        ("a.json", json.dumps([{"id": n, "name": "abcdefgh"} for n in range(2000)])),
        ("a.json", json.dumps({str(n): "abcdefgh" for n in range(2000)})),
        ("a.jsonl", '{"id": 1, "name": {"first": "abcdefgh"}}\n' * 2000),
        ("a.yaml", "".join(f"key{n}: abcdefgh\n" for n in range(2000))),
        ("a.xml", "<a>" + "<b>abcdefgh</b>" * 2000 + "</a>"),
    ],
)
def test_large_data_is_read_in_part_and_that_is_said(name: str, text: str) -> None:
    reading = read(name, text.encode(), most_data=5000)
    assert 2000 < len(text_of(reading)) < 12000
    assert "read.max_data_kb" in reading.warnings[0]
    assert read(name, text.encode(), most_data=1 << 20).warnings == ()


def test_settings_keep_their_text_and_split_at_their_keys() -> None:
    text = "".join(f"# about {key}\n{key}:\n" + "  - some value\n" * 60 for key in ("one", "two"))
    reading = read("a.yaml", text.encode())
    assert [(s.heading, s.line) for s in reading.sections] == [("one", 1), ("two", 63)]
    assert text_of(reading).strip() == text.strip()
    tables = "".join(f"[{key}]\n" + "x = 'some value'\n" * 60 for key in ("one", "two"))
    assert headings(read("a.toml", tables.encode())) == ["one", "two"]
    pretty = json.dumps({"one": ["some value"] * 90, "two": ["some value"] * 90}, indent=2)
    assert headings(read("a.json", pretty.encode())) == ["one", "two"]


def test_a_file_of_records_is_a_table() -> None:
    reading = read("a.jsonl", b'{"a": 1, "t": "hello"}\n{"a": 2, "t": "world"}\nbroken\n')
    assert text_of(reading) == "a | t\n1 | hello\n2 | world\n"
    assert "1 of its lines" in reading.warnings[0]


def test_xml_is_an_outline() -> None:
    assert "  deps:\n    dep (scope=test):\n      id: junit" in text_of(from_file("pom.xml"))


SPHINX = """\
.. _label:

=======
Widgets
=======

.. currentmodule:: shop

See :class:`~shop.Widget`, :doc:`/ref/other` and :ref:`the rules <label>`.

.. versionadded:: 1.2

   Added *quickly*.

Making
======

.. code-block:: python
   :emphasize-lines: 1

   Widget().make()

.. unknown:: argument
   :option: 1

   Inner text.

.. toctree::

   first
   Second <two>
"""


@pytest.mark.parametrize("name", ["a.rst", "a.txt"])
def test_what_only_sphinx_knows_keeps_its_text(name: str) -> None:
    reading = read(name, SPHINX.encode())
    assert (reading.title, headings(reading)) == ("Widgets", ["Making"])
    told = text_of(reading)
    for words in ("See Widget, /ref/other and the rules.", "1.2\n\nAdded quickly.",
                  "Widget().make()", "argument\n\nInner text."):  # fmt: skip
        assert words in told
    assert not any(noise in told for noise in ("::", "`", "===", "emphasize", "label", "toctree"))
    assert [link.target for link in reading.links] == ["/ref/other", "first", "two"]


def test_rst_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the secret")
    place = tmp_path / "secret.txt"
    text = f"Title\n=====\n\n.. include:: {place}\n\n.. csv-table::\n   :file: {place}\n\nEnd.\n"
    assert "the secret" not in text_of(read("a.rst", text.encode()))


@pytest.mark.parametrize("name", ["a.md", "a.html", "a.json", "a.txt", "a.py", "a.rst"])
def test_pictures_that_are_written_out_are_no_words(name: str) -> None:
    coded = base64.b64encode(bytes(range(256)) * 8).decode()
    lines = "\n".join(coded[at : at + 76] for at in range(0, 1520, 76))
    text = f"before\n\n![x](data:image/png;base64,{coded})\n\n{lines}\n\n{coded}\n\nafter words\n"
    if name == "a.json":
        text = json.dumps({"words": "before after words", "img": f"data:image/png;base64,{coded}"})
    told = text_of(read(name, text.encode()))
    assert coded[8:40] not in told
    assert "before" in told
    assert "after words" in told


def test_every_format_has_a_fixture_or_a_test_of_its_own() -> None:
    fixtures = {path.suffix[1:] for path in FILES.iterdir()}
    elsewhere = {"Markdown", "PDF", "web page", "source code", "plain text", "JSON", "JSON lines",
                 "YAML", "TOML, INI", "canvas of Obsidian", "saved web page", "manual page",
                 "page of Zim", "export of Evernote", "drawing of draw.io",
                 "drawing of Excalidraw"}  # fmt: skip
    for one in FORMATS:
        assert one.type in DOCUMENT_TYPES
        assert one.name in elsewhere or fixtures & set(one.extensions), one.name
        assert all(type_of(f"a.{extension}") == one.type for extension in one.extensions)


def test_a_workbook_in_one_xml_says_what_the_archive_says() -> None:
    assert from_file("libreoffice.fods").sections == from_file("libreoffice.ods").sections


def test_what_sphinx_takes_from_code_is_named() -> None:
    text = "Flashing\n========\n\n.. autofunction:: flash\n   :noindex:\n\n.. autoclass:: Markup\n"
    assert text_of(read("a.rst", text.encode())).split() == ["#", "Flashing", "flash", "Markup"]


def test_headings_of_notebooks_are_as_a_reader_sees_them() -> None:
    """Code marks are none of it, underlined ones count, and comments in code do not."""
    text = "# The ``x`` of [it](a.md)\n\n```sh\n# no heading\n```\n\nUnderlined `y`\n---\nwords\n"
    cells = [{"cell_type": "markdown", "source": text}, {"cell_type": "code", "source": "1 + 1"}]
    reading = read("a.ipynb", json.dumps({"cells": cells}).encode())
    assert reading.title == "The x of it"
    assert headings(reading) == ["The x of it", "Underlined y"]
    assert "# no heading" in reading.sections[0].text


@pytest.mark.parametrize("name", ["a.docx", "a.xlsx", "a.pdf", "a.ipynb", "a.epub", "a.eml"])
def test_an_empty_file_is_empty_whatever_it_is_called(name: str) -> None:
    assert not read(name, b"").sections


def test_what_nothing_reads_is_named() -> None:
    with pytest.raises(BinaryFile, match="Word file of before 2007: save it as"):
        from_file("libreoffice.doc")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("<!DOCTYPE html>\n<html>$body$</html>\n", "page"),
        ('.\\" Automatically generated by Pandoc 3.1\n.TH "PANDOC" "1"\n.SH NAME\n', "PANDOC"),
        ("\\input texinfo  @c -*-texinfo\nText\n", "page"),
        ("$if(filename)$*${filename}*$endif$\n", "page"),
        ("bibliography|Bibliograf\\'ia|Bibliograf\\'ia\n", "page"),
        ("server {\n  listen 80;\n}\n", "page"),
        ("What it costs: 3 $ a day | and why\n", "What it costs: 3 $ a day | and why"),
        (".. note of the week\n", "note of the week"),
        ("C:\\Users and their folders\n", "C:\\Users and their folders"),
    ],
)
def test_markup_is_no_title_of_a_plain_text(text: str, title: str) -> None:
    assert read("page.unknown", text.encode()).title == title


def test_messages_that_old_and_odd_programs_wrote() -> None:
    """Letters without an encoding, a blank before the colon, a line that is no header."""
    data = (
        "Received: from a\nnonsense here\nFrom  : Bo <bo@example.org>\nSubject: Formação de Verão\n"
        "Date: Sat, 22 Nov 2008 15:04:59 +1100\n\nDéjà vu, garçon.\n"
    ).encode("latin-1")
    reading = read("odd.eml", data)
    assert reading.title == "Formação de Verão"
    assert reading.value("metadata")["from"] == "Bo <bo@example.org>"
    assert reading.stated["created_at"] == "2008-11-22T04:04:59.000000Z"
    assert "Déjà vu, garçon." in text_of(reading)


@pytest.mark.parametrize(
    ("name", "text", "title", "headings", "tags"),
    [
        (
            "a.org",
            "#+TITLE: The =foo= /book/\n#+KEYWORDS: beamer slides\n"
            "* TODO [#A] Write ~:author~ [1/2] <<here>>  :work:noexport:\nx\n"
            "* <<<Radio>>>\nx\n* a/b/c and 2*3*4 :#10:\nx\n",
            "The foo book",
            ["TODO Write :author", "Radio", "a/b/c and 2*3*4"],
            ("work", "beamer", "slides"),
        ),
        (
            "a.adoc",
            "= The *Book*\n\n== Start with `require`\n\nx\n\n== C++ and a_b_c\n\nx\n",
            "The Book",
            [None, "Start with require", "C++ and a_b_c"],
            (),
        ),
        ("art.txt", "......\n------\n\n some words\n", "some words", [None], ()),
    ],
)
def test_headings_are_shown_without_marks(
    name: str, text: str, title: str, headings: list[str | None], tags: tuple[str, ...]
) -> None:
    reading = read(name, text.encode())
    assert (reading.title, reading.tags) == (title, tags)
    assert [section.heading for section in reading.sections] == headings


def test_pages_of_antora_are_links_by_module_and_family() -> None:
    text = (
        "= Title\n\nxref:setup.adoc[Setup], xref:admin:deep/run.adoc#x[Run],\nxref:one-place[here],"
        " <<other.adoc#y,Other>>\n\ninclude::partial$note.adoc[]\n\ninclude::local.adoc[]\n"
    )
    pages = {link.target for link in read("docs/modules/user/nav.adoc", text.encode()).links}
    assert pages == {
        "pages/setup.adoc", "../admin/pages/deep/run.adoc#x", "pages/other.adoc#y",
        "partials/note.adoc", "local.adoc",
    }  # fmt: skip
    beside = {link.target for link in read("docs/nav.adoc", text.encode()).links}
    assert {"setup.adoc", "other.adoc#y", "local.adoc"} <= beside


def test_links_and_titles_of_blocks_are_shown_without_their_marks() -> None:
    text = "= T\n\n.Procedure\n. See link:https://example.org/x[the site].\n.. Then go.\n"
    shown = "# T Procedure . See the site. .. Then go."
    assert text_of(read("a.adoc", text.encode())).split() == shown.split()


def test_entries_of_an_index_are_no_text_of_a_page() -> None:
    text = (
        "\\section{Vols.\\ 1--2}\nWe\\index{we} see \\indexdef{x}\\indexsee{a!b}{b}it, \\Cref{y}.\n"
    )
    reading = read("a.tex", text.encode())
    assert (reading.title, text_of(reading).split()[-3:]) == ("Vols. 1–2", ["see", "it,", "."])
