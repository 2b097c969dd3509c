"""Every format that is read: by which names it is known, which reader it has, what it becomes."""

import os
import re
from typing import NamedTuple

from knowbase.read.code import FURTHER, GRAMMARS


class Format(NamedTuple):
    """A kind of file. The table in docs/files.md is made from these."""

    name: str
    extensions: tuple[str, ...]
    type: str  # of the documents that it becomes
    reader: str  # module:function in this package
    becomes: str  # for people
    holds: bool = False  # other files, or several documents


class Unread(NamedTuple):
    """A kind of file that nothing here reads, and what helps."""

    name: str
    extensions: tuple[str, ...]
    hint: str


MARKDOWN = Format(
    "Markdown", ("md", "markdown", "mdown", "mkd", "mkdn", "mdx", "qmd", "rmd"), "markdown",
    "markdown:read_markdown_file",
    "sections at `##` (and further `#`) headings; text before the first is `_preamble`",
)  # fmt: skip
CODE = Format(
    "source code", tuple(sorted({*GRAMMARS, *FURTHER,
        "rb", "php", "cs", "swift", "kt", "kts", "scala", "sc", "sh", "bash", "zsh", "fish", "lua",
        "pl", "pm", "r", "sql", "hs", "lhs", "ml", "mli", "ex", "exs", "erl", "hrl", "clj", "cljs",
        "cljc", "edn", "dart", "zig", "nim", "jl", "m", "mm", "vue", "svelte", "astro", "css",
        "scss", "sass", "less", "fs", "fsx", "vb", "groovy", "gradle", "ps1", "psm1", "bat", "cmd",
        "asm", "s", "d", "v", "sv", "vhd", "vhdl", "f", "f90", "f95", "pas", "el", "lisp", "cl",
        "scm", "rkt", "tcl", "awk", "sed", "coffee", "elm", "cr", "sol", "tf", "hcl", "proto",
        "graphql", "gql", "cmake", "mk", "nix", "dockerfile", "makefile", "cu", "cuh", "glsl",
        "wgsl", "hlsl", "ino",
    })), "code", "code:read_code_file",
    "functions, methods, classes, with their comments and docstrings, in Python, JavaScript,"
    " TypeScript, Go, Rust, Java, C and C++, and with `knowbase[code]` in 21 more; else one"
    " section",
)  # fmt: skip
PLAIN = Format(
    "plain text", ("txt", "text", "log"), "text", "plain:read_plain_file",
    "one section, titled by its first line",
)  # fmt: skip
RST = Format(
    "reStructuredText", ("rst", "rest"), "text", "rst:read_rst",
    "sections by its titles; roles and directives as their text, also those of Sphinx."
    " A `.txt` that is written so, too",
)  # fmt: skip
MANUAL = Format(
    "manual page", ("man", "mdoc"), "text", "roff:read_roff",
    "sections; called as it says under NAME. Also files such as `ls.1` that are written so",
)  # fmt: skip
WIKI = Format(
    "page of MediaWiki", ("mediawiki", "wiki"), "text", "wiki:read_wiki",
    "sections at headings; tables, links, categories as tags; without templates",
)  # fmt: skip
ZIM = Format(
    "page of Zim", ("zim",), "text", "wiki:read_zim",
    "sections at headings; links, date. Also a `.txt` that begins as Zim's do",
)  # fmt: skip
MESSAGE = Format(
    "mail message", ("eml",), "mail", "mail:read_message",
    "subject, sender, receivers, date, text; each attachment that can be read is a document below"
    " it. Also the files of a maildir",
    holds=True,
)  # fmt: skip
MBOX = Format(
    "mailbox", ("mbox", "mbx"), "mail", "mail:read_mbox",
    "a document a message, linked to the message that it answers; attachments below it",
    holds=True,
)  # fmt: skip
WORD = Format(
    "Word file", ("docx", "docm", "dotx"), "office", "word:read_word",
    "sections at headings; lists, tables, footnotes, comments, text boxes, the words of diagrams"
    " and charts; author and keywords",
)  # fmt: skip
SLIDES = Format(
    "presentation", ("pptx", "pptm", "ppsx", "potx"), "office", "slides:read_slides",
    "a section a slide: its title, notes, the words of diagrams and charts; page: its number",
)  # fmt: skip
SHEETS = Format(
    "workbook", ("xlsx", "xlsm", "xltx"), "office", "sheets:read_sheets",
    "rows in groups under the header of their sheet; dates as dates",
)  # fmt: skip
ODT = Format(
    "OpenDocument text", ("odt", "ott", "fodt"), "office", "opendocument:read_text",
    "sections at headings; lists, tables, notes",
)  # fmt: skip
ODS = Format(
    "OpenDocument workbook", ("ods", "ots", "fods"), "office", "opendocument:read_sheets",
    SHEETS.becomes,
)  # fmt: skip
ODP = Format(
    "OpenDocument presentation", ("odp", "otp", "fodp"), "office", "opendocument:read_slides",
    "a section a slide, with its title and notes; page: its number",
)  # fmt: skip
EPUB = Format("book", ("epub",), "book", "epub:read_epub", "chapters; author, subjects, date")
RTF = Format("rich text", ("rtf",), "office", "rtf:read_rtf", "sections at headings; tables")
PDF = Format(
    "PDF", ("pdf",), "pdf", "pdf:read_pdf_file",
    "one a page, with page numbers; with `knowbase[ocr]` also of scanned pages",
)  # fmt: skip
IMAGE = Format(
    "image", ("png", "jpg", "jpeg", "webp", "tif", "tiff", "gif", "bmp"), "image",
    "image:read_image",
    "with `knowbase[ocr]` the text in it, of a TIFF page by page, of a GIF the first frame",
)  # fmt: skip
HTML = Format(
    "web page", ("html", "htm", "xhtml"), "html", "html:read_html_file",
    "its visible text; sections at `<h1>` and `<h2>`",
)  # fmt: skip
SAVED_PAGE = Format(
    "saved web page", ("mhtml", "mht"), "html", "mail:read_saved_page", "as the page that it holds",
)  # fmt: skip
XML = Format(
    "XML", ("xml", "plist", "xsd", "rss", "atom", "opml"), "text", "xml_text:read_xml",
    "an outline: elements, attributes, text",
)  # fmt: skip
_TEXTS = (
    Format(
        "canvas of Obsidian", ("canvas",), "markdown", "canvas:read_canvas",
        "its cards from top to bottom; files that they show as links",
    ),
    Format("Org", ("org",), "text", "org:read_org", "sections at headings; tags, links, date"),
    Format(
        "AsciiDoc", ("adoc", "asciidoc"), "text", "asciidoc:read_asciidoc",
        "sections at headings; text without attributes and macros; links",
    ),
    Format(
        "LaTeX", ("tex", "latex", "ltx"), "text", "latex:read_latex",
        "sections at chapters and sections; formulas as they are written",
    ),
    Format(
        "BibTeX", ("bib",), "reference", "bibliography:read_bib",
        "a document an entry: authors, title, where, when, abstract", holds=True,
    ),
    Format(
        "RIS", ("ris",), "reference", "bibliography:read_ris", "the same", holds=True,
    ),
    Format(
        "export of Evernote", ("enex",), "text", "evernote:read_enex",
        "a document a note: title, text, tags, dates, where it came from", holds=True,
    ),
    Format(
        "table", ("csv", "tsv", "tab", "psv"), "text", "tables:read_table",
        "rows in groups, each under the header",
    ),
    Format(
        "JSON", ("json", "json5", "jsonc", "webmanifest", "geojson"), "text", "data:read_json",
        "split at the upper keys; a list of records as a table",
    ),
    Format(
        "JSON lines", ("jsonl", "ndjson"), "text", "data:read_json_lines",
        "records in groups, as a table where they are flat",
    ),
    Format("YAML", ("yaml", "yml"), "text", "data:read_yaml", "split at the upper keys"),
    Format(
        "TOML, INI", ("toml", "ini", "cfg", "conf", "properties", "editorconfig", "env", "lock"),
        "text", "data:read_toml", "split at the tables",
    ),
    XML,
    Format("drawing", ("svg",), "text", "xml_text:read_svg", "the words in it, nothing else"),
    Format(
        "drawing of draw.io", ("drawio", "dio"), "text", "drawings:read_drawio",
        "the words in it, a section a page",
    ),
    Format(
        "drawing of Excalidraw", ("excalidraw",), "text", "drawings:read_excalidraw",
        "the words in it, from top to bottom",
    ),
    Format(
        "subtitles", ("vtt", "srt"), "text", "subtitles:read_subtitles",
        "a line a cue, with time and speaker; sections of five minutes",
    ),
)  # fmt: skip
NOTEBOOK = Format(
    "notebook", ("ipynb",), "notebook", "notebook:read_notebook",
    "cells with what they print, under the headings above them; no pictures",
)  # fmt: skip

