"""Source code: a section for each function, method and type."""

import re
from itertools import pairwise

from knowbase.read.file import File
from knowbase.read.plain import whole
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

# Extension to grammar: the package's last name, and its function when it has several.
GRAMMARS = {
    "py": "python", "pyi": "python", "pyw": "python",
    "js": "javascript", "mjs": "javascript", "cjs": "javascript", "jsx": "javascript",
    "ts": "typescript:language_typescript", "mts": "typescript:language_typescript",
    "cts": "typescript:language_typescript", "tsx": "typescript:language_tsx",
    "go": "go", "rs": "rust", "java": "java", "c": "c",
    "cc": "cpp", "cpp": "cpp", "cxx": "cpp", "c++": "cpp",
    "h": "c", "hh": "cpp", "hpp": "cpp", "hxx": "cpp", "ipp": "cpp", "inl": "cpp",
}  # fmt: skip
_CPLUSPLUS = re.compile(r"^\s*(?:class|namespace|template|using)\b|\w::\w", re.MULTILINE)


def read_code_file(file: File) -> Reading:
    """A source file."""
    return read_code(file.text, file.name, file.extension)


def read_code(text: str, name: str, extension: str) -> Reading:
    """A source file, split at its definitions when its language is known."""
    grammar = GRAMMARS.get(extension)
    if grammar is None or not text.strip():
        return Reading("code", name, whole(text))
    if extension == "h" and _CPLUSPLUS.search(text):
        grammar = "cpp"
    return Reading("code", name, _sections(text, grammar))


def _sections(text: str, grammar: str) -> tuple[Section, ...]:
    from knowbase.read.outline import outline

    found = outline(text.encode("utf-8", "surrogatepass"), grammar)
    if not found:
        return whole(text)
    lines = text.split("\n")
    slugs = unique_slugs(definition.name for definition in found)
    rows = [definition.row for definition in found]
    # Blank lines alone are no section: they go with the first definition.
    if not "".join(lines[: rows[0]]).strip():
        rows[0] = 0
    parts = [_join(lines, start, end) for start, end in pairwise([*rows, len(lines)])]
    sections = [
        Section(slug, definition.name, "", part, row + 1)
        for slug, definition, part, row in zip(slugs, found, parts, rows, strict=True)
    ]
    if rows[0]:
        sections.insert(0, Section("_preamble", None, "", _join(lines, 0, rows[0]), 1))
    return tuple(sections)


def _join(lines: list[str], start: int, end: int) -> str:
    """The lines from `start` to before `end`, with the line end that stood after them."""
    return "\n".join(lines[start:end]) + ("\n" if end < len(lines) else "")
