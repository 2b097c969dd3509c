"""The JSON of a value: what `to_dict`, `--json`, MCP and HTTP give for the same one."""

from collections.abc import Mapping
from typing import Any

_PLAIN = (str, int, float, type(None))  # asked first: nearly all are one of these


def plain(value: Any) -> Any:
    """Named tuples as objects, all the way down."""
    if isinstance(value, _PLAIN):
        return value
    if hasattr(value, "_asdict"):
        unshown = value.unshown() if hasattr(value, "unshown") else ()
        return {name: plain(part) for name, part in value._asdict().items() if name not in unshown}
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    return value


def as_dict(value: Any) -> dict[str, Any]:
    """A named tuple as an object."""
    shown: dict[str, Any] = plain(value)
    return shown
