"""Moments as text."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from knowbase.values.times import LATEST, days_between, timestamp


@given(st.integers(0, int(LATEST)), st.integers(0, 999_999))
def test_a_timestamp_is_what_the_calendar_says(seconds: int, micros: int) -> None:
    expected = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    assert timestamp(seconds).rjust(27, "0") == expected.rjust(27, "0")
    assert timestamp(micros / 1_000_000)[:20] == "1970-01-01T00:00:00."


def test_what_is_before_or_behind_the_calendar_is_its_edge() -> None:
    assert timestamp(-5) == "1970-01-01T00:00:00.000000Z"
    assert timestamp(1e300) == "9999-12-31T23:59:59.000000Z"
    assert timestamp(951_782_400.5) == "2000-02-29T00:00:00.500000Z"


def test_days_between_two_moments_count_fractions() -> None:
    assert days_between(timestamp(0), timestamp(129_600)) == 1.5
