"""The metrics: by hand, and against trec_eval itself."""

import math
import random

import pytest
import pytrec_eval

from knowbase.evaluate.metrics import (
    measured,
    ndcg,
    percentile,
    recall,
    reciprocal_rank,
    separation,
    success,
)

RELEVANT = {"a": 2.0, "b": 1.0}


def test_a_perfect_order_scores_one_and_nothing_found_zero() -> None:
    assert ndcg(["a", "b", "x"], RELEVANT, 10) == 1.0
    assert ndcg([], RELEVANT, 10) == ndcg(["x"], RELEVANT, 10) == 0.0


def test_gain_is_linear_and_discounted_by_place() -> None:
    best = 2 / math.log2(2) + 1 / math.log2(3)
    assert ndcg(["b", "x", "a"], RELEVANT, 10) == pytest.approx((1 + 2 / math.log2(4)) / best)
    assert ndcg(["x", "a"], RELEVANT, 1) == 0.0


def test_recall_reciprocal_rank_and_success_count_what_is_among_the_first() -> None:
    found = ["x", "b", "y", "a"]
    assert recall(found, RELEVANT, 10) == 1.0
    assert recall(found, RELEVANT, 3) == 0.5
    assert reciprocal_rank(found, RELEVANT, 10) == 0.5
    assert reciprocal_rank(["x"], RELEVANT, 10) == 0.0
    assert success(found, RELEVANT, 2) == 1.0
    assert success(found, RELEVANT, 1) == 0.0


def test_every_metric_is_trec_evals() -> None:
    """Random rankings of random judgments, graded ones too, give the same numbers."""
    draw = random.Random(7)
    documents = [f"d{number}" for number in range(300)]
    judged, run, ours = {}, {}, {}
    for number in range(60):
        question = f"q{number}"
        found = draw.sample(documents, draw.randint(1, 150))
        relevant = {one: draw.randint(1, 3) for one in draw.sample(documents, draw.randint(1, 30))}
        unjudged = {one: 0 for one in draw.sample(documents, 20) if one not in relevant}
        judged[question] = {**relevant, **unjudged}
        run[question] = {one: float(len(found) - place) for place, one in enumerate(found)}
        scores = {one: float(score) for one, score in relevant.items()}
        ours[question] = measured(found[:10], found[:100], scores)
    theirs = pytrec_eval.RelevanceEvaluator(
        judged, {"ndcg_cut.10", "recall.10,100", "success.5"}
    ).evaluate(run)
    first = {
        question: dict(sorted(found.items(), key=lambda pair: -pair[1])[:10])
        for question, found in run.items()
    }
    ranks = pytrec_eval.RelevanceEvaluator(judged, {"recip_rank"}).evaluate(first)
    for question, values in ours.items():
        expected = theirs[question]
        assert values["ndcg@10"] == pytest.approx(expected["ndcg_cut_10"], abs=1e-9)
        assert values["recall@10"] == pytest.approx(expected["recall_10"], abs=1e-9)
        assert values["recall@100"] == pytest.approx(expected["recall_100"], abs=1e-9)
        assert values["success@5"] == expected["success_5"]
        assert values["mrr@10"] == pytest.approx(ranks[question]["recip_rank"], abs=1e-9)


def test_separation_is_the_chance_that_an_answer_scores_higher() -> None:
    assert separation([3, 4], [1, 2]) == 1.0
    assert separation([1, 2], [3, 4]) == 0.0
    assert separation([1, 3], [2]) == 0.5
    assert separation([1], [1]) == 0.5


def test_a_percentile_is_a_value_that_was_measured() -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.0
    assert percentile([float(one) for one in range(1, 101)], 0.95) == 95.0
    assert percentile([7.0], 0.95) == 7.0