FORMATS = (
    MARKDOWN, PDF, HTML, SAVED_PAGE, CODE, NOTEBOOK, WORD, SLIDES, SHEETS, ODT, ODS, ODP, RTF, EPUB,
    MESSAGE, MBOX, RST, MANUAL, WIKI, ZIM, *_TEXTS, IMAGE, PLAIN,
)  # fmt: skip

UNREAD = (
    Unread("Word file of before 2007", ("doc", "dot"), "save it as .docx"),
    Unread("Excel file of before 2007", ("xls", "xlsb", "xlt"), "save it as .xlsx"),
    Unread("PowerPoint file of before 2007", ("ppt", "pps"), "save it as .pptx"),
    Unread("file of Apple's office", ("pages", "numbers", "key"), "export it as PDF"),
    Unread("message of Outlook", ("msg",), "save it as .eml"),
    Unread("notebook of OneNote", ("one",), "export it as PDF or .docx"),
    Unread("book of Kindle", ("mobi", "azw", "azw3"), "convert it to .epub"),
    Unread("scanned book", ("djvu",), "convert it to PDF"),
    Unread("photo of a phone", ("heic", "heif"), "save it as .jpg"),
    Unread(
        "archive",
        (
            "zip",
            "tar",
            "gz",
            "tgz",
            "bz2",
            "xz",
            "zst",
            "7z",
            "rar",
            "jex",
            "textpack",
        ),
        "unpack it and add the folder",
    ),
)

