"""What sites and note programs write into Markdown that is not text: taken out, line by line.

Lines stay where they are, so that a section still says where it starts; code is left alone.
"""

import re
from html import unescape

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"[ \t>]*(?:[-*+] |\d+[.)] )*[ \t]*(`{3,}|~{3,})")
_CODE = r"(?P<code>(?<!`)(?P<ticks>`{1,3})(?!`)[^\n]{1,500}?(?<!`)(?P=ticks)(?!`))"
_MATH = r"(?P<math>\$\$[^$]{1,2000}\$\$|\$[^$\n]{1,300}\$)"
_SPANS = rf"{_CODE}|{_MATH}"

# {{< note >}}, {{% tab %}}: a site replaces them in code, too.
_HUGO = re.compile(
    r"(?P<remark>\{\{[<%]\s*comment\s*[>%]\}\}.{0,20000}?\{\{[<%]\s*/\s*comment\s*[>%]\}\})"
    r"|\{\{(?P<hugo>[<%](?:(?!\}\}).){0,5000}?)[>%]\}\}",
    re.DOTALL,
)
# {{ site.url }}, {% include x %}, {{/* a remark */}}, {{embed [[x]]}}
_LIQUID = re.compile(
    rf"{_SPANS}|(?P<remark>\{{%-?\s*comment\s*-?%\}}.{{0,20000}}?\{{%-?\s*endcomment\s*-?%\}})"
    r"|\{%-?(?P<liquid>.{0,1000}?)-?%\}"
    r"|\{\{(?P<output>-?\s.{0,300}?\s-?|/\*.{0,1000}?\*/"
    r"""|'[^'{}\n]*'[^{}\n]*|"[^"{}\n]*"[^{}\n]*)\}\}"""
    r"|\{\{(?P<macro>(?:embed|query|renderer|video|youtube|tweet|cloze|cards|namespace|function)\b"
    r"[^{}\n]{0,500}|[a-z_]+(?:\.[a-z_]+)+)\}\}",
    re.DOTALL,
)
_SPEAKING = re.compile(
    r"""\b(?:text|title|caption|alt|label|content|heading|name)\s*[=:]\s*"""
    r"""(?:"([^"]*)"|'([^']*)'|“([^”]*)”)"""
)
_TERM = re.compile(r"""\bterm_id\s*=\s*["']?([\w-]+)""")
_ARGUMENT = re.compile(r"""["'`]([^"'`]+)["'`]|(\S+)""")
_TARGETS = ("ref", "relref", "link", "post_url", "postlink", "doc")
_FROM_TOP = {"link": "/", "post_url": "/_posts/"}  # Jekyll's start at the top of the site
_SITE = re.compile(r"\s*-?\s*[\w]+(?:\.[\w-]+|\[)")

# {#anchor .class}, {: .no_toc}, {-}: what pandoc, Hugo and kramdown say of the block before.
ATTRIBUTES = re.compile(
    r"""[ \t]*\{:?[ \t]*(?:#[^\s{}]+|\.[\w:.-]+|-|:?toc|[\w-]+=(?:"[^"\n]*"|[^\s{}"]+))"""
    r"""(?:[ \t]+(?:[#.][\w:.-]+|-|[\w-]+=(?:"[^"\n]*"|[^\s{}"]+)))*[ \t]*\}|[ \t]*\{/\*[ \t]*"""
    r"""#[\w:.-]+[ \t]*\*/\}"""
)
_ANCHOR = re.compile(r"#+([^\s#{}]+)")
_INLINE_TAG = re.compile(
    r"</?(?:em|strong|b|i|code|sup|sub|span|br|kbd|mark|small|wbr)\b[^<>]{0,200}>", re.IGNORECASE
)
_VARIABLE = re.compile(r"\{\{-?[A-Za-z_][^{}\n]{0,300}\}\}")
_HEADING = re.compile(r" {0,3}#{1,2}[ \t]")  # deeper ones start no section
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")

