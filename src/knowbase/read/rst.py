"""reStructuredText, by docutils: sections, text without its markup, and what only Sphinx knows."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from knowbase.read.blocks import Block, item, reading_of, row
from knowbase.read.file import File
from knowbase.read.links import document_link
from knowbase.read.plain import read_plain
from knowbase.values.reading import Link, Reading

_DIRECTIVE = re.compile(r"(?m)^ {0,8}\.\. (?:_[^:\n]+:|\|[^|\n]+\| |[\w:+-]+::)")
_UNDERLINE = re.compile(r"(?m)^\S.*\n([=\-~^\"'*+#`.:_])\1{2,}[ \t]*$")
_ROLE = re.compile(r":[a-z:]+:`[^`\n]+`|``[^`\n]+``|`[^`\n]+`__?\b")
_FRAMED = re.compile(r"(?m)^([=*#~-])\1{2,}[ \t]*\n ?\S.*\n\1{3,}[ \t]*$")
_TARGET = re.compile(r"(?s)(.*?)\s*<([^<>]+)>\s*$")
_CODE = frozenset({
    "code-block", "sourcecode", "literalinclude", "prompt", "console", "doctest", "testcode",
    "testoutput", "productionlist", "ipython", "graphviz", "mermaid", "digraph", "command-output",
})  # fmt: skip
_NOTHING = frozenset({
    "index", "currentmodule", "module", "highlight", "contents", "default-domain", "tabularcolumns",
    "automodule", "autosummary", "sectionauthor", "codeauthor", "meta", "role", "default-role",
    "container-end", "program",
})  # fmt: skip


def looks_like_rst(text: str) -> bool:
    """Whether a plain text is one: it has its directives, and underlined titles or roles."""
    sample = text[:65536]
    if not _UNDERLINE.search(sample):
        return False
    marks = (_DIRECTIVE, _ROLE, _FRAMED)
    return any(mark.search(sample) for mark in marks)


def read_rst(file: File) -> Reading:
    """A reStructuredText."""
    links: list[Link] = []
    try:
        with _lenient(links):
            document = _parsed(file.text)
            blocks = list(_blocks(document, 0, 0))
            links += _references(document)
    except Exception as error:  # docutils gives up on some texts; their words are still there
        told = f"it cannot be parsed ({type(error).__name__}); read as plain text"
        return read_plain(file.text, file.stem)._replace(warnings=(told,))
    metadata = _fields(document)
    reading = reading_of("text", blocks, None, file.stem)
    stated = {"metadata": metadata} if metadata else {}
    return reading._replace(stated=stated, links=tuple(dict.fromkeys(links)))


def _references(document: Any) -> Iterator[Link]:
    from docutils import nodes

    for one in document.findall(nodes.reference):
        if link := document_link(str(one.get("refuri", ""))):
            yield link


def _parsed(text: str) -> Any:
    from docutils.core import publish_doctree

    settings = {
        "report_level": 5,
        "halt_level": 6,
        "warning_stream": False,
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "doctitle_xform": False,
        "docinfo_xform": False,
        "syntax_highlight": "none",
        "line_length_limit": 10_000_000,
        "_disable_config": True,
    }
    return publish_doctree(text, settings_overrides=settings)


@contextmanager
def _lenient(links: list[Link]) -> Iterator[None]:
    """Roles and directives that nobody has told docutils of keep their text."""
    from docutils.parsers.rst import directives, roles

    known_directive, known_role = directives.directive, roles.role

    def directive(name: str, language: Any, document: Any) -> Any:
        found, messages = known_directive(name, language, document)
        usable = found is not None and name not in _NOTHING and name not in _CODE
        return (found, messages) if usable else (_directive(links), [])

    def role(name: str, language: Any, line: int, reporter: Any) -> Any:
        found, messages = known_role(name, language, line, reporter)
        return (found, messages) if found is not None else (_role(links), [])

    patched: Any = (directives, roles)
    patched[0].directive, patched[1].role = directive, role
    try:
        yield
    finally:
        patched[0].directive, patched[1].role = known_directive, known_role


def _role(links: list[Link]) -> Any:
    from docutils import nodes, utils

    def role(name: str, raw: str, text: str, *_: Any, **__: Any) -> Any:
        shown, target = utils.unescape(text), ""
        if match := _TARGET.fullmatch(shown):
            shown, target = match[1], match[2]
        kind = name.rpartition(":")[2]
        if kind in ("doc", "download") and (link := document_link(target or shown)):
            links.append(link)
        if shown.startswith("~"):
            shown = shown.rpartition(".")[2]
        return [nodes.inline(raw, shown.lstrip("!"))], []

    return role


class _AnyOption(dict[str, Any]):
    """Whatever options a directive has, they are taken as they are."""

    def __missing__(self, name: str) -> Any:
        return lambda value: value


def _directive(links: list[Link]) -> Any:
    """A directive's argument and content, as text or as code."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class Unknown(Directive):
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = _AnyOption(_=str)

        def run(self) -> Any:
            if self.name in _NOTHING:
                return []
            if self.name in _CODE:
                text = "\n".join(self.content)
                return [nodes.literal_block(text, text)] if text else []
            if self.name.endswith("toctree"):
                return self._listed()
            return self._told()

        def _listed(self) -> Any:
            for line in self.content:
                match = _TARGET.fullmatch(line)
                link = document_link(match[2] if match else line)
                if link and "*" not in link.target and link.target != "self":
                    links.append(link)
            return []

        def _told(self) -> Any:
            told: Any = []
            if self.arguments:
                text, messages = self.state.inline_text(self.arguments[0], self.lineno)
                told.append(nodes.paragraph(self.arguments[0], "", *text, *messages))
            inner = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, inner)
            return [*told, *inner.children]

    return Unknown


