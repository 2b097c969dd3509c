"""What a person reads of a base's health."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.base.doctor import Diagnosis

_STYLES = {"error": "red", "warning": "mark", "info": "dim"}


def render_diagnosis(paint: Painter, result: "Diagnosis") -> Iterable[str]:
    yield paint("bold", result.summary)
    for one in result.findings:
        detail = f": {safe(one.detail)}" if one.detail else ""
        yield f"{paint(_STYLES[one.severity], f'{one.severity:<8}')} {safe(one.what)}{detail}"
        for example in one.examples:
            yield paint("dim", f"           {safe(example)}")
        if one.command:
            yield f"           → {safe(one.command)}"
    if result.disk is not None:
        sizes = (number / 1e6 for number in result.disk[:2])
        yield paint("dim", "disk     {:,.1f} MB used, {:,.0f} MB free".format(*sizes))
    told = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    yield paint("dim", f"versions {safe(told)}")