_MARKED = re.compile(r"(?<![`\\])(`+|\*\*)(?![`*\s])([^`*\n]+?)(?<!\s)\1(?![`*])")
_CALLOUT = re.compile(r"([ \t]*(?:>[ \t]*)+)\[!([\w-]+)(?:\|[^\]\n]*)?\][+-]?[ \t]*(.*)")
# What Logseq says of a block for itself, and its references to blocks.
_BLOCK_PROPERTY = re.compile(
    r"[ \t]*(?:[-*] )?(?:id|collapsed|heading|background-color|logseq\.[\w.-]+|card-[\w-]+"
    r"|query-[\w-]+|now|later|done|todo|doing|created-at|updated-at|file|file-path|hl-[\w-]+"
    r"|ls-type):: ?[^\n]*$"
)
_BLOCK_REFERENCE = re.compile(r"\(\([0-9a-f]{8}-[0-9a-f-]{20,40}\)\)")
_DIRECTIVE = re.compile(r"[ \t]*(?:[-*] )?(?:#\+(?:BEGIN|END)_\w+.*|:LOGBOOK:|:END:)[ \t]*$")

# MkDocs: !!! note "Title", ??? tip, === "Tab", /// warning | Title … ///
_ADMONITION = re.compile(
    r'([ \t]*)(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)(?:[ \t]+[\w-]+)*(?:[ \t]+"([^"]*)")?[ \t]*$'
)
_TAB = re.compile(r'([ \t]*)===[+!]?[ \t]+"([^"]+)"[ \t]*$')
_BLOCK = re.compile(r"([ \t]*)/{3,}(?:[ \t]+([\w-]+)(?:[ \t]*\|[ \t]*(.*?))?)?[ \t]*$")
# … and files that it puts in: {* src/a.py hl[3] *}, {!a.md!}, --8<-- "a.md"
_INCLUDE = re.compile(
    r"[ \t]*(?:\{([*!])[ \t]*([^\s{}*!]+\.\w+)[^{}\n]*\1\}"
    r"""|-+8<-+[ \t]+["']([^"'\n]+)["'])[ \t]*$"""
)

_IMPORT = re.compile(r"import\s(?:[^\n;]{1,300}\sfrom\s+)?[\"'][^\"'\n]{1,300}[\"'];?[ \t]*$")
_EXPORT = re.compile(r"export\s+(?:const|let|var|default|function|async)\b")
_JSX_REMARK = re.compile(r"\{/\*.{0,2000}?\*/\}", re.DOTALL)
_JSX_TAG = re.compile(
    rf"{_SPANS}|</?(?P<tag>[A-Z][\w.]*)"
    r"""(?P<attributes>(?>[^<>{}"'`]|"[^"]{0,500}"|'[^']{0,500}'|\{[^{}]{0,500}\})*)/?>"""
)
_LEADING = re.compile(r"""\b(?:href|to|link)\s*=\s*(["'])([^\s"'()<>]{1,300})\1""")
_JSX_LINK = re.compile(
    rf"{_SPANS}|<(?P<tag>[A-Z]\w*)(?P<before>\s(?:[^<>{{}}]{{0,300}}\s)?)(?:href|to)=[\"']"
    r"""(?P<target>[^\s"'()<>]{1,300})["'][^<>{}]{0,300}>(?P<shown>[^<>\[\]\n]{1,300})</(?P=tag)>"""
)
# %% what Obsidian shows to whoever writes alone %%, <!-- what no page shows -->, and
# <a id="x"></a>, a place that links lead to
_REMARK = re.compile(
    rf"{_SPANS}|(?<![\w%\\])%%(?!%)(?:(?!%%).){{0,20000}}?%%(?![\w%])"
    r"|<!--(?:(?!<!--).){0,20000}?-->"
    r"""|<a\s+(?:id|name)=["']?[\w.:-]{1,200}["']?\s*(?:/>|>\s*</a>)""",
    re.DOTALL,
)
_EMBEDDED_PICTURE = re.compile(
    r"!\[\[[^\[\]\n|#]{1,300}\.(?:png|jpe?g|gif|svg|webp|avif|bmp|mp4|webm|mov|mp3|wav)"
    r"(?:#[^\[\]\n]*)?(?:\|[^\[\]\n]*)?\]\]",
    re.IGNORECASE,
)
_MKDOCS = ("!!", "??", "==", "//", "{*", "{!", "--", "-8")  # what such lines begin with
_MARKS = {  # by a letter of each: most texts lack most of those, which is found out in no time
    "%": ("%%",), "[": ("![[", "[!"), ":": (":: ", "::\n", ":LOGBOOK:"), "(": ("((",),
    "{": ("{{", "{%", "{#", "{.", "{:", "{-", "{/", "{*", "{!"), "#": ("#+",), "!": ("!!! ",),
    "?": ("??? ", "???+ "), "=": ("===",), "/": ("///",), "<": ("8<--", "<!--", "<a "),
    "port ": ("import ", "export "),
}  # fmt: skip


