"""The pages of docs/ that are made from the code: `python3 dev.py docs` writes them."""

import re
from pathlib import Path

from knowbase.cli.commands import NAMES, load
from knowbase.cli.help import help_of
from knowbase.config import ABOUT, DEFAULTS, dotted
from knowbase.errors import KnowbaseError
from knowbase.values.documents import FIELDS, STATES
from knowbase.values.fields import Field
from knowbase.values.parameters import Parameter, parameters
from rows import conformance

ROOT = Path(__file__).parent.parent
SERVERS_MOST = "`serve.max_request_kb`"


def commands() -> str:
    """docs/commands.md."""
    parts = [
        "# Commands",
        "",
        "What `kb COMMAND --help` prints. Written by `python3 dev.py docs`.",
    ]
    for name in NAMES:
        parts += ["", f"## kb {name}", "", "```", help_of(load(name)), "```"]
    return "\n".join(parts) + "\n"


def settings_table() -> str:
    """The table in docs/settings.md."""
    lines = ["| setting | variable | default | |", "|---|---|---|---|"]
    for name, about in ABOUT.items():
        bounds = f" ({about.least:g} … {about.most:g})" if about.least is not None else ""
        default = getattr(DEFAULTS, name)
        default = ", ".join(default) if isinstance(default, tuple) else default
        shown = str(default).lower() if isinstance(default, bool) else str(default or "")
        shown = "0" if default == 0 and shown == "" else shown
        lines.append(f"| `{dotted(name)}` | `KB_{name.upper()}` | {shown} | {about.text}{bounds} |")
    return "\n".join(lines)


def settings_page(current: str) -> str:
    """docs/settings.md with its table renewed."""
    return re.sub(r"\| setting \|.*?(?=\n\n)", lambda _: settings_table(), current, flags=re.S)


def statuses_table() -> str:
    """The statuses in docs/api.md."""
    from knowbase.http.failures import STATUSES

    lines = ["| status | `code` | |", "|---|---|---|"]
    for kind, status, text in sorted(STATUSES, key=lambda one: one[1]):
        codes = ", ".join(f"`{one}`" for one in _codes(kind))
        lines.append(f"| {status} | {codes} | {text} |")
    return "\n".join(lines)


def _codes(kind: type[KnowbaseError]) -> list[str]:
    """The code of an error, and of those below it that have no status of their own."""
    from knowbase.http.failures import STATUSES

    own = {one for one, _, _ in STATUSES}
    below = [one for one in kind.__subclasses__() if one not in own]
    return list(dict.fromkeys([kind.code, *(code for one in below for code in _codes(one))]))


def api_operations() -> str:
    """What docs/api.md says of each operation."""
    from knowbase.http.served import methods_of, served
    from knowbase.operations.declare import TEXT_KB, Operation

    parts = []
    for path, operation in served().items():
        whole = " Not for a token that is held to a project." if operation.whole else ""
        parts += ["", f"### {' '.join(methods_of(operation))} {path}", ""]
        most = f"{operation.most_kb:,} kB" if operation.most_kb < TEXT_KB else SERVERS_MOST
        size = (
            f" Up to {most}." if operation.most_kb != Operation._field_defaults["most_kb"] else ""
        )
        parts += [f"{operation.summary}.{whole}{size}"]
        own = parameters(operation.request)
        if own:
            parts += ["", "| parameter | | |", "|---|---|---|"]
        parts += [f"| `{one.name}` | {_kind(one)} | {_about(one)} |" for one in own]
    return "\n".join(parts) + "\n"


def _kind(field: Parameter) -> str:
    kind = {str: "text", int: "whole number", float: "number", bool: "true or false"}
    told = "text …" if field.kind is tuple else kind[field.kind]
    return f"**{told}**" if field.required else told


def _about(field: Parameter) -> str:
    param = field.param
    told = param.text.replace("|", chr(92) + "|")
    told += f": {', '.join(param.choices)}" if param.choices else ""
    if param.least is not None or param.most is not None:
        ends = [f"{end:,}" if end is not None else "" for end in (param.least, param.most)]
        told += f" ({' … '.join(ends).strip()})"
    default = field.default not in (None, False, (), "")
    return f"{told}; else {field.default}" if default else told


