"""Quotes and pluses that hardly anything fulfils: the words are searched too, and it is said."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import knowbase
import postgres
from knowbase import Base, Note, SearchRequest
from knowbase.query.parser import parse
from knowbase.query.softening import soften
from linked import FarApart

TEXTS = {
    "A-1": "The script of numbered SQL statements is run by hand",
    "A-2": "A numbered SQL script is run at every deploy",
    "A-3": "Every script is numbered; the SQL in it is reviewed",
    "A-4": "Coffee is brewed on Mondays",
    "A-5": "未使用の有給休暇はkubectlで申請します。휴가를 신청해야 합니다",
    "A-6": "休暇は有給です。신청 휴가를",
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Base]:
    file = str(tmp_path_factory.mktemp("filled") / "base.db")
    place = file if request.param == "sqlite" else postgres.new_base()
    with Base(knowbase.create(place).path, embedder=FarApart()) as made:
        for code, text in TEXTS.items():
            made.note(Note(text, code=code))
        yield made


def asked(base: Base, query: str, **more: Any) -> tuple[list[tuple[str, bool]], tuple[str, ...]]:
    answer = base.search(SearchRequest(query, mode="keyword", **more))
    return [(hit.code, hit.is_relaxed) for hit in answer.hits], answer.notices


def test_those_with_the_phrase_come_first_then_those_with_its_words(base: Base) -> None:
    hits, notices = asked(base, '"numbered SQL script"')
    assert hits[0] == ("A-2", False)
    assert sorted(hits[1:]) == [("A-1", True), ("A-3", True)]
    assert notices == ('one hit has "numbered SQL script"; those behind were found by its words',)


def test_a_phrase_that_nothing_has_is_said(base: Base) -> None:
    hits, notices = asked(base, '"reviewed SQL script"')
    assert {code for code, _ in hits} == {"A-1", "A-2", "A-3"}
    assert all(relaxed for _, relaxed in hits)
    assert notices == ('nothing has "reviewed SQL script": these hits were found by its words',)
    assert asked(base, "+zebra script")[1][0].startswith("nothing has +zebra")


def test_of_several_quotes_the_missing_one_is_named(base: Base) -> None:
    by_words = ": these hits were found by its words"
    for query, named in {
        '"SQL script" "white zebra"': '"white zebra"',
        '"white zebra" "blue horse" script': '"white zebra" or "blue horse"',
        '"SQL zebra" OR "blue script"': '"SQL zebra" or "blue script"',
        "+script +zebra": "+zebra",
        '"SQL script" "is reviewed"': 'all of "SQL script", "is reviewed"',
    }.items():
        hits, notices = asked(base, query)
        assert {relaxed for _, relaxed in hits} == {True}
        assert notices[0] == f"nothing has {named}{by_words}"
    _, notices = asked(base, '"SQL script" script -deploy')
    assert notices[0] == f'nothing that passes the filters has "SQL script"{by_words}'
    _, notices = asked(base, '"numbered SQL" "every deploy"')
    behind = "; those behind were found by its words"
    assert notices == (f'one hit has "numbered SQL", "every deploy" as required{behind}',)


@pytest.mark.parametrize("quote", ["有給休暇", "휴가를 신청", "kubectlで申請"])
def test_a_phrase_is_found_within_a_sentence_without_spaces(base: Base, quote: str) -> None:
    assert asked(base, f'"{quote}"', strict=True)[0] == [("A-5", False)]
    assert asked(base, f'"{quote}"')[0][0] == ("A-5", False)
    assert ("A-5", False) not in asked(base, f'休暇 휴가를 -"{quote}"')[0]


def test_a_word_between_letters_without_spaces_is_a_word(base: Base) -> None:
    assert asked(base, "kubectl")[0] == [("A-5", False)]
    assert asked(base, "+kubectl 休暇", strict=True)[0] == [("A-5", False)]


@pytest.mark.parametrize("mode", ["hybrid", "semantic"])
def test_the_other_legs_are_filled_up_alike(base: Base, mode: str) -> None:
    answer = base.search(SearchRequest('"numbered SQL script"', mode=mode))
    assert [hit.code for hit in answer.hits if not hit.is_relaxed] == ["A-2"]
    assert not answer.hits[0].is_relaxed
    assert len(answer.hits) > 1


def test_what_is_excluded_or_filtered_stays_away(base: Base) -> None:
    hits, _ = asked(base, '"numbered SQL script" -reviewed')
    assert [code for code, _ in hits] == ["A-2", "A-1"]
    assert asked(base, '"numbered SQL script" type:code')[0] == []
    assert asked(base, "coffee AND script")[0] == []


@pytest.mark.parametrize("marks", ["“”", "„“", "„”", "«»", "»«", "””"])
def test_curled_quotes_are_quotes(base: Base, marks: str) -> None:
    """As phones, word processors and other languages set them."""
    first, last = marks[0], marks[1]
    quoted = f"{first}numbered SQL script{last}"
    assert asked(base, quoted, strict=True) == ([("A-2", False)], ())
    assert asked(base, quoted) == asked(base, '"numbered SQL script"')
    assert asked(base, f"+{quoted} -reviewed") == asked(base, '+"numbered SQL script" -reviewed')
    assert asked(base, f"{first}numbered script") == asked(
        base, "numbered script"
    )  # closes nothing


def test_a_full_page_and_a_strict_search_have_nothing_relaxed(base: Base) -> None:
    assert asked(base, '"numbered SQL script"', top=1) == ([("A-2", False)], ())
    assert asked(base, '"numbered SQL script"', strict=True) == ([("A-2", False)], ())
    assert asked(base, '"numbered SQL script"', profile="kb") == ([("A-2", False)], ())


def test_pages_of_relaxed_hits_repeat_and_lose_none(tmp_path: Path) -> None:
    with Base(knowbase.create(tmp_path / "base.db").path, embedder=FarApart()) as made:
        made.notes([f"alpha w{n % 7} w{n % 11} page {n} zeta" for n in range(150)])
        asked_for = SearchRequest('"alpha zeta" w3 w9', mode="keyword", unit="document", top=10)
        seen: list[str] = []
        while True:
            answer = made.search(asked_for._replace(offset=len(seen)))
            seen += [hit.code for hit in answer.hits]
            if answer.next_cursor is None:
                break
    assert len(seen) == len(set(seen)) == 150


def test_why_not_knows_the_relaxed_hits(base: Base) -> None:
    request = SearchRequest('"numbered SQL script"', mode="keyword")
    why = base.why_not("A-3", request)
    assert why.stage == "hit"
    assert why.reason.endswith('it does not have "numbered SQL script"')
    assert base.why_not("A-3", request._replace(strict=True)).stage == "filtered"
    assert base.why_not("A-4", request).stage == "filtered"


@given(st.text(alphabet='ab"+-() ORNT:#*', max_size=40))
def test_a_softened_query_requires_nothing_more_that_could_be_softened(text: str) -> None:
    tree = parse(text).tree
    softer = soften(tree) if tree is not None else None
    if softer is not None:
        assert softer.required
        assert soften(softer.tree) is None
