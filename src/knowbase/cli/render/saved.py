"""What a person reads of saved searches."""

import shlex
from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.search.saved import Saved, SavedList


def render_list(paint: Painter, result: "SavedList") -> Iterable[str]:
    for saved in result.saved:
        yield _line(paint, saved)
    number = len(result.saved)
    yield paint("dim", f"{number} saved search" + "es" * (number != 1))


def _line(paint: Painter, saved: "Saved") -> str:
    plain = [pair for pair in saved.options.items() if pair[0] != "filters"]
    given = (*plain, *saved.options.get("filters", {}).items())
    options = "".join(f" {name}={_value(value)}" for name, value in given)
    detail = paint("dim", safe(f" {options}")) if options else ""
    return f"{paint('cyan', safe(saved.name))}: {safe(saved.query)}".rstrip() + detail


def _value(value: object) -> str:
    return shlex.quote(",".join(map(str, value)) if isinstance(value, tuple) else str(value))


def render_saved(paint: Painter, saved: "Saved") -> Iterable[str]:
    yield _line(paint, saved)
    more = "".join(f" --set {name}=…" for name in saved.parameters)
    yield paint("dim", safe(f"run it: kb saved run {saved.name}{more}"))


def render_deleted(paint: Painter, saved: "Saved") -> Iterable[str]:
    yield "deleted " + _line(paint, saved)