def api_page(current: str) -> str:
    """docs/api.md with its table of statuses and its operations renewed."""
    table = re.sub(r"\| status \|.*?(?=\n\n)", lambda _: statuses_table(), current, flags=re.S)
    front = re.split(r"(?m)^### ", table)[0].rstrip("\n")
    return f"{front}\n{api_operations()}"


def fields_page() -> str:
    """docs/fields.md."""
    lines = [
        "# The fields of a document",
        "",
        "Every field, where it comes from, and how to ask for it. Written by `python3 dev.py docs`",
        "from the field table (`Document` in `src/knowbase/values/documents.py`).",
        "",
        "| field | is | may be | front matter | `kb remember` | operators |",
        "|---|---|---|---|---|---|",
    ]
    for name, field in FIELDS.items():
        cells = (
            f"`{name}`",
            field.about + ("; commands change it" if field.command else ""),
            _field_kind(field),
            ", ".join(f"`{key}:`" for key in field.keys),
            f"`--{name.replace('_', '-')}`" if field.note else "",
            " ".join(f"`{one.operator}:`" for one in field.filters),
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", "## Operators and flags", "", "| operator | takes | flag |", "|---|---|---|"]
    for field in FIELDS.values():
        for one in field.filters:
            takes = one.value or ", ".join(field.choices)
            flag = f"`--{one.operator}`: {one.flag}" if one.flag else ""
            lines.append(f"| `{one.operator}:` | {takes} | {flag} |")
    lines += ["", "## What hides a document", "", "| state | when |", "|---|---|"]
    when = {"set": "`{}` is true", "present": "`{}` is there", "past": "`{}` has come"}
    for state, tests in STATES.items():
        parts = [when[test].format(name) for name, test in tests.items()]
        lines.append(f"| `{state}` | {' or '.join(parts)} |")
    lines += ["| forgotten | `deleted_at` is there; shown by nothing but `kb restore` |"]
    return "\n".join(lines) + "\n"


def _field_kind(field: Field) -> str:
    kinds = {
        "share": "0 to 1",
        "flag": "true or false",
        "moment": "a date or a time, in UTC",
        "count": "a whole number",
        "names": "a list of texts",
        "tags": "a list of texts",
        "type": "a type",
        "other": "anything",
        "code": "a code, an id or a path",
    }
    return ", ".join(field.choices) or kinds.get(field.kind, "text")


def formats_table() -> str:
    """The table in docs/files.md: what becomes of each kind of file."""
    from knowbase.read.formats import CODE, FORMATS, UNREAD

    lines = ["| what | files | type | becomes |", "|---|---|---|---|"]
    for one in FORMATS:
        names = one.extensions if one is not CODE else ("py", "js", "ts", "go", "rs", "java", "c")
        files = " ".join(f".{name}" for name in names) + (" …" if one is CODE else "")
        lines.append(f"| {one.name} | {files} | `{one.type}` | {one.becomes} |")
    for other in UNREAD:
        files = " ".join(f".{name}" for name in other.extensions)
        lines.append(f"| {other.name} | {files} | | not read: {other.hint} |")
    return "\n".join(lines)


def files_page(current: str) -> str:
    """docs/files.md with its table renewed."""
    return re.sub(r"\| what \|.*?(?=\n\n)", lambda _: formats_table(), current, flags=re.S)


def write() -> None:
    docs = ROOT / "docs"
    files = docs / "files.md"
    files.write_text(files_page(files.read_text(encoding="utf-8")), encoding="utf-8")
    (docs / "fields.md").write_text(fields_page(), encoding="utf-8")
    (docs / "conformance.md").write_text(conformance(), encoding="utf-8")
    (docs / "commands.md").write_text(commands(), encoding="utf-8")
    api = docs / "api.md"
    api.write_text(api_page(api.read_text(encoding="utf-8")), encoding="utf-8")
    settings = docs / "settings.md"
    settings.write_text(settings_page(settings.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
