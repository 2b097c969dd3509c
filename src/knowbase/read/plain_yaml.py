"""YAML as people mean it: `1:30` is no number of seconds, and what cannot be is a text."""

import re
from functools import cache
from typing import Any

_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$")
_FLOAT = re.compile(
    r"[-+]?(?:[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.(?:inf|Inf|INF))$"
    r"|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?$|\.(?:nan|NaN|NAN)$"
)
_LONGEST_NUMBER = 1000  # characters
_OURS = {"int": (_INTEGER, "-+0123456789"), "float": (_FLOAT, "-+0123456789.")}


@cache
def loader() -> Any:
    """The safe loader without numbers to the base 60, whose reading takes time with the square
    of their length; numbers too long to be any, and dates that no calendar has, stay texts."""
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(safe):  # type: ignore[misc]
        yaml_implicit_resolvers = {  # noqa: RUF012 - as yaml has it
            first: [pair for pair in pairs if pair[0].rpartition(":")[2] not in _OURS]
            for first, pairs in safe.yaml_implicit_resolvers.items()
        }

    for name, (pattern, first) in _OURS.items():
        Loader.add_implicit_resolver(f"tag:yaml.org,2002:{name}", pattern, list(first))
    for name in ("int", "float", "timestamp"):
        Loader.add_constructor(f"tag:yaml.org,2002:{name}", _or_text(safe, name))
    return Loader


def _or_text(safe: Any, name: str) -> Any:
    """What the safe loader makes of it, if it can."""
    construct = getattr(safe, f"construct_yaml_{name}")

    def constructed(self: Any, node: Any) -> Any:
        text = self.construct_scalar(node)
        if len(text) > _LONGEST_NUMBER or (name != "timestamp" and ":" in text):
            return text
        try:
            return construct(self, node)
        except (ValueError, OverflowError):
            return text

    return constructed
