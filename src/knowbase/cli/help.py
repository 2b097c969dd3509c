"""What `kb COMMAND --help` prints, from the operation's declaration."""

from knowbase.cli.arguments import COMMON
from knowbase.cli.arguments import options as options_of
from knowbase.operations.declare import Operation
from knowbase.values.parameters import Parameter


def usage_of(operation: Operation) -> str:
    """The first line of its help."""
    places = [field for field in options_of(operation) if field.param.positional]
    return " ".join([f"usage: kb {operation.name}", *map(_place, places), "[options]"])


def help_of(operation: Operation) -> str:
    """Usage, options, examples."""
    own = options_of(operation)
    places = [field for field in own if field.param.positional]
    options = [field for field in own if not field.param.positional]
    parts = [usage_of(operation), "", operation.summary + "."]
    parts += ["", *(f"  {_place(field):<22}{field.param.text}" for field in places)] * bool(places)
    if options:
        parts += ["", "options:", *(line for field in options for line in _lines(field))]
    parts += ["", "common options:", *(line for field in COMMON for line in _lines(field))]
    if operation.examples:
        parts += ["", "examples:", *(f"  {example}" for example in operation.examples)]
    return "\n".join(parts)


def _place(field: Parameter) -> str:
    name = (field.param.metavar or field.name).upper()
    name = f"{name} …" if field.kind is tuple else name
    return name if field.required else f"[{name}]"


def _lines(field: Parameter) -> list[str]:
    param = field.param
    flag = f"-{param.short}, {field.flag}" if param.short else field.flag
    if field.kind is not bool:
        flag += f" {param.metavar or field.name.upper()}"
    text = param.text + (f": {', '.join(param.choices)}" if param.choices else "")
    if field.default not in (None, False, (), ""):
        text += f" ({field.default})"
    gap = "" if len(flag) < 20 else "\n" + " " * 24
    lines = [f"  {flag:<22}{gap}{text}"]
    lines += [
        f"  {alias:<22}the same as --{field.name} {value}" for alias, value in param.aliases.items()
    ]
    return lines
