"""Questions made from a base, and the copy of it that they are asked of."""

from collections import Counter
from collections.abc import Iterator

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.errors import InvalidInput
from knowbase.evaluate.judged import Question, Without
from knowbase.evaluate.make import KINDS, make
from knowbase.evaluate.own import reduced, resolved


@pytest.fixture(scope="module")
def base(handbook: Kb) -> Iterator[Base]:
    with knowbase.open(str(handbook.folder)) as base:
        yield base


def test_a_quarter_is_of_each_kind(base: Base) -> None:
    assert Counter(one.kind for one in make(base, 30, 0)) == dict(
        zip(KINDS, (8, 8, 7, 7), strict=True)
    )


def test_the_same_seed_makes_the_same_questions_and_another_others(base: Base) -> None:
    assert make(base, 24, 5) == make(base, 24, 5)
    assert make(base, 24, 5) != make(base, 24, 6)


def test_what_a_question_is_made_of_is_what_it_asks_for(base: Base) -> None:
    questions = make(base, 40, 1)
    for one in questions:
        for reference in one.relevant:
            content = base.get(reference)
            if one.kind == "known-item":
                assert all(word in content.text for word in one.text.split())
            elif one.kind == "heading":
                assert content.sections[0].heading == one.text
            else:
                assert one.without is not None
                assert one.without.document == content.document.code
                assert content.text.count(one.without.text) == 1
                assert one.text.split()[-1] in one.without.text
        if one.kind == "no-answer":
            assert one.without is not None
            assert one.without.text == ""
            assert one.text.split()[-1] in base.get(one.without.document).text
    assert len({one.text for one in questions}) == 40


def test_a_question_never_asks_for_what_another_takes_out(base: Base) -> None:
    questions = make(base, 60, 2)
    removed = {one.without.document for one in questions if one.kind == "no-answer" and one.without}
    asked = {reference.partition(":")[0] for one in questions for reference in one.relevant}
    assert removed
    assert removed.isdisjoint(asked)


def test_the_copy_lacks_the_sentence_and_the_document_and_the_base_keeps_them(base: Base) -> None:
    questions = make(base, 40, 3)
    held_out = next(one for one in questions if one.kind == "held-out")
    unanswerable = next(one for one in questions if one.kind == "no-answer")
    (code,) = held_out.relevant
    assert held_out.without is not None
    assert unanswerable.without is not None
    gone = held_out.without.text
    before = base.get(code)
    with reduced(base, questions) as copy:
        assert copy.path != base.path
        after = copy.get(code)
        assert gone in before.text
        assert gone not in after.text
        assert after.document.title == before.document.title
        assert after.document.created_at == before.document.created_at
        assert copy.store.find(unanswerable.without.document) is None
        best = copy.search(SearchRequest(held_out.text, mode="semantic", top=1)).hits[0]
        assert gone not in best.snippet
    assert base.get(code) == before
    assert base.store.find(unanswerable.without.document) is not None


def test_questions_that_need_no_copy_are_asked_of_the_base_itself(base: Base) -> None:
    with reduced(base, [Question("1", "words", {})]) as asked:
        assert asked is base


def test_references_of_every_form_are_understood(base: Base) -> None:
    page = base.get("HB-T-0021")
    forms = ["HB-T-0021", page.document.id, "handbook/operations/deploying.md", "hb-t-0021:freeze"]
    keys = [
        next(iter(resolved(base, [Question("1", "q", {form: 1.0})])[0].relevant)) for form in forms
    ]
    assert keys == [page.document.id] * 3 + ["section HB-T-0021:freeze"]


def test_a_reference_to_nothing_names_the_question(base: Base) -> None:
    for question in (
        Question("7", "deploy", {"HB-T-9999": 1.0}),
        Question("7", "deploy", {}, without=Without("HB-T-9999")),
    ):
        with pytest.raises(InvalidInput) as caught, reduced(base, [question]) as asked:
            resolved(asked, [question])
        assert "question 7 ('deploy'): there is no 'HB-T-9999'" in caught.value.message


def test_a_base_with_nothing_to_ask_about_says_so(kb: Kb) -> None:
    with knowbase.open(str(kb.folder)) as empty:
        with pytest.raises(InvalidInput, match="too little"):
            make(empty, 8, 0)
        empty.note(Note("Too short."))
        with pytest.raises(InvalidInput, match="too little"):
            make(empty, 8, 0)
