"""Work documents: the query language's numbers and structure, through search."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Kb
from knowbase import Base, SearchRequest
from knowbase.search.answer import Hit
from placed import placed_base, seen_at, write


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Base]:
    with placed_base(tmp_path) as made:
        yield made


def asked(base: Base, query: str, **more: object) -> dict[str, Hit]:
    """The hits by their codes, in their order, each with its explanation."""
    request = SearchRequest(query, **{"profile": "work", "explain": True, **more})  # type: ignore[arg-type]
    return {hit.code: hit for hit in base.search(request).hits}


def parts(hit: Hit) -> dict[str, tuple[float, float]]:
    """The weight and the value of each leg."""
    assert hit.explanation is not None
    return {part.leg: (part.weight, part.value) for part in hit.explanation.contributions}


def test_the_documents_example_has_its_structure(kb: Kb) -> None:
    """S3-20: as `kb query` prints it."""
    kb("note", "The initiative", "--code", "METIS-I-0001")
    plan = kb.json("query", "database tag:backend NOT deprecated under:METIS-I-0001")
    assert plan["summary"] == {
        "terms": ["database"],
        "tags": [["include", "backend"]],
        "negations": ["deprecated"],
        "scope": ["under", "METIS-I-0001"],
        "operators": ["And", "And", "And"],
    }


def test_title_text_and_type_are_found_and_the_filters_are_kept(base: Base) -> None:
    """S3-19: stems too; archived documents are left out unless asked for; the limit holds."""
    write(base, "N-1", "about something", 0.1, title="Migrating databases", type="decision")
    write(base, "N-2", "a migration of the schema", 0.1, type="lesson")
    write(base, "N-3", "plain", 0.1, type="lesson")
    words = {"mode": "keyword"}
    assert set(asked(base, "migrations", **words)) == {"N-1", "N-2"}
    assert set(asked(base, "lesson", **words)) == {"N-2", "N-3"}
    assert set(asked(base, "migration", type=("lesson",), **words)) == {"N-2"}
    base.lifecycle.archive(("N-2",))
    assert set(asked(base, "migration", **words)) == {"N-1"}
    assert set(asked(base, "migration", include=("archived",), **words)) == {"N-1", "N-2"}
    assert len(asked(base, "migration", include=("archived",), top=1, **words)) == 1


@pytest.mark.parametrize(
    ("query", "weights"),
    [("heron", (0.7, 0.2)), ('heron similar:"a bird"', (0.2, 0.7)), ("heron like:ME", (0.2, 0.7)),
     ("heron weights:0.5,0.3,0.2", (0.5, 0.3))],
)  # fmt: skip
def test_legs_are_stretched_and_weighed_by_what_is_asked(
    base: Base, query: str, weights: tuple[float, float]
) -> None:
    """S3-36, S3-37, S3-38: min-max of each leg's own scores, with the weights of the intent."""
    write(base, "ME", "myself", 1.0)
    for number, cosine in enumerate((0.9, 0.7, 0.6)):
        write(base, f"N-{number}", "heron " * (3 - number) + "and more words", cosine)
    hits = asked(base, query)
    raw: dict[str, list[float]] = {}
    for hit in hits.values():
        assert hit.explanation is not None
        for part in hit.explanation.contributions:
            raw.setdefault(part.leg, []).append(part.raw)
    for hit in hits.values():
        assert hit.explanation is not None
        for part in hit.explanation.contributions:
            low, high = min(raw[part.leg]), max(raw[part.leg])
            assert part.value == pytest.approx((part.raw - low) / (high - low), abs=1e-9)
            assert part.weight == weights[("keyword", "semantic").index(part.leg)]
        gains = sum(part.gain for part in hit.explanation.contributions)
        assert hit.score == pytest.approx(gains, abs=1e-12)


def test_equal_scores_count_fully_and_an_absent_leg_nothing(base: Base) -> None:
    """C28"""
    write(base, "N-1", "heron", 0.1)
    write(base, "N-2", "heron", 0.1)
    hits = asked(base, "heron")
    assert {code: parts(hit) for code, hit in hits.items()} == {
        "N-1": {"keyword": (0.7, 1.0)},
        "N-2": {"keyword": (0.7, 1.0)},
    }


def test_meaning_needs_half_and_gives_fifteen_unless_told(base: Base) -> None:
    """S3-25, S3-26, C6"""
    for number in range(20):
        write(base, f"N-{number}", "heron", 0.5 + number / 100)
    write(base, "FAR", "stork", 0.49)
    assert len(asked(base, 'similar:"a bird"')) == 15
    everything = asked(base, 'similar:"a bird"', top=50)
    assert len(everything) == 20
    assert "FAR" not in everything
    assert len(asked(base, 'similar:"a bird"', top=7)) == 7


def test_a_documents_nearest_chunk_stands_for_it(base: Base) -> None:
    """S3-32"""
    write(
        base, "TWO", "# T\n\n## Far\n\nheron cos0.600\n\n## Near\n\nheron cos0.900\n\n## End\n\nx"
    )
    [hit] = asked(base, "bird", mode="semantic").values()
    assert hit.section == "TWO:near"
    assert hit.explanation is not None
    assert hit.explanation.contributions[0].raw == pytest.approx(seen_at(0.9), abs=1e-6)


def test_shared_tags_are_related_and_are_not_links(base: Base) -> None:
    """S3-34"""
    for code in ("A-1", "B-1"):
        write(base, code, "heron", -0.9 if code == "A-1" else 0.9, tags=("bird", "river"))
    [related] = base.graph.related("A-1").results
    assert (related.document.code, related.relation) == ("B-1", "tag_overlap")
    assert base.graph.links("A-1").links == ()


def test_what_the_document_leaves_to_others_is_there(base: Base) -> None:
    """S3-40: snippets with marks, saved searches, fields as operators; words spelled alike."""
    write(base, "A-1", "a heron waits", 0.9, project="web")
    assert "<mark>heron</mark>" in asked(base, "heron")["A-1"].snippet
    base.saved.add("birds", SearchRequest("heron project:web", profile="work"))
    assert [hit.code for hit in base.saved.run("birds").hits] == ["A-1"]
    [suggestion] = base.search(SearchRequest("herron", mode="keyword")).suggestions
    assert suggestion.nearest == ("heron",)
