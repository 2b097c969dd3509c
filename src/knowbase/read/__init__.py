"""Readers: from a file's bytes to a title, sections, tags and links. They do no I/O."""

from pathlib import PurePath

from knowbase.read.code import GRAMMARS, read_code
from knowbase.read.decode import BinaryFile, decode
from knowbase.values.reading import Reading

__all__ = ["BinaryFile", "read", "type_of"]

_MARKDOWN = frozenset({"md", "markdown", "mdown", "mkd", "mkdn", "mdx", "qmd", "rmd"})
_HTML = frozenset({"html", "htm", "xhtml"})
_SETTINGS = frozenset({
    "yaml", "yml", "json", "jsonl", "json5", "jsonc", "toml", "ini", "cfg", "conf", "env",
    "properties", "editorconfig", "xml", "ipynb", "plist", "lock",
})  # fmt: skip
_CODE = frozenset(GRAMMARS) | {
    "rb", "php", "cs", "swift", "kt", "kts", "scala", "sc", "sh", "bash", "zsh", "fish", "lua",
    "pl", "pm", "r", "sql", "hs", "lhs", "ml", "mli", "ex", "exs", "erl", "hrl", "clj", "cljs",
    "cljc", "edn", "dart", "zig", "nim", "jl", "m", "mm", "vue", "svelte", "astro", "css", "scss",
    "sass", "less", "fs", "fsx", "vb", "groovy", "gradle", "ps1", "psm1", "bat", "cmd", "asm", "s",
    "d", "v", "sv", "vhd", "vhdl", "f", "f90", "f95", "pas", "el", "lisp", "cl", "scm", "rkt",
    "tcl", "awk", "sed", "coffee", "elm", "cr", "sol", "tf", "hcl", "proto", "graphql", "gql",
    "cmake", "mk", "nix", "dockerfile", "makefile", "cu", "cuh", "glsl", "wgsl", "hlsl", "ino",
}  # fmt: skip
_CODE_NAMES = frozenset({
    "dockerfile", "containerfile", "makefile", "gnumakefile", "jenkinsfile", "rakefile", "gemfile",
    "vagrantfile", "justfile", "procfile", "brewfile", "podfile", "cmakelists.txt",
})  # fmt: skip


def read(path: str, data: bytes, most: int | None = None) -> Reading:
    """What the file at `path` with the content `data` says; ReadError when that is nothing.
    With `most`, no more headings than it takes to have that many sections.
    """
    pure = PurePath(path)
    kind = type_of(path)
    if kind == "pdf":
        from knowbase.read.pdf import read_pdf

        return read_pdf(data, pure.stem)
    return _read_text(decode(data), kind, pure, most)


def type_of(path: str) -> str:
    """The type of document that a file of this name is read as."""
    pure = PurePath(path)
    extension = _extension(pure)
    if extension == "pdf":
        return "pdf"
    if extension in _MARKDOWN or extension == "canvas":
        return "markdown"
    if extension in _HTML:
        return "html"
    return "code" if extension in _CODE or _is_code_name(pure.name) else "text"


def _read_text(text: str, kind: str, path: PurePath, most: int | None) -> Reading:
    extension = _extension(path)
    if extension == "canvas":
        from knowbase.read.canvas import read_canvas

        return read_canvas(text, path.stem, most)
    if kind == "markdown":
        from knowbase.read.markdown import read_markdown

        return read_markdown(text, path.stem, most, mdx=extension == "mdx")
    if kind == "html":
        from knowbase.read.html import read_html

        return read_html(text, path.stem)
    if kind == "code":
        return read_code(text, path.name, extension)

    from knowbase.read.plain import read_plain, read_whole

    if extension in _SETTINGS:
        return read_whole(text, "text", path.name)
    return read_plain(text, path.stem)


def _extension(path: PurePath) -> str:
    return path.suffix[1:].lower()


def _is_code_name(name: str) -> bool:
    lower = name.lower()
    return lower in _CODE_NAMES or lower.startswith(("dockerfile.", "makefile."))
