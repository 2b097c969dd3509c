"""The choices where the documents differ, through search."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from knowbase import Base, SearchRequest
from placed import placed_base, seen_at, write


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    texts = {
        "URL": "see http://example.org/x for more",
        "COLON": "the key foo:bar is set",
        "SHARP": "written in C# by hand",
        "PLUS": "written in C++ by hand",
        "VERSION": "since version 1.0.21 it works",
        "CODE": "as METIS-I-0018 says",
        "CAMEL": "call getUserName there",
        "USER": "the user has a bicycle",
    }
    with placed_base(tmp_path_factory.mktemp("choices")) as made:
        for code, text in texts.items():
            write(made, code, text)
        yield made


def codes(base: Base, query: str) -> list[str]:
    answer = base.search(SearchRequest(query, mode="keyword"))
    assert answer.problems == ()
    return [hit.code for hit in answer.hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [("http://example.org/x", "URL"), ("foo:bar", "COLON"), ("C#", "SHARP"), ("C++", "PLUS"),
     ("1.0.21", "VERSION"), ("METIS-I-0018", "CODE"), ("getUserName", "CAMEL")],
)  # fmt: skip
def test_only_known_operators_are_operators(base: Base, query: str, first: str) -> None:
    """C30, C31"""
    assert codes(base, query)[0] == first


def test_identifiers_match_whole_and_in_parts(base: Base) -> None:
    """C31"""
    assert set(codes(base, "user")) == {"CAMEL", "USER"}
    assert codes(base, "getUserName") == ["CAMEL", "USER"]
    assert codes(base, "C#") == ["SHARP"]


def test_every_vector_is_compared_and_the_nearest_come_first(tmp_path: Path) -> None:
    """S1-07: more than any number of candidates, each with its exact cosine."""
    with placed_base(tmp_path) as base:
        for number in range(60):
            write(base, f"N-{number}", f"text {number}", (number * 37 % 60) / 100)
        answer = base.search(SearchRequest("x", mode="semantic", top=60, explain=True))
    cosines = [hit.explanation.contributions[0].raw for hit in answer.hits if hit.explanation]
    assert len(cosines) == 60
    assert cosines == sorted(cosines, reverse=True)
    expected = [seen_at(number / 100) for number in reversed(range(60))]
    assert cosines == pytest.approx(expected, abs=1e-5)
