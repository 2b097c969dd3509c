"""Command-line arguments, read by the operations' own declarations.

Not argparse: building its parsers takes longer than a whole keyword search.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from knowbase.cli.commands import COMPLETION, NAMES, below
from knowbase.errors import InvalidInput
from knowbase.operations.declare import Operation
from knowbase.values.parameters import Param, Parameter, parameters


class Surface(NamedTuple):
    """What concerns the command line alone."""

    base: str | None = None
    json: bool = False
    quiet: bool = False
    yes: bool = False
    debug: bool = False
    help: bool = False
    format: str | None = None  # of what has several: see Terminal.formats


class Parsed(NamedTuple):
    """What was typed: values for the request, and the surface's own options."""

    values: dict[str, Any]
    surface: Surface


COMMON = (
    Parameter(
        "base",
        str,
        Param("the base, or a server's http://…; else KB_BASE, else found upwards"),
        None,
        False,
    ),
    Parameter("json", bool, Param("print one JSON object"), False, False),
    Parameter("quiet", bool, Param("no progress bar, no report of what went well"), False, False),
    Parameter("yes", bool, Param("do not ask before removing"), False, False),
    Parameter("debug", bool, Param("show a traceback on an error"), False, False),
    Parameter("help", bool, Param("show this", short="h"), False, False),
)


SPECIAL = ("help", "--help", "-h", "--version", "-V", COMPLETION)
"""What the command line answers by itself."""

HOW_MANY = ("--top", "--limit")
"""Hits are counted by one, lists by the other: who knows either can type it everywhere."""


class Flag(NamedTuple):
    """What a flag sets: a field, with the value that follows or one of its own."""

    field: Parameter
    value: str | bool | None = None


def options(operation: Operation) -> list[Parameter]:
    """What a command takes beside the common options."""
    own, formats = parameters(operation.request), operation.terminal.formats
    if not formats:
        return own
    param = Param("print the hits for another program", choices=formats)
    return [*own, Parameter("format", str, param, None, False)]


def flags(operation: Operation) -> dict[str, Flag]:
    """Every flag of a command."""
    found: dict[str, Flag] = {}
    for field in (*options(operation), *COMMON):
        if field.param.positional:
            continue
        flag = Flag(field, True if field.kind is bool else None)
        found[field.flag] = flag
        if field.param.short:
            found["-" + field.param.short] = flag
        for alias, value in field.param.aliases.items():
            found[alias] = Flag(field, value)
    for one, other in (HOW_MANY, HOW_MANY[::-1]):
        if one in found:
            found.setdefault(other, found[one])
    return found


def plain_words(arguments: Sequence[str]) -> list[str]:
    """The words that are no flags, nor the value of one that every command has."""
    valued = {f"--{field.name}" for field in COMMON if field.kind is not bool}
    rest = iter(arguments)
    found = []
    for word in rest:
        if word in valued:
            next(rest, None)
        elif not word.startswith("-"):
            found.append(word)
    return found


def parse(operation: Operation, arguments: Sequence[str]) -> Parsed:
    """The arguments of one command; a word with a dash that is no flag is a word of the text."""
    known = flags(operation)
    takes_text = _takes_text(operation)
    values: dict[str, Any] = {}
    words: list[str] = []
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        name, equals, attached = word.partition("=")
        if word == "--":
            words += rest
            break
        if name in known:
            _set(values, known[name], name, attached if equals else None, rest)
        elif word.startswith("--") and name[2:].replace("-", "").isalnum():
            raise _unknown(name, operation, known)
        elif not takes_text and len(word) == 2 and word[0] == "-" and word[1].isalpha():
            raise _unknown(word, operation, known)
        else:
            words.append(word)
    _place(operation, words, values)
    ours = {field.name for field in COMMON} | ({"format"} if operation.terminal.formats else set())
    common = {name: values.pop(name) for name in Surface._fields if name in values and name in ours}
    _check_format(operation, common)
    return Parsed(values, Surface(**common))


def _takes_text(operation: Operation) -> bool:
    """Whether the rest of the line is a text, in which -x is a word that is left out."""
    places = [field for field in parameters(operation.request) if field.param.positional]
    return bool(places) and places[-1].kind is not tuple and not places[-1].param.single