@cache
def _kinds() -> tuple[Any, Any]:
    """What is not shown, and what stands under a word of its own ("Warning:")."""
    from docutils import nodes

    unseen = (
        nodes.comment, nodes.target, nodes.substitution_definition, nodes.system_message,
        nodes.raw, nodes.meta, nodes.pending, nodes.problematic, nodes.decoration, nodes.docinfo,
    )  # fmt: skip
    return unseen, nodes.Admonition


def _blocks(node: Any, level: int, depth: int) -> Iterator[Block]:
    """What a person reads below a node."""
    from docutils import nodes

    unseen, _ = _kinds()
    for child in node.children:
        if isinstance(child, unseen):
            continue
        if isinstance(child, nodes.section):
            yield from _blocks(child, level + 1, 0)
        elif isinstance(child, nodes.title):
            yield Block(_line(child), _title_line(child), max(level, 1))
        else:
            yield from _below(child, level, depth)


def _below(node: Any, level: int, depth: int) -> Iterator[Block]:
    """The blocks of one node that is no section."""
    from docutils import nodes

    if isinstance(node, (nodes.bullet_list, nodes.enumerated_list)):
        yield from _list(node, level, depth)
    elif isinstance(node, (nodes.definition_list, nodes.option_list, nodes.field_list)):
        yield from _pairs(node, level, depth)
    elif isinstance(node, _kinds()[1]):
        yield from _named(node, level, depth)
    elif (text := _whole(node)) is not None:
        if text.strip():
            yield Block(text, node.line or 1)
    elif isinstance(node, nodes.row):
        yield row([_line(cell) for cell in node.children], node.line or 1)
    else:
        yield from _blocks(node, level, depth)


def _whole(node: Any) -> str | None:
    """The text of a node that has no blocks in it; none for others."""
    from docutils import nodes

    if isinstance(node, (nodes.literal_block, nodes.doctest_block, nodes.math_block)):
        return str(node.astext())
    if isinstance(node, nodes.line_block):
        return "\n".join(_lines(node))
    if isinstance(node, nodes.image):
        return str(node.get("alt", ""))
    return _line(node) if isinstance(node, (nodes.TextElement, nodes.Text)) else None


def _title_line(title: Any) -> int:
    """The parser gives the line of what underlines it."""
    return max(1, (title.line or title.parent.line or 2) - 1)


def _line(node: Any) -> str:
    return " ".join(node.astext().split())


def _lines(block: Any) -> Iterator[str]:
    from docutils import nodes

    for child in block.children:
        if isinstance(child, nodes.line_block):
            yield from ("  " + line for line in _lines(child))
        else:
            yield _line(child)


def _list(node: Any, level: int, depth: int) -> Iterator[Block]:
    from docutils import nodes

    is_numbered = isinstance(node, nodes.enumerated_list)
    for number, entry in enumerate(node.children, node.get("start", 1)):
        blocks = list(_blocks(entry, level, depth + 1))
        mark = f"{number}." if is_numbered else "-"
        if blocks and not blocks[0].tight:
            yield item(blocks[0].text, depth, mark, blocks[0].line)
            blocks = blocks[1:]
        yield from blocks


def _pairs(node: Any, level: int, depth: int) -> Iterator[Block]:
    """Terms, options or fields, each with what is said of it."""
    for entry in node.children:
        names = [_line(part) for part in entry.children[:-1]]
        blocks = list(_blocks(entry.children[-1], level, depth + 1)) if entry.children else []
        name = " ".join(name for name in names if name)
        if blocks and not blocks[0].tight and not blocks[0].level:
            yield Block(f"{name}: {blocks[0].text}", entry.line or blocks[0].line)
            blocks = blocks[1:]
        elif name:
            yield Block(name, entry.line or 1)
        yield from blocks


def _named(node: Any, level: int, depth: int) -> Iterator[Block]:
    blocks = list(_blocks(node, level, depth))
    name = node.tagname.capitalize()
    if name != "Admonition" and blocks and not blocks[0].level:
        blocks[0] = blocks[0]._replace(text=f"{name}: {blocks[0].text}")
    yield from (block._replace(level=0) for block in blocks)


def _fields(document: Any) -> dict[str, str]:
    """What the list of fields at the top says: its author, its date."""
    from docutils import nodes

    found: dict[str, str] = {}
    tops = [document, *(one for one in document.children[:2] if isinstance(one, nodes.section))]
    for top in tops:
        for child in top.children[:3]:
            if isinstance(child, nodes.field_list):
                for field in child.children:
                    name, body = field.children
                    if _line(body):
                        found[_line(name).lower()] = _line(body)
    return found
