"""For how long versions are kept: what `history.keep` says."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.query.moments import span
from knowbase.values.documents import Document
from knowbase.values.history import Change, Version

FOREVER, OFF = "forever", "off"
HINT = (
    "forever, off, a time (90d, 1y) or a number; type:commit=off or source:docs=30d before others"
)


class Rule(NamedTuple):
    """For how long, and of which documents; the first that fits decides."""

    keep: str
    type: str | None = None
    source: str | None = None

    def fits(self, document: Document) -> bool:
        if self.type is not None:
            return document.type == self.type
        if self.source is None:
            return True
        path, folder = document.path or "", self.source.rstrip("/")
        return path == folder or path.startswith(folder + "/")


def rules_of(texts: Sequence[str]) -> tuple[Rule, ...]:
    """As they are written; what nothing is said of is kept for a year."""
    found = [_rule(text) for text in texts]
    last = [one for one in found if one.type is None and one.source is None]
    others = [one for one in found if one not in last]
    return (*others, *last[-1:], Rule("1y"))


def _rule(text: str) -> Rule:
    where, equals, keep = text.rpartition("=")
    kind, colon, name = where.partition(":")
    _check(keep.strip(), text)
    if not equals:
        return Rule(keep.strip())
    if not colon or kind.strip() not in ("type", "source") or not name.strip():
        raise _unreadable(text)
    name = name.strip()
    return Rule(keep.strip(), **{kind.strip(): name})


def _check(keep: str, text: str) -> None:
    is_number = keep.isascii() and keep.isdecimal() and len(keep) < 10
    is_time = span(keep, "2026-01-01T00:00:00.000000Z") is not None and keep[:1].isdigit()
    if keep not in (FOREVER, OFF) and not is_number and not (is_time and keep[-1:].isalpha()):
        raise _unreadable(text)


def _unreadable(text: str) -> InvalidInput:
    return InvalidInput(f"history.keep cannot be {text!r}", field="history.keep", hint=HINT)


def keeps(rules: Sequence[Rule], document: Document) -> bool:
    """Whether any version of it is kept."""
    return rule_for(rules, document).keep != OFF


def rule_for(rules: Sequence[Rule], document: Document) -> Rule:
    return next(one for one in rules if one.fits(document))


def ended(
    rules: Sequence[Rule], versions: Sequence[Version], changes: Mapping[int, Change], now: str
) -> int | None:
    """Of one document, the change by which the last version ended that is to go; the versions
    are in order, without what it is now."""
    newest = next((one.document for one in reversed(versions) if one.document is not None), None)
    if newest is None:
        return None
    keep = rule_for(rules, newest).keep
    kept = [one for one in versions if one.document is not None]
    if keep == FOREVER:
        return None
    if keep == OFF:
        gone = kept
    elif keep.isdecimal():
        gone = kept[: max(0, len(kept) - int(keep))]
    else:
        found = span(keep, now)
        oldest = found.start if found is not None else ""
        gone = [one for one in kept if changes[one.until or 0].at < oldest]
    return gone[-1].until if gone else None