def _check_format(operation: Operation, common: dict[str, Any]) -> None:
    wanted, known = common.get("format"), operation.terminal.formats
    if wanted is not None and wanted not in known:
        hint = "one of " + ", ".join(known)
        raise InvalidInput(f"format cannot be {wanted!r}", field="format", hint=hint)
    if wanted is not None and common.get("json"):
        raise InvalidInput("--json and --format exclude each other", field="format")


def _set(
    values: dict[str, Any], flag: Flag, name: str, attached: str | None, rest: list[str]
) -> None:
    value: Any = flag.value
    if value is None:
        if attached is None and not rest:
            raise InvalidInput(f"{name} needs a value", field=flag.field.name)
        value = attached if attached is not None else rest.pop(0)
    elif attached is not None:
        raise InvalidInput(f"{name} takes no value", field=flag.field.name)
    given = values.get(flag.field.name)
    if flag.field.kind is not tuple and given not in (None, value):
        raise InvalidInput(
            f"{name} contradicts what was said before: {flag.field.name} is {given}",
            field=flag.field.name,
        )
    if flag.field.kind is tuple:
        value = [*values.get(flag.field.name, ()), value]
    values[flag.field.name] = value


def _place(operation: Operation, words: list[str], values: dict[str, Any]) -> None:
    """Words without a flag: `kb search install git` needs no quotes."""
    places = [field for field in parameters(operation.request) if field.param.positional]
    if words and not places:
        raise InvalidInput(
            f"kb {operation.name} takes no {words[0]!r}", hint=f"see: kb {operation.name} --help"
        )
    for field in places[:-1] if places and not places[-1].param.single else places:
        if words:
            values[field.name] = words.pop(0)
    if words and places[-1].param.single:
        raise InvalidInput(
            f"kb {operation.name} takes no further {words[0]!r}",
            hint=f"see: kb {operation.name} --help",
        )
    if words:
        values[places[-1].name] = words if places[-1].kind is tuple else " ".join(words)


def _unknown(name: str, operation: Operation, known: dict[str, Flag]) -> InvalidInput:
    from difflib import get_close_matches

    near = [flag for flag in known if flag.startswith(name)] or get_close_matches(name, known, n=1)
    return InvalidInput(
        f"kb {operation.name} has no option {name}",
        field=name.lstrip("-"),
        hint=f"did you mean {near[0]}?" if near else f"see: kb {operation.name} --help",
    )


def command_of(arguments: list[str]) -> tuple[str, list[str]]:
    """The command's name and its arguments; common options may stand before it."""
    leading, rest = _leading(arguments)
    if not rest:
        raise InvalidInput("no command given", hint="see: kb --help")
    name = rest.pop(0)
    # kb profiles --json show: what is a command by itself may have options of its own
    between, behind = _leading(rest) if name in NAMES else ([], rest)
    if behind and behind[0] in below(name):  # kb session start
        return f"{name} {behind[0]}", [*leading, *between, *behind[1:]]
    if name not in NAMES and below(name):
        if {"-h", "--help"} & set(rest):
            return "help", [name]
        raise InvalidInput(
            f"kb {name} needs to know what to do",
            field="command",
            hint="one of " + ", ".join(below(name)),
        )
    if name not in NAMES and name not in SPECIAL:
        raise _unknown_command(name)
    return name, [*leading, *rest]


def _leading(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """The common options at the start, and the rest."""
    common = {"--" + field.name for field in COMMON} - {"--help"}
    leading: list[str] = []
    rest = list(arguments)
    while rest and rest[0].partition("=")[0] in common:
        leading.append(rest.pop(0))
        if leading[-1] == "--base" and rest:
            leading.append(rest.pop(0))
    return leading, rest


def _unknown_command(name: str) -> InvalidInput:
    from difflib import get_close_matches

    near = get_close_matches(name, (*NAMES, COMPLETION), n=1)
    hint = f"did you mean: kb {near[0]}" if near else "see: kb --help"
    return InvalidInput(f"there is no command {name!r}", field="command", hint=hint)
