"""One analysis for indexing, querying and highlighting: C31, C34."""

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowbase.text import analysis
from knowbase.text.analysis import (
    JOINT,
    clean,
    extras,
    located,
    phrase_words,
    query_words,
    stems,
    tokens,
)
from knowbase.text.forms import forms
from knowbase.text.indexed import index_terms
from knowbase.text.stopwords import STOP_WORDS

anything = st.text(max_size=80) | st.text("aBc1 _-.'+#漢字ไท가ＡéI", max_size=80)


def surfaces(text: str) -> list[str]:
    return [word.surface for word in query_words(text)]


@given(anything | st.text("aBc1 _-.'’+#é–…→µ²ßк東", max_size=80))
def test_texts_between_plain_ones_and_all_scripts_have_the_words_that_these_have(
    text: str,
) -> None:
    """An English text with a dash is cut up by quicker patterns; they find the same."""
    found = list(extras(text)), [list(forms(text, latin=latin)) for latin in (False, True)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(analysis, "is_spaced", lambda _: text.isascii())
        patch.setattr("knowbase.text.forms._has_others", lambda _: not text.isascii())
        whole = list(extras(text)), [list(forms(text, latin=latin)) for latin in (False, True)]
    assert found == whole


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Kubernetesクラスタ", {"Kubernetes", "クラ", "ラス", "スタ"}),
        ("用kubectl回滚", {"用", "kubectl", "回滚"}),
        ("kubectl로 합니다", {"kubectl", "로", "합니", "니다"}),
        ("v1.2版 2024年", {f"v1{JOINT}2", "v1", "2", "版", "2024", "年"}),
    ],
)
def test_what_stands_beside_letters_without_spaces_is_a_word(text: str, words: set[str]) -> None:
    assert set(surfaces(text)) == words


@given(st.text("aBc1 _-.'漢字ไท가éI", max_size=40))
def test_a_phrase_is_found_in_its_own_text(text: str) -> None:
    text = clean(text)
    indexed = [stems(text), stems(index_terms("note", (), text))]
    for word in phrase_words(text):
        wanted = stems(word.surface)
        places = [(row, at) for row in indexed for at in range(len(row))]
        assert any(
            row[at].startswith(wanted[0]) if word.prefix else row[at : at + len(wanted)] == wanted
            for row, at in places
        )


@given(anything)
def test_tokens_stand_where_they_say(text: str) -> None:
    text = clean(text)
    for token in tokens(text):
        assert stems(text[token.start : token.end]) == [token.stem]


@given(anything)
def test_every_extra_is_one_word_of_the_index(text: str) -> None:
    for extra in extras(clean(text)):
        assert len(stems(extra.surface)) == 1
        assert 0 <= extra.start < extra.end <= len(text)


@settings(max_examples=300)
@given(anything)
def test_every_query_word_is_found_in_its_own_text(text: str) -> None:
    text = clean(text)
    indexed = set(stems(text)) | set(stems(index_terms("note", (), text)))
    for word in query_words(text):
        [stem] = stems(word.surface)
        assert stem in indexed or any(known.startswith(stem) for known in indexed)


@given(anything)
def test_every_query_word_can_be_highlighted_in_its_own_text(text: str) -> None:
    text = clean(text)
    known = {token.stem for token in located(text)}
    assert all(set(stems(word.surface)) <= known for word in query_words(text))


@given(anything)
def test_stemming_is_that_of_fts5(text: str) -> None:
    """S1-02: `porter unicode61`, seen through FTS5's own vocabulary table."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize = 'porter unicode61')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'row')")
    text = clean(text)
    connection.execute("INSERT INTO t VALUES (?)", (text,))
    assert {term for (term,) in connection.execute("SELECT term FROM v")} == set(stems(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("getUserName", ["get", "User", "Name", "getUserName"]),
        ("HTTPServer", ["HTTP", "Server", "HTTPServer"]),
        ("snake_case", ["snakecase", "snake", "case"]),
        ("METIS-I-0018", ["METISI0018", "METIS", "0018"]),
        ("C++", ["Cplusplus"]),
        ("C#", ["Csharp"]),
        ("don't", ["dont", "don"]),
        ("東京都", ["東京", "京都"]),
        ("how do I set up git", ["set", "git"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("run running runs", ["run"]),
        ("¿?!…", []),
    ],
)
def test_words_of_a_query(text: str, expected: list[str]) -> None:
    assert surfaces(text) == expected


def test_a_version_differs_from_the_number_with_the_same_digits() -> None:
    assert stems(surfaces("1.0.21")[0]) != stems("1021")


def test_a_lone_character_of_an_unspaced_script_is_a_prefix() -> None:
    assert [(word.surface, word.prefix) for word in query_words("山")] == [("山", True)]
    assert not any(word.prefix for word in query_words("山川"))


def test_a_documents_type_is_indexed_without_matching_the_plain_word() -> None:
    """S3-19"""
    assert not set(stems("decision")) & set(stems(index_terms("decision", (), "text")))
    assert stems(index_terms("temp_note", (), "text")) != stems(index_terms("note", (), "text"))


def test_stop_words_are_lower_case_words() -> None:
    assert all(word.isalpha() and word == word.lower() for word in STOP_WORDS)
