"""Source code: a section for each function, method and type."""

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from knowbase.read.file import File
from knowbase.read.plain import whole
from knowbase.text.slugs import unique_slugs
from knowbase.values.reading import Reading, Section

if TYPE_CHECKING:
    from knowbase.read.outline import Definition

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
# Further ones, which the extra "code" brings; their definitions are in languages.py.
FURTHER = {
    "rb": "ruby", "rake": "ruby", "php": "php:language_php", "cs": "c_sharp", "swift": "swift",
    "kt": "kotlin", "kts": "kotlin", "scala": "scala", "sc": "scala", "sh": "bash", "bash": "bash",
    "zsh": "bash", "lua": "lua", "hs": "haskell", "ex": "elixir", "exs": "elixir", "jl": "julia",
    "zig": "zig", "sql": "sql", "ml": "ocaml:language_ocaml", "pl": "perl", "pm": "perl",
    "dart": "dart", "m": "objc", "mm": "objc", "groovy": "groovy", "gradle": "groovy",
    "ps1": "powershell", "psm1": "powershell", "f": "fortran", "f90": "fortran", "f95": "fortran",
    "tf": "hcl", "hcl": "hcl",
}  # fmt: skip
_CPLUSPLUS = re.compile(r"^\s*(?:class|namespace|template|using)\b|\w::\w", re.MULTILINE)


def read_code_file(file: File) -> Reading:
    """A source file."""
    return read_code(file.text, file.name, file.extension)


def read_code(text: str, name: str, extension: str) -> Reading:
    """A source file, split at its definitions when its language is known."""
    grammar = grammar_of(extension, text)
    if grammar is None or not text.strip():
        return Reading("code", name, whole(text))
    return Reading("code", name, _sections(text, _definitions(text, grammar)))


def grammar_of(extension: str, text: str) -> str | None:
    """The grammar of a source file; its text says whether a header is C or C++."""
    if extension == "h" and _CPLUSPLUS.search(text):
        return "cpp"
    return GRAMMARS.get(extension) or FURTHER.get(extension)


def _definitions(text: str, grammar: str) -> "list[Definition]":
    """What is defined in it; nothing when its grammar is not installed."""
    source = text.encode("utf-8", "surrogatepass")
    if grammar in GRAMMARS.values():
        from knowbase.read.outline import outline

        return outline(source, grammar)
    from knowbase.read.languages import definitions

    try:
        return definitions(source, grammar)
    except (ImportError, ValueError):  # or is too new for the parser
        return []


def _sections(text: str, found: "list[Definition]") -> tuple[Section, ...]:
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
