"""Places in a query: what is filled in never becomes an operator."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowbase.errors import InvalidInput
from knowbase.query.lexer import tokens
from knowbase.query.placeholders import filled, filled_query, placeholders


def test_places_are_named_once_in_order_and_doubled_braces_are_none() -> None:
    texts = ("{b} tag:{a} {b}", "{{c}} {1} {} {d e} {f}")
    assert placeholders(texts) == ("b", "a", "f")
    assert filled("{{c}} {b} {}", {"b": "x"}) == "{c} x {}"


@pytest.mark.parametrize(
    ("query", "value", "expected"),
    [
        ("deploy {x}", "web", "deploy web"),
        ("deploy {x}", "how to release", "deploy how to release"),
        ("deploy {x}", "NOT legacy", "deploy not legacy"),
        ("deploy {x}", "-legacy tag:a (b", "deploy legacy tag a b"),
        ("deploy {x}", "jwt* C++ 1.0.21 http://x.y", "deploy jwt C++ 1.0.21 http://x.y"),
        ("deploy {x}", 'say "hi"', "deploy say hi"),
        ("deploy -{x}", "legacy", "deploy -legacy"),
        ("deploy -{x}", "old shop", 'deploy -"old shop"'),
        ('"the {x} team"', 'web "new"', '"the web new team"'),
        ("tag:{x} a", "web shop", 'tag:"web shop" a'),
        ("-tag:{x}", "web", '-tag:"web"'),
        ("#{x}", "web", 'tag:"web"'),
        ("updated:>{x}", "7d", 'updated:>"7d"'),
        ("updated:{x}", ">7d", 'updated:">7d"'),
        ('(project:"{x}" OR a)', "web shop", '(project:"web shop" OR a)'),
        ("under:PROJ-{x}", "1", 'under:"PROJ-1"'),
        ("{{x}} {x}", "1", "{x} 1"),
    ],
)
def test_a_value_stays_what_stood_in_its_place(query: str, value: str, expected: str) -> None:
    assert filled_query(query, {"x": value}) == expected


def test_an_operator_cannot_have_a_quote_in_its_value() -> None:
    with pytest.raises(InvalidInput, match="quote"):
        filled_query("tag:{x}", {"x": 'a"b'})


@pytest.mark.parametrize(
    ("query", "value"),
    [('"{x}', "project:zeus"), ('a" {x} b', "-legacy"), ('"a" "{x} tag:b', "NOT c"),
     ('tag:"{x}', "project:zeus")],
)  # fmt: skip
def test_a_quote_that_is_never_closed_opens_no_door(query: str, value: str) -> None:
    found, _ = tokens(filled_query(query, {"x": value}))
    operators = [token.text for token in found if token.kind not in ("word", "phrase")]
    assert operators == (["tag"] if "tag:b" in query else [])


def test_a_sign_before_a_place_stays_one_whatever_the_value() -> None:
    for value in ("5", "1.0", "_x", "a-b"):
        found, _ = tokens(filled_query("deploy -{x}", {"x": value}))
        assert [token.kind for token in found][1] == "minus"


templates = st.lists(
    st.sampled_from(
        ["{x}", "{x}", '"', "(", ")", " ", " ", "-", "+", "#", "*", ":", "AND", "OR", "NOT", "a",
         "tag:", "ta", "project", "updated:>", "{{x}}", "漢", "\x00"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
values = st.text(min_size=1) | st.lists(
    st.sampled_from(["tag:", "project:zeus", "g:", "AND", "-", "(", ")", '"', "#", " ", "x", ":"]),
    min_size=1,
    max_size=6,
).map("".join)


@settings(max_examples=500, deadline=None)
@given(templates, values)
def test_no_value_adds_an_operator_to_any_query(template: str, value: str) -> None:
    def operators(query: str) -> list[tuple[str, str]]:
        found, _ = tokens(query)
        kinds = [(one.kind, one.text if one.kind == "operator" else "") for one in found]
        return [one for one in kinds if one[0] not in ("word", "phrase")]

    try:
        found = filled_query(template, {"x": value})
    except InvalidInput:
        return
    allowed = Counter(operators(filled_query(template, {"x": "a"})))
    assert Counter(operators(found)) == allowed


@given(st.text(min_size=1))
def test_no_value_adds_an_operator(value: str) -> None:
    if '"' not in value:
        found, _ = tokens(filled_query("deploy project:{x} end", {"x": value}))
        assert [token.kind for token in found] == ["word", "operator", "word"]
    found, _ = tokens(filled_query("deploy {x} tag:a", {"x": value}))
    assert {token.kind for token in found[:-1]} <= {"word", "phrase"}
    assert found[-1][:2] == ("operator", "tag")