_BY_EXTENSION = {extension: one for one in FORMATS for extension in one.extensions}
_UNREAD = {extension: one for one in UNREAD for extension in one.extensions}
_CODE_NAMES = frozenset({
    "dockerfile", "containerfile", "makefile", "gnumakefile", "jenkinsfile", "rakefile", "gemfile",
    "vagrantfile", "justfile", "procfile", "brewfile", "podfile", "cmakelists.txt",
})  # fmt: skip
_IN_MAILDIR = re.compile(r"(?:^|[\\/])(?:cur|new)[\\/]\d+\.[^\\/]+$")


def _name(path: str) -> str:
    return os.path.basename(path).lower()


def _extension(path: str) -> str:
    """Without its dot; a name that begins or ends with its only dot has none."""
    name = _name(path)
    at = name.rfind(".")
    return name[at + 1 :] if at > 0 else ""


def format_of(path: str) -> Format:
    """What a file of this name is read as."""
    name = _name(path)
    if name in _CODE_NAMES or name.startswith(("dockerfile.", "makefile.")):
        return CODE
    if _IN_MAILDIR.search(path):
        return MESSAGE
    return _BY_EXTENSION.get(_extension(path), PLAIN)


def unread(path: str) -> Unread | None:
    """What is known of a file of this name that nothing here reads."""
    return _UNREAD.get(_extension(path))


def why_unread(path: str) -> str | None:
    """What is said of a file that nothing here reads; none once something does."""
    found = unread(path)
    return f"{found.name}: {found.hint}" if found is not None else None


def has_name(path: str) -> bool:
    """Whether its name alone says what it is."""
    extension = _extension(path)
    return format_of(path) is not PLAIN or extension in PLAIN.extensions or extension in _UNREAD
