"""Dates and durations as people write them: 2026-01-15, 7d, yesterday, "last friday"."""

import re
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

_UNITS = "min|h|d|w|m|y|minutes?|hours?|days?|weeks?|months?|years?"
_AGO = re.compile(rf"([0-9]{{1,6}})\s*({_UNITS})(?:\s+ago)?")

_DATE = re.compile(r"([0-9]{4})(?:-([0-9]{1,2})(?:-([0-9]{1,2}))?)?")
_DAYS = {"min": 1 / 1440, "h": 1 / 24, "d": 1, "w": 7, "m": 30, "y": 365}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


class Span(NamedTuple):
    """From a moment up to, not including, another; the same for a single moment."""

    start: str
    end: str


def span(text: str, now: str) -> Span | None:
    """What a text means at this moment; None when it means no time."""
    text = " ".join(text.lower().split())
    today = datetime.fromisoformat(now)
    try:
        return _ago(text, today) or _date(text) or _named(text, today) or _moment(text)
    except (ValueError, OverflowError):
        return None


def ahead(text: str, now: str) -> str | None:
    """The moment that lies a duration ahead, or a date's start; None when it means no time."""
    today = datetime.fromisoformat(now)
    match = _AGO.fullmatch(" ".join(text.lower().split()))
    if match is None or match[0].endswith("ago"):
        found = span(text, now)
        return found.start if found is not None and match is None else None
    try:
        return _iso(today + _duration(match))
    except OverflowError:
        return None


def _duration(match: re.Match[str]) -> timedelta:
    unit = "min" if match[2].startswith("min") else match[2][0]
    return timedelta(days=int(match[1]) * _DAYS[unit])


def _ago(text: str, today: datetime) -> Span | None:
    match = _AGO.fullmatch(text)
    if match is None:
        return None
    then = today - _duration(match)
    return Span(_iso(then), _iso(then))


def _date(text: str) -> Span | None:
    match = _DATE.fullmatch(text)
    if match is None:
        return None
    year, month, day = (int(part) if part else None for part in match.groups())
    start = datetime(year or 0, month or 1, day or 1, tzinfo=UTC)
    if day is not None:
        return _days(start, 1)
    if month is not None:
        return Span(_iso(start), _iso(_next_month(start)))
    return Span(_iso(start), _iso(start.replace(year=start.year + 1)))


def _named(text: str, today: datetime) -> Span | None:
    day = today.replace(hour=0, minute=0, second=0, microsecond=0)
    name = text.removeprefix("last ")
    if text in ("now", "today"):
        return _days(day, 1)
    if text == "yesterday":
        return _days(day - timedelta(days=1), 1)
    if name in _WEEKDAYS:
        back = (day.weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1
        return _days(day - timedelta(days=back), 1)
    monday = day - timedelta(days=day.weekday())
    first = day.replace(day=1)
    starts = {
        "this week": _days(monday, 7),
        "last week": _days(monday - timedelta(days=7), 7),
        "this month": Span(_iso(first), _iso(_next_month(first))),
        "last month": Span(_iso((first - timedelta(days=1)).replace(day=1)), _iso(first)),
    }
    if text in ("this year", "last year"):
        return _date(str(day.year - (text == "last year")))
    return starts.get(text)


def _moment(text: str) -> Span | None:
    moment = datetime.fromisoformat(text.upper())
    moment = moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    return Span(_iso(moment), _iso(moment))


def _next_month(first: datetime) -> datetime:
    return (first.replace(day=28) + timedelta(days=4)).replace(day=1)


def _days(start: datetime, days: int) -> Span:
    return Span(_iso(start), _iso(start + timedelta(days=days)))


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ").rjust(27, "0")
