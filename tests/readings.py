"""What readers make of the small files of every format."""

from conftest import FIXTURES
from knowbase.read import read
from knowbase.values.reading import Reading

FILES = FIXTURES / "formats"


def from_file(name: str) -> Reading:
    return read(name, (FILES / name).read_bytes())


def text_of(reading: Reading) -> str:
    return "".join(section.header + section.text for section in reading.sections)


def headings(reading: Reading) -> list[str | None]:
    return [section.heading for section in reading.sections if section.heading]
