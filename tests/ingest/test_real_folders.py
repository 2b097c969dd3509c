"""What real collections hold, put in together: each is found by its words, under its name."""

import io
import zipfile

import pytest

from conftest import Kb
from knowbase import Base, SearchRequest
from knowbase.read import read

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RUSSIAN, CZECH, JAPANESE = "Уважаемый клиент", "Svitky od Mrtvého moře", "古書店で処刑記録"


def archive(members: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for name, content in members.items():
            made.writestr(name, content)
    return file.getvalue()


def coded(text: str, codec: str) -> str:
    return "".join(f"\\'{byte:02x}" for byte in text.encode(codec))


def rich_text() -> bytes:
    """As WordPad and Word write it: bytes, each in the encoding of its font."""
    fonts = (
        r"{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}"
        r"{\f2\fcharset238 Arial;}{\f3\fcharset128 MS Gothic;}}"
    )
    texts = ((1, RUSSIAN, "cp1251"), (2, CZECH, "cp1250"), (3, JAPANESE, "cp932"))
    told = "".join(rf"{{\f{font} {coded(text, codec)}}}\par " for font, text, codec in texts)
    shape = r"{\shp{\*\shpinst{\sp{\sn shapeType}{\sv 202}}{\shptxt \pard in a box\par}}}"
    picture = rb"{\pict\bin6 }}}abc}"
    cells = r"\pard\intbl Station\cell Harbour\cell "
    head = rf"{{\rtf1\ansi\ansicpg1252\deff0{fonts}{{\info{{\title  }}}}"
    return head.encode() + picture + (told + shape + "{\\i0\\*\\cs7 kept\\par}" + cells).encode()


def relation(kind: str, target: str) -> str:
    return f'<Relationship Id="{target}" Type="{RELATIONS}/{kind}" Target="{target}"/>'


def word_file() -> bytes:
    """A text box, a comment, a diagram, a chart and a page that was inserted."""
    box = "<w:txbxContent><w:p><w:r><w:t>boxed words</w:t></w:r></w:p></w:txbxContent>"
    body = f"<w:p><w:r>{box}</w:r><w:r><w:t>after it</w:t></w:r></w:p>"
    parts = relation("diagramData", "data1.xml") + relation("chart", "chart1.xml")
    return archive({
        "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels":
            f"<Relationships>{parts}{relation('aFChunk', 'page.html')}</Relationships>",
        "word/data1.xml": f"<m {A}><a:p><a:r><a:t>President</a:t></a:r></a:p></m>",
        "word/chart1.xml": f"<c {A}><a:p><a:t>Peaches</a:t></a:p><cat><v>January</v></cat></c>",
        "word/page.html": "<p>an inserted page</p>",
        "word/comments.xml":
            f'<w:comments {W}><w:comment w:id="0"><w:p><w:r><w:t>why so many?</w:t></w:r></w:p>'
            "</w:comment></w:comments>",
    })  # fmt: skip


def slides() -> bytes:
    slide = f"<s {A}><sp><p><r><t>soft­hyphenated</t></r></p></sp></s>"
    return archive({
        "ppt/presentation.xml": '<p><sldId id="slides/slide1.xml"/></p>',
        "ppt/_rels/presentation.xml.rels":
            f"<Relationships>{relation('slide', 'slides/slide1.xml')}</Relationships>",
        "ppt/slides/slide1.xml": slide,
        "docProps/core.xml": "<c><title>Slide 1</title></c>",
    })  # fmt: skip


SAVED_PAGE = (
    "From: <Saved by Blink>\nSubject: Aperture\nMIME-Version: 1.0\n"
    'Content-Type: multipart/related; boundary="x"\n\n--x\nContent-Type: text/html\n\n'
    "<html><head><title>Aperture Framework</title></head><body><h2>News</h2>"
    "<p>crawled metadata</p></body></html>\n--x--\n"
)
MESSAGE = "x-store-info:J++/JTC\nFrom: a@example.com\nSubject: A plain header\n\nDear Vladimir\n"
FOLDER: dict[str, bytes] = {
    "letter.rtf": rich_text(),
    "plan.docx": word_file(),
    "talk.pptx": slides(),
    "page.mhtml": SAVED_PAGE.encode(),
    "mail.eml": MESSAGE.encode(),
    "event-hooks.md": b"Register a hook that is called each time.\n",
    "pages/Whiteboard___Tool___Connector.md": b"- Draws an arrow\n",
    "pages/New to Logseq%3F.md": b"- Start here\n",
    "journals/2021_03_26.md": b"- met Ana\n",
    "notes/_index.md": b"what lies here\n",
    "pages/Org Mode.org": b"* {{embed ((60ab4582-5a6e-4f3a-84a2-71ae056455a0))}}\n* Code\nx\n",
    "layout.html": b"<title>{{ docstitle }}</title>{% block b %}<p>the sidebar</p>{% endblock %}",
    "requirements.txt": b"# We pin our tools.\nruff==1.0\n",
    "NOTICE": b"=======\nCopyright\n=======\nwords\n",
    "old.doc": b'<?xml version="1.0"?>\n<doc><p>a word in XML</p></doc>\n',
}
FOUND = [
    ("клиент", "letter.rtf", "letter"), ("moře", "letter.rtf", "letter"),
    ("処刑記録", "letter.rtf", "letter"), ("boxed", "plan.docx", "plan"),
    ("president", "plan.docx", "plan"), ("peaches", "plan.docx", "plan"),
    ("inserted", "plan.docx", "plan"), ('"why so many"', "plan.docx", "plan"),
    ("softhyphenated", "talk.pptx", "talk"), ("crawled", "page.mhtml", "Aperture Framework"),
    ("Vladimir", "mail.eml", "A plain header"), ("hook", "event-hooks.md", "Event hooks"),
    ("arrow", "pages/Whiteboard___Tool___Connector.md", "Whiteboard/Tool/Connector"),
    ("start", "pages/New to Logseq%3F.md", "New to Logseq?"),
    ("Ana", "journals/2021_03_26.md", "2021-03-26"), ("lies", "notes/_index.md", "notes"),
    ("ruff", "requirements.txt", "We pin our tools."), ("copyright", "NOTICE", "Copyright"),
    ("xml", "old.doc", "old.doc"), ("sidebar", "layout.html", "layout"),
]  # fmt: skip


def test_what_real_folders_hold_is_found_under_its_name(kb: Kb) -> None:
    for name, data in FOLDER.items():
        (kb.folder / name).parent.mkdir(exist_ok=True)
        (kb.folder / name).write_bytes(data)
    with Base(str(kb.base)) as base:
        report = base.add([str(kb.folder)], defer=True)
        assert (len(report.added), report.failed, report.skipped) == (len(FOLDER), (), ())
        for query, path, title in FOUND:
            hits = base.search(SearchRequest(query, mode="keyword")).hits
            assert (hits[0].document.path, hits[0].document.title) == (path, title), query


def test_rich_text_shows_nothing_but_text() -> None:
    reading = read("letter.rtf", rich_text())
    lines = "".join(section.text for section in reading.sections).split("\n\n")
    assert [line for line in lines if line] == [
        RUSSIAN, CZECH, JAPANESE, "in a box", "kept", "Station | Harbour"
    ]  # fmt: skip


def test_what_stands_in_other_parts_of_an_office_file_is_text() -> None:
    told = read("plan.docx", word_file()).sections[0].text
    assert [line for line in told.split("\n") if line] == [
        "boxed words", "after it", "- President", "Chart: Peaches, January", "an inserted page",
        "Comment: why so many?",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("sheet4.xls", b"\t\x08\0\0\x10\0" * 40, "Excel file of before 2007: save it as .xlsx"),
        ("notes.one", b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d\0", "notebook of OneNote"),
    ],
)
def test_a_kind_that_nothing_reads_is_named_whatever_it_begins_with(
    kb: Kb, name: str, data: bytes, reason: str
) -> None:
    (kb.folder / name).write_bytes(data)
    ran = kb("add", name, code=6)
    assert reason in ran.out + ran.err


def test_a_drawing_is_its_words_however_large_it_is(kb: Kb) -> None:
    path = f'<path d="{"1.5 2.5 " * 4000}"/>'
    kb.write("images/flow.svg", f"<svg>{path}<text>Ingress controller</text></svg>")
    kb.write("images/arrow.svg", f"<svg>{path}</svg>")
    kb.write("ui/__snapshots__/menu.snap", "// Jest Snapshot v1\n")
    with Base(str(kb.base)) as base:
        report = base.add([str(kb.folder)], defer=True)
        assert {one.path: one.reason for one in report.skipped} == {
            "images/arrow.svg": "no text in it",
            "ui/__snapshots__/menu.snap": "generated",
        }
        assert base.search(SearchRequest("ingress", mode="keyword")).returned == 1