def cleaned(text: str, *, mdx: bool = False) -> str:
    """The text without what is not text; as many lines as before."""
    if not mdx and not _is_marked(text):
        return text
    lines = _LINE.findall(text)
    mdx = mdx or any(_IMPORT.match(line) for line in lines)
    return "".join(
        part if is_code else _without_markup(part, mdx) for part, is_code in _parts(lines)
    )


def _is_marked(text: str) -> bool:
    return any(mark in text for letter, marks in _MARKS.items() if letter in text for mark in marks)


def anchor_of(heading: str) -> tuple[str, str | None]:
    """A heading without the attributes behind it, and the anchor that they name."""
    match = None
    for match in ATTRIBUTES.finditer(heading):  # noqa: B007 - the last one
        pass
    if match is None or heading[match.end() :].strip(" \t\r\n#"):
        return heading, None
    anchor = _ANCHOR.search(match[0])
    return heading[: match.start()] + heading[match.end() :], anchor[1] if anchor else None


def plain_title(text: str) -> str:
    """A title of the front matter as a person reads it."""
    text = unescape(_INLINE_TAG.sub("", _MARKED.sub(r"\2", text)))
    if "{" not in text:
        return text
    return " ".join(_LIQUID.sub(_spoken, _HUGO.sub(_shortcode, anchor_of(text)[0])).split())


def without_templates(text: str) -> str:
    """A page without what its site puts in: `{{ title }}`, `{% include x %}`; lines stay."""
    if "{{" not in text and "{%" not in text:
        return text
    return _VARIABLE.sub("", _LIQUID.sub(_templated, _HUGO.sub(_shortcode, text)))


def _templated(match: re.Match[str]) -> str:
    """As `_spoken`, but a word alone is a variable there."""
    output = match["output"]
    if output is not None and not output.strip("- \t\n").startswith(("'", '"')):
        return "\n" * match[0].count("\n")
    return _spoken(match)


def _parts(lines: list[str]) -> list[tuple[str, bool]]:
    """The text in pieces, fenced code apart."""
    parts: list[tuple[str, bool]] = []
    piece: list[str] = []
    fence = ""
    for line in lines:
        mark = _FENCE.match(line)
        if fence:
            piece.append(line)
            if mark and mark[1].startswith(fence) and not line[mark.end() :].strip("`~ \t\r\n"):
                parts.append(("".join(piece), True))
                piece, fence = [], ""
        elif mark and (mark[1][0] == "~" or "`" not in line[mark.end() :]):
            parts.append(("".join(piece), False))
            piece, fence = [line], mark[1]
        else:
            piece.append(line)
    parts.append(("".join(piece), bool(fence)))
    return parts


def _without_markup(text: str, mdx: bool) -> str:
    if "{{" in text or "{%" in text:
        text = _LIQUID.sub(_spoken, _HUGO.sub(_shortcode, text))
    if "%%" in text or "<!--" in text or "<a " in text:
        text = _REMARK.sub(_unremarked, text)
    if mdx:
        text = _JSX_LINK.sub(_linked, _JSX_REMARK.sub(_blank, _without_modules(text)))
        text = _JSX_TAG.sub(_component, text)
    if "![[" in text:
        text = _EMBEDDED_PICTURE.sub("", text)
    if "((" in text:
        text = _BLOCK_REFERENCE.sub("", text)
    lines = text.split("\n")
    following = [*lines[1:], ""]
    return "\n".join(map(_line, lines, following))


def _line(line: str, following: str) -> str:
    if "[!" in line:
        match = _CALLOUT.match(line)
        if match:
            line = match[1] + _bold(_called(match[2], match[3]))
    if "::" in line and _BLOCK_PROPERTY.match(line):
        return ""
    if ("#+" in line or ":" in line) and _DIRECTIVE.match(line):
        return ""
    if line.lstrip(" \t")[:2] in _MKDOCS:
        line = _without_blocks(line)
    is_heading = _HEADING.match(line) or _UNDERLINE.match(following)
    if "{" in line and not is_heading:
        line = re.sub(f"{_CODE}|{ATTRIBUTES.pattern}", _code_alone, line)
    return line


def _called(kind: str, title: str | None) -> str:
    """What stands above a callout: its title, or else of what kind it is."""
    return (title or "").strip() or kind.replace("-", " ").capitalize()


