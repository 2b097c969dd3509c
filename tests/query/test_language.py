"""The query language: its tree, its meaning, and that no text is ever wrong."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowbase.query.conditions import describe
from knowbase.query.meaning import summary, understand
from knowbase.query.moments import span
from knowbase.query.operators import OPERATORS, Context
from knowbase.query.parser import parse
from knowbase.query.query import Query, is_plain, plain_query
from knowbase.query.tree import And, Operator, Or, Phrase, Text, Together, Without, shown
from knowbase.values.documents import DOCUMENT_TYPES, Document

NOW = "2026-11-15T10:00:00.000000Z"  # a Sunday
KNOWN = Document("id-1", 1, "X-1", "Known", "note", (), None, NOW, NOW)
CONTEXT = Context(
    NOW,
    DOCUMENT_TYPES,
    lambda name: KNOWN if name == "X-1" else None,
    lambda _: "nearest: X-1",
    lambda session: session == "s1",
)


def meaning(text: str, match: str = "any") -> Query:
    return understand(text, match, CONTEXT)


def words(query: Query) -> list[str]:
    return [word.surface + "*" * word.prefix for word in query.keyword.words]


def messages(text: str) -> list[str]:
    return [problem.message for problem in meaning(text).problems]


def test_the_documents_example_has_exactly_its_structure() -> None:
    """S3-20"""
    tree, problems = parse("database tag:backend NOT deprecated under:METIS-I-0001")
    found = summary(tree)
    assert found.terms == ("database",)
    assert found.tags == (("include", "backend"),)
    assert found.negations == ("deprecated",)
    assert found.scope == ("under", "METIS-I-0001")
    assert found.operators == ("And", "And", "And")
    assert problems == ()


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a b", Together((Text("a", 0), Text("b", 2)))),
        ("a AND b", And((Text("a", 0), Text("b", 6)))),
        ("a OR b c", Or((Text("a", 0), Together((Text("b", 5), Text("c", 7)))))),
        ("a b AND c", Together((Text("a", 0), And((Text("b", 2), Text("c", 8)))))),
        ("NOT a", Without(Text("a", 4))),
        ("-a", Without(Text("a", 1))),
        ('-"a b"', Without(Phrase("a b", 1))),
        ("-tag:x", Without(Operator("tag", "x", 1))),
        ("#phase/active", Operator("tag", "phase/active", 0)),
        ('#"two words"', Operator("tag", "two words", 0)),
        ('-#"two words" x', Together((Without(Operator("tag", "two words", 1)), Text("x", 14)))),
        ("#“2026 plan”", Operator("tag", "2026 plan", 0)),
        ("(a OR b) AND c", And((Or((Text("a", 1), Text("b", 6))), Text("c", 13)))),
        ("pre*", Text("pre", 0, prefix=True)),
        ('similar:"a b"', Operator("similar", "a b", 0)),
        ('before:"last friday"', Operator("before", "last friday", 0)),
        ('created:>="last friday"', Operator("created", ">=last friday", 0)),
    ],
)
def test_trees(text: str, tree: object) -> None:
    """S3-01, S3-02, S3-03, S3-04"""
    assert parse(text).tree == tree
    assert parse(text).problems == ()


@pytest.mark.parametrize(
    "text",
    [
        "plain words", "C++ and C#", "version 1.0.21", "METIS-I-0018", "http://x.org/a?b=c",
        "foo:bar", "-1 +1 #1", "f(x) and g()", "don't", "a and b or not c", "a-b", "x#y", "- -- +",
        "tag :x", "日本語", "50% *", "a & b",
    ],
)  # fmt: skip
def test_plain_text_stays_plain(text: str) -> None:
    """S3-09, C30, C31"""
    from knowbase.query.words import keyword_query

    query = meaning(text)
    assert query.problems == ()
    assert query.text == text
    assert query.keyword == keyword_query(text)
    assert describe(query.filter) == describe(query.keyword_filter) == "everything"


@pytest.mark.parametrize(
    ("text", "filter_", "keyword_filter"),
    [
        ("auth -legacy", 'NOT "legacy"', 'NOT "legacy"'),
        ("+auth legacy", '"auth"', '"auth"'),
        ("a AND b", "everything", '("a" AND "b")'),
        ("a OR b", "everything", '("a" OR "b")'),
        ("tag:a OR tag:b", "(tag:a OR tag:b)", "(tag:a OR tag:b)"),
        ("x OR tag:b", "everything", '("x" OR tag:b)'),
        ("x tag:a NOT tag:b", "(tag:a AND NOT tag:b)", "(tag:a AND NOT tag:b)"),
        ('"a b" c', '"a b"', '"a b"'),
        ("under:X-1", "under:X-1", "under:X-1"),
        ("children:x-1 OR x", "everything", None),
        ("type:code,note", "type:code,note", "type:code,note"),
        ("role:dev", "role:dev", "role:dev"),
        ("NOT (a OR tag:b)", 'NOT ("a" OR tag:b)', 'NOT ("a" OR tag:b)'),
    ],
)
def test_conditions_of_each_leg(text: str, filter_: str, keyword_filter: str | None) -> None:
    """S3-18, S3-20"""
    query = meaning(text)
    assert describe(query.filter) == filter_
    if keyword_filter is not None:
        assert describe(query.keyword_filter) == keyword_filter


def test_words_under_each_rule() -> None:
    """C1, S2-04, S2-06"""
    assert words(meaning("install the git -svn")) == ["install", "git"]
    assert words(meaning("install git", "any_prefix"))[:2] == ["install*", "git*"]
    query = meaning("install git", "all")
    assert (words(query), query.keyword.match) == (["install", "git"], "all")
    either = meaning("(install OR setup) git", "all")
    assert either.keyword.match == "any"
    assert describe(either.keyword_filter) == '(("install" OR "setup") AND "git")'


def test_directives() -> None:
    """S3-10, S3-11, S3-37, S3-38"""
    query = meaning('similar:"reduce debt" weights:0.5,0.3,0.2')
    assert (query.similar, query.text, query.intent) == (("reduce debt",), "", "semantic")
    assert query.weights == (0.5, 0.3, 0.2)
    like = meaning("like:X-1 debt")
    assert [one.document.code for one in like.like] == ["X-1"]
    assert (like.text, describe(like.filter)) == ("debt", "NOT id = id-1")
    assert meaning("include:superseded include:archived").include == {"superseded", "archived"}
    assert meaning("is:superseded debt").include == {"superseded", "archived", "expired"}
    assert meaning("is:superseded OR debt").include == {"superseded"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-01-15", ("2026-01-15T00", "2026-01-16T00")),
        ("2026-12", ("2026-12-01T00", "2027-01-01T00")),
        ("2025", ("2025-01-01T00", "2026-01-01T00")),
        ("7d", ("2026-11-08T10", "2026-11-08T10")),
        ("2 weeks ago", ("2026-11-01T10", "2026-11-01T10")),
        ("36h", ("2026-11-13T22", "2026-11-13T22")),
        ("today", ("2026-11-15T00", "2026-11-16T00")),
        ("yesterday", ("2026-11-14T00", "2026-11-15T00")),
        ("last friday", ("2026-11-13T00", "2026-11-14T00")),
        ("sunday", ("2026-11-08T00", "2026-11-09T00")),
        ("last week", ("2026-11-02T00", "2026-11-09T00")),
        ("this month", ("2026-11-01T00", "2026-12-01T00")),
        ("last year", ("2025-01-01T00", "2026-01-01T00")),
        ("2026-11-15T08:30", ("2026-11-15T08", "2026-11-15T08")),
    ],
)
def test_dates_as_people_write_them(text: str, expected: tuple[str, str]) -> None:
    found = span(text, NOW)
    assert found is not None
    assert (found.start[:13], found.end[:13]) == expected


@pytest.mark.parametrize("text", ["soon", "2026-13", "2026-02-30", "9999999999d", "", "7x", "0000"])
def test_what_is_no_date(text: str) -> None:
    assert span(text, NOW) is None


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("after:2026-01-01", "updated_at >= 2026-01-01"),
        ("before:2026-01-01", "updated_at < 2026-01-01"),
        ("updated:>7d", "updated_at >= 2026-11-08"),
        ("updated:<7d", "updated_at < 2026-11-08"),
        ("created:2026-01", "(created_at >= 2026-01-01T00:00:00.000000Z AND created_at < 2026-02"),
        ("created:>2026-01", "created_at >= 2026-02-01"),
        ("created:<=2026-01", "created_at < 2026-02-01"),
        ("confidence:>=0.8", "confidence >= 0.8"),
        ("salience:0.5", "salience = 0.5"),
    ],
)
def test_comparisons(text: str, condition: str) -> None:
    assert describe(meaning(text).filter).startswith(condition)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ('auth "legacy', "this quote is never closed", 5),
        ("auth (legacy", "this ( is never closed", 5),
        ("auth legacy)", "this ) closes nothing", 11),
        ("( a ) )", "this ) closes nothing", 6),
        ("a ()", "this group is empty", 2),
        ("a OR", "OR needs something on both sides", 2),
        ("AND a", "AND needs something on both sides", 0),
        ("a AND OR b", "AND needs something on both sides", 2),
        ("a NOT", "NOT has nothing behind it", 2),
        ("a tag:", "tag: needs a value behind it", 2),
        ('a similar:""', "similar: needs a text", 2),
        ("under:Y-9", "there is no document 'Y-9' (nearest: X-1)", 0),
        ("like:Y-9", "there is no document 'Y-9' (nearest: X-1)", 0),
        ("after:someday", "'someday' is not a date", 0),
        ("confidence:high", "confidence: takes a number from 0 to 1", 0),
        ("type:film", "'film' is not a type: it is one of markdown", 0),
        ("weights:a,b", "weights: takes two or three numbers", 0),
        ("is:gone", "is: takes one of archived, expired, superseded", 0),
    ],
)
def test_mistakes_say_where_and_what_was_done(text: str, message: str, at: int) -> None:
    """S3-16, S3-17, C22"""
    [problem] = meaning(text).problems
    assert problem.message.startswith(message)
    assert problem.at == at
    assert problem.instead
    line, caret = problem.point_out(text).splitlines()[-2:]
    assert line.strip() == text.strip()
    assert caret.index("^") - 2 == at


def test_a_mistaken_operator_is_read_as_words() -> None:
    """S3-17"""
    assert words(meaning("after:someday deploy")) == ["someday", "deploy"]
    assert meaning("()").text == "()"


def test_costs_are_bounded() -> None:
    """S4-21"""
    assert "longer than 20,000" in messages("word " * 10_000)[0]
    assert any("parts" in message for message in messages("a AND " * 2_000))
    assert any("nested too deeply" in message for message in messages("(" * 500 + "a" + ")" * 500))
    assert any("nested" in m or "nothing behind" in m for m in messages("NOT " * 600 + "a"))
    assert len(meaning(" ".join(f"w{n}" for n in range(2_000))).keyword.words) <= 256


soup = st.lists(
    st.sampled_from(
        [
            "AND", "OR", "NOT", "(", ")", '"', "-", "+", "#", "*", "a", "b*", "漢字", "C++",
            "tag:x", "type:", "under:X-1", "like:Y", "after:7d", "weights:1", ":", "\x00", "is:x",
            *(f"{name}:" for name in OPERATORS),
        ]
    ),
    max_size=30,
).flatmap(lambda parts: st.sampled_from((" ".join(parts), "".join(parts))))  # fmt: skip


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=60) | soup, st.sampled_from(("any", "all", "any_prefix", "boolean")))
def test_every_text_has_a_meaning(text: str, match: str) -> None:
    """C2, S3-16"""
    query = meaning(text, match)
    for problem in query.problems:
        assert 0 <= problem.at <= len(text)
        problem.point_out(text)
    if query.tree is not None:
        shown(query.tree)
        summary(query.tree)
    describe(query.filter)
    describe(query.keyword_filter)


@given(st.text("aB1 é漢#-/(:", min_size=1, max_size=20), st.sampled_from(("", "-", "+")))
def test_a_sign_before_quotes_is_the_tag_in_them(tag: str, sign: str) -> None:
    short, long = parse(f'{sign}#"{tag}"').tree, parse(f'{sign}tag:"{tag}"').tree
    assert (short and shown(short)) == (long and shown(long))
    assert parse(f'{sign}#"{tag}"').problems == ()


@settings(max_examples=300, deadline=None)
@given(
    st.text("abC. ,!?'_/é漢&AND ORT", max_size=60),
    st.sampled_from(("any", "all", "any_prefix")),
)
def test_a_plain_text_means_the_same_with_and_without_the_parser(text: str, match: str) -> None:
    """S3-09"""
    if text.strip() and is_plain(text):
        parsed = meaning(text, match)
        assert parsed.problems == ()
        assert parsed._replace(tree=None) == plain_query(text, match)
