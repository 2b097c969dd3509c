"""What a document is, and what it is called, beside what its passages say."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import knowbase.store  # noqa: F401 - it brings the tokenizer
from knowbase.ranking.boosts import Fit
from knowbase.ranking.kinds import kind_of, names_code
from knowbase.ranking.profile import PROFILES
from knowbase.ranking.rank import Traits, rank, total
from knowbase.ranking.scale import best_possible
from knowbase.ranking.titles import Titles
from knowbase.values.documents import Candidate, Chunk, Document, Passage

BEST = PROFILES["best"]
NOW = "2026-01-01T00:00:00.000000Z"


def document(path: str | None, title: str = "", kind: str = "markdown", seq: int = 1) -> Document:
    return Document(str(seq), seq, "", title, kind, (), path, NOW, NOW)


def ordered(text: str, *documents: Document, **changes: object) -> list[str | None]:
    """The paths in their order, of documents that both legs find equally good."""
    passages = {
        one.seq: Passage(
            one.seq, Chunk(str(one.seq), 0, None, "", "", 0, 1, None, 0, str(one.seq)), one
        )
        for one in documents
    }
    legs = {"semantic": [Candidate(one.seq, 0.9) for one in documents]}
    profile = BEST._replace(word_first=False, **changes)  # type: ignore[arg-type]
    hits = rank(legs, passages, profile, NOW, Traits(text=text))
    for hit in hits:
        assert hit.score == pytest.approx(total(hit.contributions, hit.factors), abs=1e-12)
    return [passages[hit.chunk].document.path for hit in hits]


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("docs/logging.md", "markdown", None),
        ("docs/tests/how-to-test.md", "markdown", None),
        ("specs/login.rst", "text", None),
        (None, "note", None),
        ("src/client.py", "code", "code"),
        ("src/latest.py", "code", "code"),
        ("src/contest.go", "code", "code"),
        ("tests/client.py", "code", "test"),
        ("src/test_client.py", "code", "test"),
        ("pkg/client_test.go", "code", "test"),
        ("web/client.spec.ts", "code", "test"),
        ("web/__tests__/client.jsx", "code", "test"),
        ("java/ClientTest.java", "code", "test"),
        ("tests/fixtures/answers.json", "text", "test"),
        ("grafana.json", "text", "data"),
        ("config/Values.YAML", "text", "data"),
        ("examples/todo/src/store.js", "code", "example"),
        ("docs_src/first/tutorial001.py", "code", "example"),
        ("listings/ch04/listing-04-01/src/main.rs", "code", "example"),
        ("Samples/settings.json", "text", "example"),
        ("examples/todo/test_store.py", "code", "test"),
        ("examples/README.md", "markdown", None),
        ("src/examples.py", "code", "code"),
    ],
)
def test_code_data_and_tests_are_known_by_their_type_and_path(
    path: str | None, kind: str, expected: str | None
) -> None:
    assert kind_of(document(path, kind=kind)) == expected


@pytest.mark.parametrize(
    "text",
    ["SECRET_KEY_FALLBACKS", "what does getUserName give", "HttpClient", "site.related_posts",
     "std::vector", "p->next", "render_template()", "how is open( called"],
)  # fmt: skip
def test_an_identifier_names_code(text: str) -> None:
    assert names_code(text)


@pytest.mark.parametrize(
    "text",
    ["may I release on a Friday?", "write LaTeX formulas", "deploy with GitHub Actions",
     "upgrade from 3.5 to 3.6", "CSS snippets", "install on macOS", ""],
)  # fmt: skip
def test_words_of_prose_name_no_code(text: str) -> None:
    assert not names_code(text)


def test_a_page_stands_before_code_and_code_before_its_tests() -> None:
    page, code = document("docs/hooks.md", seq=3), document("src/hooks.py", kind="code", seq=2)
    tests = document("tests/test_x.py", kind="code", seq=1)
    assert ordered("call something before each request", tests, code, page) == [
        "docs/hooks.md",
        "src/hooks.py",
        "tests/test_x.py",
    ]


def test_who_names_an_identifier_gets_code_as_it_scores_but_tests_behind_it() -> None:
    code, page = document("src/b.py", kind="code", seq=1), document("docs/a.md", seq=2)
    tests = document("tests/test_x.py", kind="code", seq=3)
    assert ordered("before_request", tests, code, page) == [
        "src/b.py",  # the first of equals
        "docs/a.md",
        "tests/test_x.py",
    ]


def test_examples_stand_behind_what_they_use() -> None:
    code, page = document("src/b.py", kind="code", seq=2), document("docs/a.md", seq=3)
    example = document("examples/b.py", kind="code", seq=1)
    assert ordered("before_request", example, code, page) == [code.path, page.path, example.path]
    assert ordered("call it before each", example, code, page) == [
        page.path,
        code.path,
        example.path,
    ]


def test_bases_of_code_alone_are_ordered_as_without_kinds() -> None:
    files = [document(f"src/{n}.py", kind="code", seq=n) for n in range(1, 6)]
    assert ordered("read a file", *files) == ordered("read a file", *files, kind_weights={})


def test_a_title_that_says_what_was_asked_stands_first() -> None:
    glossary = document("Glossary.md", "Glossary", seq=1)
    page = document("Extending/CSS snippets.md", "CSS snippets", seq=2)
    assert ordered("CSS snippets", glossary, page) == [page.path, glossary.path]
    assert ordered("css snippet", glossary, page) == [page.path, glossary.path]


@pytest.mark.parametrize(
    ("text", "path", "title", "match"),
    [
        ("event hooks", "docs/event-hooks.md", "Event Hooks", 1.0),
        ("event hooks", "docs/hooks.md", "", 1 / 4),
        ("the hooks of an event", "event-hooks/README.md", "", 1.0),
        ("event hooks", "event-hooks/index.html", "Event hooks", 1.0),
        ("event hooks", None, "Everything else", 0.0),
        ("how do event hooks work in clients", "x.md", "Event hooks", (2 / 3 * 2 / 4) ** 2),
        ("東京タワー", "東京タワー.md", "東京タワー", 1.0),
        ("", "a.md", "A", 0.0),
        ("a.md", None, "", 0.0),
    ],
)
def test_a_title_counts_by_the_words_that_it_shares(
    text: str, path: str | None, title: str, match: float
) -> None:
    assert Titles(text).match(document(path, title)) == pytest.approx(match)


@given(st.text(max_size=40), st.text(max_size=40), st.one_of(st.none(), st.text(max_size=40)))
def test_a_match_is_a_share_and_two_texts_match_alike_both_ways(
    text: str, title: str, path: str | None
) -> None:
    match = Titles(text).match(document(path, title))
    assert 0 <= match <= 1
    if path is None:
        assert match == pytest.approx(Titles(title).match(document(None, text)))


@given(st.text(max_size=40), st.text(max_size=40), st.sampled_from(["code", "markdown", "text"]))
def test_no_factor_passes_the_bound_of_the_scale(text: str, title: str, kind: str) -> None:
    bound = best_possible(("semantic",), BEST) / BEST.weights["semantic"]
    factors = Fit(text, BEST).factors(document("tests/a.json", title, kind))
    found = 1.0
    for factor in factors:
        found *= factor.value
    assert BEST.kind_weights["test"] <= found <= bound


def test_the_documents_own_recipes_have_neither() -> None:
    for name, field in product(("kb", "typed", "memory", "work", "entries"), ("title", "kind")):
        profile = PROFILES[name]
        assert not profile.title_boost if field == "title" else not profile.kind_weights
