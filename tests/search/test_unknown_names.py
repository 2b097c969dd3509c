"""A tag or project that nobody has is said, when nothing is found, as a mistyped word is."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note, SearchRequest
from knowbase.query.conditions import EVERYTHING
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


def test_one_unknown_among_many_known_is_named(base: Base) -> None:
    known = [f"t{number}" for number in range(20)]
    base.note(Note("All tags.", tags=tuple(known)))
    told = notices(base, "deploy", tags=(*known, "nowhere"))
    assert len(told) == 1
    assert told[0].startswith("no document has the tag 'nowhere'")


def test_without_one_that_is_near_some_are_named(base: Base) -> None:
    expected = "no document has the project 'q' (there is Apollo, zeus)"
    assert notices(base, "deploy project:q") == (expected,)


def test_what_is_found_or_excluded_or_known_needs_no_word(base: Base) -> None:
    assert notices(base, "deploy -tag:nope") == ()
    assert notices(base, "deploy OR tag:nope") == ()
    assert notices(base, "nothing tag:production") == ()


def test_a_path_that_no_document_has_is_named_with_the_nearest_folder(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("docs/web/a.md", "notes/b.md"):
        Path(path).parent.mkdir(parents=True)
        Path(path).write_text(f"# Deploy\n\nDeploy from {path}.\n")
    base.add(["docs", "notes"])
    [told] = notices(base, "deploy path:doc/")
    assert told.startswith("no document has the path 'doc/' (")
    assert "web/" in told
    assert (
        len(notices(base, "folder:nosuch"))
        == len(notices(base, "", filters={"path": "a/*.txt"}))
        == 1
    )
    assert notices(base, "tables path:web/") == notices(base, "deploy path:*.md") == ()
    held = base.within(Access(project="zeus"))
    assert notices(held, "path:doc/") == ("no document has the path 'doc/' (there is no path yet)",)


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


def test_a_key_that_no_front_matter_has_is_named_with_the_nearest(base: Base) -> None:
    base.note("---\nstatus: active\nnest: {Deep: 1}\n---\nDeploy the lift\n")
    said = "no document has the key 'statuss' in its front matter (did you mean status?)"
    assert notices(base, "meta.statuss:active") == (said,)
    assert notices(base, "deploy", where=("statuss=active",)) == (said,)
    assert notices(base, "deploy", where=("statuss!=active",)) == (said,)  # all hits pass
    assert base.documents(where=["statuss=active"]).notices == (said,)
    assert base.documents(where=["statuss!=active"]).notices == (said,)
    for known, passes in (("Status=gone", 0), ("nest.deep>3", 0), ("status!=active", 1)):
        assert len(notices(base, "deploy", where=(known,))) == (not passes)
        assert len(base.documents(where=[known]).notices) == (not passes)
    assert base.store.meta_keys(EVERYTHING) == [("nest", 1), ("status", 1)]


def test_a_filter_that_nothing_passes_is_said(base: Base) -> None:
    told = "no document passes what is filtered by: "
    both = f"{told}(tag:production AND project = zeus)"
    assert notices(base, "deploy", tags=("production",), filters={"project": "zeus"}) == (both,)
    assert notices(base, "created:>2100") == (f"{told}created_at >= 2101-01-01T00:00:00.000000Z",)
    assert base.documents(types=["fact"]).notices == (f"{told}type:fact",)
    assert notices(base, "nothing tag:production") == ()  # one does, without the word


def test_a_listing_names_unknown_tags_too(base: Base) -> None:
    assert base.documents(tags=["prodution"]).notices == (
        "no document has the tag 'prodution' (did you mean production?)",
    )
    assert base.documents(tags=["production"]).notices == ()


@pytest.mark.parametrize("query", ["((((", "???", "  … — ", "()", '"" ""', "`^"])
def test_punctuation_alone_finds_nothing_and_says_so(base: Base, query: str) -> None:
    found = base.search(query)
    assert found.hits == ()
    assert "the query has no words" in found.notices
    listed = base.search(query, tags=["production"]).hits  # filters alone list what passes
    assert [hit.code for hit in listed] == ["SHOP"]


def test_strict_says_why_it_finds_nothing(base: Base) -> None:
    query = '"shop deploy" till'
    assert base.search(query, mode="keyword").hits != ()
    strict = base.search(query, mode="keyword", strict=True)
    assert strict.hits == ()
    assert strict.notices == (
        'nothing has "shop deploy"; without strict, hits that have its words are shown',
    )
    assert notices(base, '"deploy the shop"', strict=True) == ()
