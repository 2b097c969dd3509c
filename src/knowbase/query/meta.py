"""Asking for what front matter says: `meta.status:active`, `--where status=active`."""

import re
from typing import TYPE_CHECKING

from knowbase.query.conditions import AllOf, AnyOf, Condition, Meta, Not
from knowbase.values.characters import composed

if TYPE_CHECKING:
    from knowbase.query.conditions import Operator

PREFIX = "meta."
_WHERE = re.compile(r"\s*([^<>=!]+?)\s*(!=|>=|<=|>|<|=)\s*(.*?)\s*", re.DOTALL)
_SIGNS: tuple["Operator", ...] = (">=", "<=", ">", "<", "=")
_NUMBER = re.compile(r"[-+]?\d{1,30}(?:\.\d{1,30})?")
_DAY = re.compile(r"\d{4}(?:-\d\d(?:-\d\d)?)?(?:[T ][\d:.Z+-]+)?")
_MIDNIGHT = "T00:00:00.000000Z"


def where(text: str, now: str) -> Condition | None:
    """What `status=active`, `priority>=3`, `due<2026-01` or `status!=done` asks for; a key alone:
    that it is there. None when it asks for nothing."""
    match = _WHERE.fullmatch(text)
    if match is None:
        return meta(text, "*", now) if text.strip() and not set(text) & set("<>=!") else None
    key, sign, value = match.groups()
    if sign == "!=":
        found = meta(key, value, now)
        return None if found is None else Not(found)
    return meta(key, value if sign == "=" else sign + value, now)


def meta(key: str, value: str, now: str) -> Condition | None:
    """What stands behind `meta.key:`; None when that is nothing."""
    key, value = " ".join(composed(key).split()), composed(value)
    sign: Operator | None = next((one for one in _SIGNS if value.strip().startswith(one)), None)
    rest = value.strip().removeprefix(sign or "").strip()
    if not key or not rest:
        return None
    if rest == "*":
        return Meta(key, "present")
    if sign is None or sign == "=":
        parts = [part.strip() for part in rest.split(",")]
        found = [_equal(key, part, now) for part in parts if part]
        return found[0] if len(found) == 1 else AnyOf(tuple(found))
    return _beyond(key, sign, rest, now)


def _equal(key: str, text: str, now: str) -> Condition:
    """The same text, whatever its case; the same number; a day within the month that is named."""
    found: list[Condition] = [Meta(key, "=", text)]
    if _NUMBER.fullmatch(text):
        found.append(Meta(key, "=", float(text)))
    if _DAY.fullmatch(text) and (bounds := _bounds(text, now)) is not None:
        found.append(AllOf((Meta(key, ">=", bounds[0]), Meta(key, "<", bounds[1]))))
    return found[0] if len(found) == 1 else AnyOf(tuple(found))


def _beyond(key: str, sign: "Operator", text: str, now: str) -> Condition | None:
    """More or less than a number, or later or earlier than a day."""
    if _NUMBER.fullmatch(text) and not re.fullmatch(r"(?:19|20)\d\d", text):
        return Meta(key, sign, float(text))
    bounds = _bounds(text, now)
    if bounds is None:
        return None
    start, end = bounds
    edges: dict[str, Condition] = {
        ">": Meta(key, ">=", end),
        ">=": Meta(key, ">=", start),
        "<": Meta(key, "<", start),
        "<=": Meta(key, "<", end),
    }
    if not _NUMBER.fullmatch(text):
        return edges[sign]
    return AnyOf((Meta(key, sign, float(text)), edges[sign]))  # 2026 is a year, or a number


def _bounds(text: str, now: str) -> tuple[str, str] | None:
    """The days between which a moment lies, written so that days and times compare with them."""
    from knowbase.query.moments import span

    found = span(text, now)
    if found is None:
        return None
    return found.start.removesuffix(_MIDNIGHT), found.end.removesuffix(_MIDNIGHT)
