"""The PDF reader."""

import threading
from collections.abc import Sequence

import pytest

from knowbase.errors import ReadError
from knowbase.read import read
from knowbase.values.reading import Section


def make_pdf(pages: Sequence[str], title: str = "", trailer: str = "") -> bytes:
    """A PDF with one line of text a page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    objects.append(f"<< /Title ({title}) >>")
    return assemble(objects, trailer)


def assemble(objects: list[str], trailer: str) -> bytes:
    data = b"%PDF-1.4\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n".encode()
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    end = (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R {trailer} >>\n"
    )
    return data + f"{end}startxref\n{start}\n%%EOF\n".encode()


def test_each_page_with_text_is_a_section() -> None:
    reading = read("a/Report.PDF", make_pdf(["Hello there", "", "The end"], "Annual report"))
    assert (reading.type, reading.title) == ("pdf", "Annual report")
    assert reading.sections == (
        Section("page-1", "Page 1", "", "Hello there\n", 1, 1),
        Section("page-3", "Page 3", "", "The end\n", 1, 3),
    )


@pytest.mark.parametrize(
    "title", ["", "untitled", "Microsoft Word - x.doc", "report.indd", "Scan_001"]
)
def test_a_title_that_says_nothing_gives_way_to_the_file_name(title: str) -> None:
    assert read("a/Report.pdf", make_pdf(["x"], title)).title == "Report"


@pytest.mark.parametrize("title", ["Scanning electron microscopy", "Documents of 1848"])
def test_a_title_that_only_begins_like_an_empty_one_is_kept(title: str) -> None:
    assert read("a/Report.pdf", make_pdf(["x"], title)).title == title


def test_a_pdf_without_text_needs_ocr() -> None:
    with pytest.raises(ReadError, match="OCR"):
        read("x.pdf", make_pdf(["", ""]))


def test_an_encrypted_pdf_is_refused_with_the_reason() -> None:
    key = "0" * 64
    encrypt = f"/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <{key}> /U <{key}> >>"
    with pytest.raises(ReadError, match="encrypted"):
        read("x.pdf", make_pdf(["x"], trailer=f"{encrypt} /ID [<00> <00>]"))


@pytest.mark.parametrize("data", [b"%PDF-1.4\n", b"no pdf at all", make_pdf(["x"])[:100]])
def test_a_broken_pdf_is_refused_with_the_reason(data: bytes) -> None:
    with pytest.raises(ReadError, match="damaged"):
        read("x.pdf", data)


def test_pdfs_can_be_read_from_several_threads() -> None:
    data = make_pdf(["Hello"] * 20)
    counts: list[int] = []
    threads = [
        threading.Thread(target=lambda: counts.append(len(read("x.pdf", data).sections)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == [20] * 8


def test_what_a_pdf_says_of_itself_is_kept() -> None:
    data = make_pdf(["Hello"], "A plan) /Author (Ana Lindqvist) /Subject (Harbours")
    reading = read("x.pdf", data)
    assert (reading.title, reading.value("metadata")) == (
        "A plan", {"author": "Ana Lindqvist", "subject": "Harbours"},
    )  # fmt: skip


def test_letters_that_are_printed_as_one_are_letters() -> None:
    from knowbase.read.pdf import _tidy

    told = "Web Tra\x0ec, a justi\x0ccation,\r\na\row; ﬁle and oﬃce\x0c\r\n\x02end"
    assert _tidy(told) == "Web Traffic, a justification,\naflow; file and office\nend\n"


def test_a_title_shows_no_markup_and_a_name_is_said_as_a_person_would() -> None:
    data = make_pdf(["x"], 'The problem: <Emphasis Type="Italic">untraceability</Emphasis>')
    assert read("a.pdf", data).title == "The problem: untraceability"
    assert read("a/paxos-made-simple.pdf", make_pdf(["x"])).title == "Paxos made simple"
