"""Moments as text."""

LATEST = 253_402_300_799.0  # the end of the year 9999: years keep their width


def timestamp(seconds: float) -> str:
    """ISO 8601 in UTC with a fixed width: the order of the texts is the order in time."""
    whole, part = divmod(int(min(max(seconds, 0.0), LATEST) * 1_000_000), 1_000_000)
    days, rest = divmod(whole, 86_400)
    year, month, day = _date(days)
    hour, minute = divmod(rest // 60, 60)
    return f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{rest % 60:02}.{part:06}Z"


def _date(days: int) -> tuple[int, int, int]:
    """Year, month and day of a number of days since 1970, by Howard Hinnant's civil_from_days:
    years start in March, so that a leap day is a year's last."""
    era, day_of_era = divmod(days + 719_468, 146_097)
    year = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year + year // 4 - year // 100)
    month = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month + 2) // 5 + 1
    return era * 400 + year + (month >= 10), month + 3 if month < 10 else month - 9, day


def days_between(earlier: str, later: str) -> float:
    """Days from one timestamp to another, fractions included; negative when they are swapped."""
    from datetime import datetime

    age = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return age.total_seconds() / 86_400
