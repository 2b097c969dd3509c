"""What differs by more than chance."""

import random

import pytest

from knowbase.evaluate.bootstrap import intervals


def test_what_is_always_better_is_significantly_better() -> None:
    (interval,) = intervals([[0.1, 0.2, 0.1, 0.3] * 20])
    assert interval.is_significant
    assert interval.low > 0
    assert interval.mean == pytest.approx(0.175)


def test_no_difference_at_all_is_not_significant() -> None:
    (interval,) = intervals([[0.0] * 50])
    assert interval == (0.0, 0.0, 0.0)
    assert not interval.is_significant


def test_the_interval_is_as_wide_as_the_standard_error_says() -> None:
    draw = random.Random(1)
    values = [draw.gauss(0.0, 0.2) for _ in range(400)]
    mean = sum(values) / 400
    error = (sum((value - mean) ** 2 for value in values) / 400) ** 0.5 / 20
    (interval,) = intervals([values])
    assert interval.low == pytest.approx(mean - 1.96 * error, abs=0.002)
    assert interval.high == pytest.approx(mean + 1.96 * error, abs=0.002)


def test_the_true_difference_is_within_about_95_of_100_intervals() -> None:
    draw = random.Random(2)
    series = [[draw.gauss(0.05, 0.3) for _ in range(100)] for _ in range(300)]
    inside = sum(one.low <= 0.05 <= one.high for one in intervals(series))
    assert 0.90 <= inside / 300 <= 0.99


def test_the_same_values_give_the_same_interval() -> None:
    values = [0.1, -0.2, 0.3, 0.0, 0.05]
    assert intervals([values]) == intervals([values])
    assert intervals([]) == []
