"""Files that are cut off, locked, mislabelled, or made to do harm."""

import io
import random
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import pytest
from test_read_pdf import make_pdf

from conftest import FIXTURES
from knowbase.errors import ReadError
from knowbase.read import read
from knowbase.read.archive import MOST_UNPACKED
from knowbase.read.confined import Reader, ReadLimits
from knowbase.values.reading import Reading

FILES = sorted((FIXTURES / "formats").iterdir())
READER = Reader(ReadLimits(60.0, 1024, 500))
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def archive(members: Mapping[str, str | bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def word(body: str, before: str = "") -> bytes:
    return archive(
        {"word/document.xml": f"{before}<w:document {W}><w:body>{body}</w:body></w:document>"}
    )


def refusal(path: str, data: bytes) -> str:
    with pytest.raises(ReadError) as caught:
        READER.file(path, data)
    return caught.value.message


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_is_cut_off_or_damaged_is_read_or_refused(path: Path) -> None:
    data, name = path.read_bytes(), path.name
    dice = random.Random(name)
    for _ in range(12):
        bad = bytearray(data[: dice.randrange(len(data))] if dice.random() < 0.5 else data)
        for _ in range(dice.randrange(20)):
            if bad:
                bad[dice.randrange(len(bad))] = dice.randrange(256)
        with suppress(ReadError):
            assert isinstance(read(name, bytes(bad)), Reading)


def test_what_is_encrypted_is_said_to_be() -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le")
    for name in ("a.docx", "a.xlsx", "a.pptx"):
        assert "encrypted" in refusal(name, ole)
    locked = bytearray((FIXTURES / "formats" / "pandoc.docx").read_bytes())
    at = locked.index(b"PK\x01\x02")
    locked[at + 8] |= 1
    assert "encrypted" in refusal("a.docx", bytes(locked))
    manifest = "<m><file-entry><encryption-data/></file-entry></m>"
    odt = archive({"META-INF/manifest.xml": manifest, "content.xml": b"\x07\x01"})
    assert "encrypted" in refusal("a.odt", odt)
    drm = "<e><CipherReference URI='c.xhtml'/></e>"
    book = "<p><item id='c' href='c.xhtml'/><itemref idref='c'/></p>"
    epub = archive({"META-INF/encryption.xml": drm, "content.opf": book, "c.xhtml": "x"})
    assert "encrypted" in refusal("a.epub", epub)


def test_a_wrong_name_does_not_matter_when_the_content_is_plain_to_see() -> None:
    docx = (FIXTURES / "formats" / "pandoc.docx").read_bytes()
    for name in ("a.pdf", "a.txt", "a.doc", "a.xlsx", "a.md"):
        reading = READER.file(name, docx)
        assert reading.title == "The Harbour Plan"
        assert reading.warnings == ("its name says otherwise, but it is a Word file",)
    assert READER.file("a.docx", make_pdf(["Hello"])).type == "pdf"
    assert READER.file("a.doc", b"{\\rtf1 Hello}").type == "office"
    for name in ("a.docx", "a.xlsx", "a.pptx", "a.odt", "a.epub", "a.rtf", "a.eml", "a.mbox"):
        assert "cannot be read" in refusal(name, b"just words")
    assert "before 2007" in refusal("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))


def test_an_archive_that_unpacks_without_end_is_refused() -> None:
    bomb = io.BytesIO()
    with (
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as made,
        made.open("word/styles.xml", "w", force_zip64=True) as member,
    ):
        for _ in range((MOST_UNPACKED >> 20) + 1):
            member.write(b" " * (1 << 20))
    assert len(bomb.getvalue()) < 1 << 20
    told = refusal("a.docx", bomb.getvalue())
    assert "unpacks to more than 128 MB" in told or "memory" in told


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.docx", word("<w:p><w:r><w:t>&a;</w:t></w:r></w:p>",
                        '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>')),
        ("a.xml", b'<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>'),
        ("a.svg", b'<!DOCTYPE x [<!ENTITY a "ha">]><svg><text>&a;</text></svg>'),
    ],
)  # fmt: skip
def test_entities_are_not_followed(name: str, data: bytes) -> None:
    assert "entities" in refusal(name, data)


def test_an_encoding_that_nobody_knows_is_damage() -> None:
    data = word("", '<?xml version="1.0" encoding="UT-8"?>')
    assert "damaged" in refusal("a.docx", data)


def test_elements_that_nest_without_end_are_refused() -> None:
    deep = "<w:p>" * 5000 + "</w:p>" * 5000
    assert "deep" in refusal("a.docx", word(deep))
    assert "deep" in refusal("a.xml", b"<a>" * 5000 + b"</a>" * 5000)
    READER.file("a.json", b"[" * 100_000)
    assert "deep" in refusal("a.rtf", b"{\\rtf1" + b"{" * 50_000)


def test_ten_thousand_sheets_are_read_as_far_as_they_may_be() -> None:
    sheets = "".join(f'<sheet name="S{n}" r:id="r{n}"/>' for n in range(10_000))
    relation = '<Relationship Id="r{0}" Type="x/worksheet" Target="worksheets/s.xml"/>'
    row = (
        '<row r="1"><c r="A1" t="inlineStr"><is><t>salt</t></is></c><c r="XFD1"><v>1</v></c></row>'
    )
    data = archive({
        "xl/workbook.xml": f'<workbook xmlns:r="r"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels":
            "<r>" + "".join(relation.format(n) for n in range(10_000)) + "</r>",
        "xl/worksheets/s.xml": f"<worksheet><sheetData>{row}</sheetData></worksheet>",
    })  # fmt: skip
    reading = READER.file("a.xlsx", data)
    assert len(reading.sections) == 500
    assert any("of 10,000 sheets" in warning for warning in reading.warnings)


def test_rows_that_repeat_without_end_are_not_all_made() -> None:
    cell = '<table-cell number-columns-repeated="16384"><p>x</p></table-cell>'
    row = f'<table-row number-rows-repeated="1048576">{cell}</table-row>'
    data = archive({"content.xml": f'<c><table name="T">{row * 50}</table></c>'})
    assert READER.file("a.ods", data).warnings


def test_messages_in_messages_end_somewhere() -> None:
    inner = b"Subject: inmost\nFrom: a@b\n\nhello\n"
    for number in range(30):
        edge = b"X%03d" % number
        head = b"Subject: outer\nFrom: a@b\nContent-Type: multipart/mixed; boundary=%s\n\n" % edge
        inner = head + b"--%s\nContent-Type: message/rfc822\n\n" % edge + inner
        inner += b"\n--%s--\n" % edge
    reading = READER.file("a.eml", inner)
    depth = 0
    while reading.parts:
        reading, depth = reading.parts[0].reading, depth + 1
    assert depth == 3