def _bold(title: str) -> str:
    """As people write it who have no callouts, and as it is rendered."""
    return title if "*" in title else f"**{title}**"


def _without_blocks(line: str) -> str:
    """A line of MkDocs as a reader sees it: titles of blocks and tabs, files as links."""
    if match := _ADMONITION.match(line):
        return match[1] + _called(match[2], match[3])
    if match := _TAB.match(line):
        return match[1] + match[2]
    if match := _BLOCK.match(line):
        return match[1] + _called(match[2], match[3]) if match[2] else ""
    if match := _INCLUDE.match(line):
        path = (match[2] or match[3]).split(":")[0]
        return f"[{path.rpartition('/')[2]}](</{path.lstrip('/')}>)"
    return line


def _unremarked(match: re.Match[str]) -> str:
    if match["code"] is not None or match["math"] is not None:
        return match[0]
    return "\n" * match[0].count("\n")


def _code_alone(match: re.Match[str]) -> str:
    return match["code"] or ""


def _shortcode(match: re.Match[str]) -> str:
    """What of a shortcode a reader of the page sees, as far as it says so itself."""
    said = "" if match["remark"] is not None else _parameters(match["hugo"])
    return said + "\n" * match[0].count("\n")


def _spoken(match: re.Match[str]) -> str:
    if match["code"] is not None or match["math"] is not None:
        return match[0]
    return _said(match) + "\n" * match[0].count("\n")


def _said(match: re.Match[str]) -> str:
    if match["remark"] is not None:
        return ""
    if match["output"] is not None:
        return _output(match["output"].strip("- \t\n"))
    if match["macro"] is not None:
        name, _, rest = match["macro"].partition(" ")
        return rest.strip() if name in ("embed", "cloze") and "((" not in rest else ""
    return _parameters(match["liquid"])


def _output(inside: str) -> str:
    """A variable of the site says nothing here; a text stands for itself, and so does a word."""
    if inside.startswith(("'", '"')):
        return inside[1:].partition(inside[0])[0]
    return "" if _SITE.match(inside) or "|" in inside or "/*" in inside else inside


def _parameters(inside: str) -> str:
    """What is shown of `name "argument" key="value"`."""
    name, _, rest = inside.strip("<%-/ \t\n").partition(" ")
    if name in _TARGETS or name == "heading":
        argument = _ARGUMENT.match(rest.strip())
        named = (argument[1] or argument[2]) if argument else ""
        return _FROM_TOP.get(name, "") + named if named else ""
    spoken = [next(filter(None, one), "") for one in _SPEAKING.findall(rest)]
    said = " ".join(dict.fromkeys(" ".join(one.split()) for one in spoken if one))
    if not said and name.startswith("glossary") and (term := _TERM.search(rest)):
        return term[1].replace("-", " ")
    return said if "{" not in said else ""


def _component(match: re.Match[str]) -> str:
    """The title or label of a component, as a link where it leads elsewhere; what stands between
    its tags is text."""
    if match["tag"] is None:
        return match[0]
    attributes = match["attributes"]
    spoken = [next(filter(None, one), "") for one in _SPEAKING.findall(attributes)]
    said = " ".join(filter(None, spoken))
    if said and (target := _LEADING.search(attributes)) and not set("[]") & set(said):
        said = f"[{said}]({target[2]})"
    return said + (" " if said else "") + "\n" * match[0].count("\n")


def _linked(match: re.Match[str]) -> str:
    """`<Link to="/x">text</Link>` as Markdown writes it."""
    if match["tag"] is None or _SPEAKING.search(match["before"]):  # then `_component` does it
        return match[0]
    return f"[{match['shown']}]({match['target']})"


def _blank(match: re.Match[str]) -> str:
    return match[0] if _ANCHOR.match(match[0][3:].strip()) else "\n" * match[0].count("\n")


def _without_modules(text: str) -> str:
    """Without what MDX imports and exports; an export goes on until its brackets are closed."""
    kept: list[str] = []
    depth = 0
    exporting = False
    for line in text.split("\n"):
        exporting = exporting or _EXPORT.match(line) is not None
        if exporting:
            depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
            kept.append("")
            exporting = depth > 0 and bool(line.strip())
            depth = depth if exporting else 0
        else:
            kept.append("" if _IMPORT.match(line) else line)
    return "\n".join(kept)
