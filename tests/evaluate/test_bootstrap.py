"""What differs by more than chance."""

import random

import pytest

from knowbase.evaluate.bootstrap import holm, intervals


def test_what_is_always_better_is_significantly_better() -> None:
    (interval,) = intervals([[0.1, 0.2, 0.1, 0.3] * 20])
    assert interval.chance < 0.01
    assert interval.low > 0
    assert interval.mean == pytest.approx(0.175)


def test_no_difference_at_all_is_not_significant() -> None:
    (interval,) = intervals([[0.0] * 50])
    assert interval == (0.0, 0.0, 0.0, 1.0)
    assert holm([interval.chance]) == [False]


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


def test_of_many_comparisons_each_has_to_be_surer() -> None:
    """Holm's own steps: 0.01·4, 0.013·3, 0.03·2 is too much, and then nothing more counts."""
    assert holm([0.03, 0.01, 0.04, 0.013]) == [False, True, False, True]
    assert holm([0.04]) == [True]
    assert holm([]) == []


def test_of_many_comparisons_without_a_difference_seldom_one_is_significant() -> None:
    draw = random.Random(3)
    families = 60
    wrong = 0
    for _ in range(families):
        series = [[draw.gauss(0.0, 0.3) for _ in range(60)] for _ in range(8)]
        wrong += any(holm([one.chance for one in intervals(series)]))
    assert wrong <= families * 0.15  # one by one it would be a third of them
