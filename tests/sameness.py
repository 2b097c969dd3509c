"""Whether two bases give the same answer."""

import pytest

from knowbase import Answer, Hit


def comparable(hit: Hit) -> Hit:
    """The hit without what every base has of its own."""
    document = hit.document._replace(id="", superseded_by=None)
    return hit._replace(id="", score=0, explanation=None, superseded_by=None, document=document)


def assert_same(one: Answer, other: Answer) -> None:
    assert [hit.section for hit in one.hits] == [hit.section for hit in other.hits]
    for left, right in zip(one.hits, other.hits, strict=True):
        assert left.score == pytest.approx(right.score, abs=1e-6)
        assert comparable(left) == comparable(right)
        assert (left.superseded_by is None) == (right.superseded_by is None)
    assert (one.total, one.notices, one.suggestions, one.problems) == (
        other.total, other.notices, other.suggestions, other.problems,
    )  # fmt: skip
