"""Any string is a query: C2, S0-02, S0-03, S0-04."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.query.words import MAX_WORDS, parse, sanitize_fts_query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("test (query) *special*", "test query special"),
        ('a"b~c^d', "a b c d"),
        ("{x}[y]?:\\", "x y"),
        ("  many   spaces ", "many spaces"),
        ("", ""),
    ],
)
def test_the_sanitiser_strips_special_characters(query: str, expected: str) -> None:
    """S0-02"""
    assert sanitize_fts_query(query) == expected


@given(st.text(st.characters(exclude_categories=()), max_size=200))
def test_no_string_raises(text: str) -> None:
    """C2"""
    query = parse(text)
    assert len(query.keyword.words) <= MAX_WORDS


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!()"])
def test_a_query_without_words_has_none(text: str) -> None:
    """S0-04"""
    assert parse(text).keyword.words == ()


def test_a_very_long_query_is_cut_and_says_so() -> None:
    query = parse(" ".join(f"word{i}" for i in range(5_000)))
    assert len(query.keyword.words) == MAX_WORDS
    assert len(query.notices) == 2
    assert "first 256" in query.notices[1]
