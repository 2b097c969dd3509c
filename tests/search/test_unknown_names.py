"""A tag or project that nobody has is said, when nothing is found, as a mistyped word is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.values.access import Access
from postgres import new_base


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    place = str(tmp_path / "base.db") if request.param == "sqlite" else new_base()
    with knowbase.create(place) as made:
        made.note(Note("Deploy the shop", code="SHOP", tags=("production",), project="Apollo"))
        made.note(Note("Deploy the till", code="TILL", tags=("secret",), project="zeus"))
        yield made


def notices(base: Base, query: str, **more: object) -> tuple[str, ...]:
    return base.search(SearchRequest(query, mode="keyword", **more)).notices  # type: ignore[arg-type]


def test_an_unknown_tag_or_project_is_named_with_the_nearest(base: Base) -> None:
    tag = "no document has the tag 'prodution' (did you mean production?)"
    project = "no document has the project 'apollo' (did you mean Apollo?)"
    assert notices(base, "deploy", tags=("prodution",)) == (tag,)
    assert notices(base, "deploy tag:prodution") == (tag,)
    assert notices(base, "tag:prodution") == (tag,)
    assert notices(base, "deploy", filters={"project": "apollo"}) == (project,)
    assert notices(base, "deploy project:apollo tag:prodution") == (project, tag)


def test_without_one_that_is_near_some_are_named(base: Base) -> None:
    expected = "no document has the project 'q' (there is Apollo, zeus)"
    assert notices(base, "deploy project:q") == (expected,)


def test_what_is_found_or_excluded_or_known_needs_no_word(base: Base) -> None:
    assert notices(base, "deploy -tag:nope") == ()
    assert notices(base, "deploy OR tag:nope") == ()
    assert notices(base, "nothing tag:production") == ()


def test_what_another_project_has_is_not_told(base: Base) -> None:
    held = base.within(Access(project="Apollo"))
    assert notices(held, "deploy tag:secret") == (
        "no document has the tag 'secret' (there is production)",
    )
    assert notices(held, "deploy project:zeus") == (
        "no document has the project 'zeus' (there is Apollo)",
    )


def test_what_is_put_away_counts_when_it_is_asked_for(base: Base) -> None:
    base.lifecycle.archive(["TILL"])
    assert notices(base, "nothing tag:secret") == (
        "no document has the tag 'secret' (there is production)",
    )
    assert notices(base, "nothing tag:secret", include=("archived",)) == ()


def test_a_base_without_any_says_so(tmp_path: Path) -> None:
    with knowbase.create(str(tmp_path / "empty.db")) as empty:
        assert notices(empty, "tag:nope") == (
            "no document has the tag 'nope' (there is no tag yet)",
        )
