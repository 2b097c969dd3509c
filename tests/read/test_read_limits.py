"""What reading one file may take and give."""

import zlib
from pathlib import Path

import pytest
from test_read_pdf import assemble, make_pdf

from conftest import FIXTURES
from knowbase.errors import ReadError
from knowbase.read import read
from knowbase.read.confined import LONGEST_NAME, MOST_LINKS, MOST_TAGS, Reader, ReadLimits
from knowbase.read.decode import BinaryFile
from knowbase.read.markdown import read_markdown
from knowbase.values.reading import Reading

READER = Reader(ReadLimits(60.0, 1024, 500))
MEGABYTES = 2_000_000


def outcome(read_it: object, path: str, data: bytes) -> object:
    try:
        return read_it(path, data)  # type: ignore[operator]
    except ReadError as error:
        return type(error), error.as_dict()


def test_the_process_says_what_the_reader_says() -> None:
    paths = [path for path in sorted(FIXTURES.glob("handbook/**/*")) if path.is_file()]
    files = [(str(path), path.read_bytes()) for path in [*paths, Path(__file__)]]
    odd = "---\ntags: [a, b]\nwhen: 2024-02-30\nat: 1:30\nn: {a: [1, ~, .nan]}\n---\n# \ud800"
    files += [("a.pdf", make_pdf(["Hello"])), ("b.bin", b"\0\1"), ("c.pdf", b"%PDF-")]
    files += [("d.md", odd.encode("utf-8", "replace")), ("e.md", b"---\nconfidence: 7\n---\nx")]
    assert len(files) > 40
    for path, data in files:
        assert outcome(READER.file, path, data) == outcome(read, path, data)
    assert outcome(READER.file, "b.bin", b"\0\1")[0] is BinaryFile  # type: ignore[index]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "---\nx: 1" + ":1" * 90_000 + "\n---\nbody\n"),
        ("a.md", "---\nx: !!int 1" + ":1" * 90_000 + "\n---\nbody\n"),
        ("a.md", "---\nx: 1" + ":1" * MEGABYTES + "\n---\nbody\n"),
        ("a.md", "---\nx: " + "9" * 100_000 + "\n---\nbody\n"),
        ("a.html", "<p>body" + "<svg>" * 50_000 + "</template>" * 50_000),
        ("a.html", "<svg><template>" * 40_000 + "</svg>" * 40_000 + "<p>body"),
        ("a.cpp", "class body" + "<a" * 20_000 + ">" * 20_000 + " {};"),
        ("a.java", "class body" + "<a" * 20_000 + ">" * 20_000 + " {}"),
        ("a.js", "/**/" * 60_000 + "function body(){}"),
    ],
    ids=lambda value: value[:24] if len(value) > 8 else None,
)
def test_what_took_time_with_the_square_of_its_length_is_read(path: str, text: str) -> None:
    reading = READER.file(path, text.encode())
    assert "body" in "".join(section.text for section in reading.sections)


def test_what_looks_like_a_time_or_a_date_is_no_number_and_spoils_nothing() -> None:
    text = "---\nat: 1:30\nlong: 12:30:45\nwhen: 2024-99-99\nhuge: 1e999\nn: 12\nf: 1.5\n---\nx"
    assert read_markdown(text, "").value("metadata") == {
        "at": "1:30", "long": "12:30:45", "when": "2024-99-99", "huge": "1e999", "n": 12, "f": 1.5,
    }  # fmt: skip


def test_generics_are_left_out_of_names_however_they_nest() -> None:
    def name(declared: str) -> str | None:
        return read("a.cpp", f"{declared} {{}};".encode()).sections[0].heading

    assert name("template<> class A<B<C>, D>") == "A"
    assert name("struct a::b<c>::d") == "a.b.d"


def test_a_file_that_overstays_or_needs_too_much_is_one_error() -> None:
    slow = Reader(ReadLimits(2.0, 1024))
    with pytest.raises(ReadError, match=r"^reading it took more than 2\.2 s$") as error:
        slow.file("a.md", b"[" * 100_000)
    assert error.value.hint == "raise read.timeout, then kb sync --verify"
    assert slow.file("a.md", b"# Next").title == "Next"


def bomb() -> bytes:
    """A small PDF with a page of very many letters."""
    stream = b"BT /F1 1 Tf 0 0 Td " + b"(letters ) Tj " * 200_000 + b"ET"
    packed = zlib.compress(stream, 9).decode("latin-1")
    pdf = make_pdf(["x"]).decode("latin-1")
    objects = [part.split("obj\n", 1)[1] for part in pdf.split("\nendobj\n")[:-1]]
    objects[4] = f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream"
    return assemble(objects, "").decode().encode("latin-1")


def test_a_small_pdf_that_would_fill_the_memory_is_one_error() -> None:
    data = bomb()
    assert len(data) < 100_000
    reader = Reader(ReadLimits(60.0, 256))
    with pytest.raises(ReadError, match=r"^reading it needs more than 256 MB of memory$"):
        reader.file("a.pdf", data)
    assert reader.file("a.pdf", make_pdf(["Hello"])).sections[0].text == "Hello\n"


@pytest.mark.parametrize(
    ("path", "part"), [("a.md", "## h\n"), ("a.html", "<h2>h</h2>x"), ("a.py", "def f(): pass\n")]
)
def test_a_file_of_too_many_parts_is_cut_and_says_so(path: str, part: str) -> None:
    reading = READER.file(path, (part * 5_000).encode())
    assert len(reading.sections) == 500
    assert "only its first 500 chunks are stored" in reading.warnings[-1]
    assert READER.file(path, (part * 400).encode()).warnings == ()


def test_a_million_headings_fit_into_the_memory() -> None:
    reading = READER.file("a.md", b"## h\n" * 1_000_000)
    assert len(reading.sections) == 500
    assert len(reading.warnings) == 2


def test_titles_headings_links_and_tags_have_a_length_that_can_be_stored() -> None:
    text = "# " + "t" * 9_000 + "\n\n## " + "h" * 9_000 + "\n\nx\n\n## " + "h" * 9_000 + "\n\ny\n"
    reading = READER.file("a.md", text.encode())
    assert len(reading.title) == LONGEST_NAME
    assert {len(section.heading or "") for section in reading.sections[1:]} == {LONGEST_NAME}
    assert len({section.slug for section in reading.sections}) == 3
    assert "".join(section.header + section.text for section in reading.sections) == text
    many = "".join(f"#t{number} [[b{number}]] " for number in range(MOST_LINKS + 1))
    reading = READER.file("a.md", many.encode())
    assert (len(reading.links), len(reading.tags)) == (MOST_LINKS, MOST_TAGS)
    assert len(reading.warnings) == 2


def test_notes_are_read_alike_wherever_they_are_read() -> None:
    def again(text: str) -> Reading:
        return read_markdown(text, "")

    short, long = "# Short\n\n#tag [[link]]\n", "# Long\n\n#tag [[link]]\n\n" + "word " * 2_000
    for text in (short, long):
        assert READER.note(text) == again(text)
    with pytest.raises(ReadError, match="the text is too long"):
        READER.note("## h\n" * 2_000)


def test_a_short_note_that_takes_long_is_read_in_the_process() -> None:
    columns = "|a" * 100 + "|\n" + "|-" * 100 + "|\n"
    with pytest.raises(ReadError, match="took more than"):
        Reader(ReadLimits(0.01, 1024)).note(columns + "|\n" * 700)
