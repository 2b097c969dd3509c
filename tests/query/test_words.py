"""Any string is a query: C2, S0-02, S0-03, S0-04."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowbase.query.words import MAX_WORDS, keyword_query, sanitize_fts_query
from knowbase.text.analysis import prefix_words, stems


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
    assert len(keyword_query(text).words) <= MAX_WORDS


@pytest.mark.parametrize("text", ["", "   ", "\n\t", "?!()"])
def test_a_query_without_words_has_none(text: str) -> None:
    """S0-04"""
    assert keyword_query(text).words == ()


def test_a_very_long_query_is_cut() -> None:
    assert len(keyword_query(" ".join(f"word{i}" for i in range(5_000))).words) == MAX_WORDS


@pytest.mark.parametrize(
    ("prefix", "word"),
    [("auth", "authentication"), ("authenticat", "authentication"), ("initia", "initiative"),
     ("migrat", "migrations"), ("databas", "databases"), ("getus", "getUserName")],
)  # fmt: skip
def test_a_prefix_finds_words_whose_stem_is_shorter(prefix: str, word: str) -> None:
    """S2-04, S2-06"""
    [stem] = stems(word)
    assert any(
        stem.startswith(stems(found.surface)[0]) if found.prefix else stem in stems(found.surface)
        for found in prefix_words(prefix)
    )
