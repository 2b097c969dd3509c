"""Images and scanned pages: what is known of them without looking, and what is said of them.

The last tests look at them. They need `pip install 'knowbase[ocr]'`.
"""

import struct
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from conftest import FIXTURES, Kb
from knowbase import Base
from knowbase.errors import ReadError
from knowbase.read import BinaryFile, read
from knowbase.read.lines import Piece, lines_of

FILES = FIXTURES / "formats"
INSTALLED = find_spec("rapidocr") is not None
INSTALL = "pip install 'knowbase[ocr]'"


def content(name: str) -> bytes:
    return (FILES / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "pages"),
    [
        ("chromium.png", (1,)),
        ("imagemagick.jpg", (1,)),
        ("imagemagick.webp", (1,)),
        ("imagemagick.gif", (1,)),
        ("imagemagick.bmp", (1,)),
        ("imagemagick.tif", (1, 2)),
    ],
)
def test_an_image_is_known_by_its_content_whatever_it_is_called(
    name: str, pages: tuple[int, ...]
) -> None:
    for called in (name, "x/IMG_1.dat"):
        reading = read(called, content(name))
        assert (reading.type, reading.sections, reading.scans) == ("image", (), pages)
    assert read("notes.txt", content(name)).warnings == (
        "its name says otherwise, but it is an image",
    )


@pytest.mark.parametrize("name", ["chromium.png", "imagemagick.jpg", "imagemagick.tif"])
def test_half_an_image_is_damaged(name: str) -> None:
    with pytest.raises(ReadError, match="damaged"):
        read(name, content(name)[:18])


def test_icons_are_not_looked_at_and_giants_are_refused() -> None:
    head = content("chromium.png")[:16]
    assert read("icon.png", head + struct.pack(">II", 32, 32)).scans == ()
    with pytest.raises(ReadError, match="100 megapixels"):
        read("giant.png", head + struct.pack(">II", 50_000, 50_000))


def test_what_only_stands_for_an_image_is_left_out() -> None:
    with pytest.raises(BinaryFile, match="git lfs pull"):
        read("a.png", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    with pytest.raises(BinaryFile, match="not an image"):
        read("a.png", b"see the other folder\n")


def test_pages_of_a_pdf_that_are_pictures_are_known() -> None:
    reading = read("a.pdf", content("chromium.pdf"))
    assert [section.page for section in reading.sections] == [1]
    assert reading.scans == (2,)
    assert read("b.pdf", content("chromium-scan.pdf")).scans == (1,)


def pieces(*rows: tuple[str, float, float, float]) -> list[Piece]:
    return [Piece(text, left, top, right, top + 10) for text, left, right, top in rows]


def test_cells_of_a_table_stand_in_a_line_and_columns_one_after_the_other() -> None:
    table = pieces(("Item", 0, 30, 0), ("Year", 90, 120, 2), ("Lantern", 0, 50, 20))
    assert lines_of([table[1], table[2], table[0]]) == ["Item | Year", "Lantern"]
    columns = [
        Piece(f"{side}{row}", left, 20 * row, left + 95, 20 * row + 12)
        for row in range(1, 7)
        for side, left in (("a", 0), ("b", 105))
    ]
    title = Piece("Over both", 40, 0, 160, 14)
    expected = [
        "Over both",
        *(f"a{row}" for row in range(1, 7)),
        *(f"b{row}" for row in range(1, 7)),
    ]
    assert lines_of([*columns, title]) == expected


def put(kb: Kb, *names: str) -> None:
    for name in names:
        kb.write(name, content(name))


def test_a_base_without_the_extra_says_what_it_needs(kb: Kb) -> None:
    """Once, with numbers; and a file that was named is a failure."""
    if INSTALLED:
        pytest.skip("knowbase[ocr] is installed")
    put(kb, "chromium.png", "imagemagick.tif", "chromium.pdf", "chromium-scan.pdf")
    kb("init")
    added = kb.json("add", ".")
    assert added["warnings"] == [f"2 images, 2 scanned PDF pages: {INSTALL}"]
    assert added["added"] == ["chromium.pdf"]
    assert {one["reason"] for one in added["skipped"]} == {
        "an image: knowbase[ocr] reads it", "a scanned PDF: knowbase[ocr] reads it"
    }  # fmt: skip
    again = kb.json("sync")
    assert (again["warnings"], again["skipped"], again["skipped_before"]) == ([], [], 3)
    assert f"an image: {INSTALL}" in kb("add", "chromium.png", code=6).out


def test_pictures_in_the_text_of_other_files_are_said(kb: Kb) -> None:
    put(kb, "python-docx.docx", "pandoc.odt")  # with a thumbnail each, which nobody reads
    with zipfile.ZipFile(kb.folder / "python-docx.docx", "a") as archive:
        archive.writestr("word/media/image1.png", bytes(5000))
        archive.writestr("word/media/icon.png", bytes(500))
    kb("init")
    told = "1 picture in the text of 1 office file or book: words in them are not read"
    assert kb.json("add", ".")["warnings"] == [told]
    assert kb.json("sync")["warnings"] == []


def test_images_that_nobody_wants_read_are_no_warning(kb: Kb) -> None:
    put(kb, "chromium.png", "chromium.pdf")
    kb("init")
    added = kb.json("add", ".", env={"KB_READ_OCR": "off"})
    assert added["warnings"] == []
    assert [one["reason"] for one in added["skipped"]] == ["an image: read.ocr is off"]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    """A base that was made without looking at pictures, and then brought in step with it."""
    if not INSTALLED:
        pytest.skip(f"needs {INSTALL}: 230 MB")
    kb = Kb(tmp_path_factory.mktemp("seen"))
    put(kb, "chromium.png", "chromium.pdf", "imagemagick.tif")
    kb.write("kb.toml", "[read]\nocr_pages = 1\n")
    kb("init")
    kb("add", ".", env={"KB_READ_OCR": "off"})
    with Base(str(kb.base)) as base:  # the command is waited for less long
        report = base.sync()
    assert sorted(report.added) == ["chromium.png", "imagemagick.tif"]
    assert report.changed == ("chromium.pdf",)
    told = "imagemagick.tif: only 1 of 2 scanned pages are read; read.ocr_pages"
    assert report.warnings == (told,)
    return kb


def test_text_of_images_and_scanned_pages_is_found(seen: Kb) -> None:
    text = seen("get", "chromium.png").out
    assert "The northern lantern was replaced on 14 May by Ana\nLindqvist" in text
    assert "Dredging | 120000 | 2024" in text
    hit = seen.json("search", "divers repair the fenders", "--fts-only")["hits"][0]
    assert (hit["path"], hit["page"]) == ("chromium.pdf", 2)
    assert "Covering letter" in seen("get", "chromium.pdf").out
    assert "Call Ana Lindqvist before Friday" in seen("get", "imagemagick.tif").out


def test_what_was_looked_at_is_not_looked_at_again(seen: Kb) -> None:
    assert seen.json("sync")["unchanged"] == 4
    assert seen.json("sync", env={"KB_READ_OCR": "off"})["unchanged"] == 4


def test_an_image_that_takes_too_long_costs_itself(seen: Kb, tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    put(kb, "chromium.png")
    kb.write("a.md", "# Kept\n\nA text.\n")
    kb("init")
    report = kb.json("add", ".", code=6, env={"KB_READ_OCR_TIMEOUT": "1"})
    assert report["added"] == ["a.md"]
    assert "reading it took more than 1 s" in report["failed"][0]["reason"]
