"""The graph of documents, from files to answers."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import igraph
import pytest
from graphqlite import loadable_path

from knowbase import SearchRequest, deadline
from knowbase.base import Base
from knowbase.errors import InvalidInput, NotFound
from knowbase.graph import cypher
from knowbase.graph.cypher import answered
from knowbase.query.conditions import EVERYTHING
from knowbase.ranking.proximity import DECAY, proximities
from knowbase.values.changes import Changes, Draft
from knowbase.values.edges import Edge
from knowbase.values.reading import Link
from linked import Tree, code_of, new_base, plant
from stores import NOW, draft, section


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Base, Tree]]:
    """A tree of notes with some thousand links, indexed: only for tests that change nothing."""
    folder = tmp_path_factory.mktemp("tree")
    tree = plant(folder)
    with new_base(folder) as base:
        assert len(base.add([str(folder)]).added) == len(tree.notes)
        yield base, tree


def references(base: Base) -> set[tuple[str, str]]:
    """The paths of documents that refer to each other."""
    paths = {one.id: str(one.path) for one in base.graph.network().documents}
    found = [edge for edge in base.store.edges(EVERYTHING) if edge.relation == "REFERENCES"]
    return {(paths[edge.source], paths[edge.target]) for edge in found}


def test_every_link_of_a_tree_of_notes_is_there_and_no_other(planted: tuple[Base, Tree]) -> None:
    """C24: thousands of links, broken ones, self links and duplicates among them."""
    base, tree = planted
    assert len(tree.links) > 3000
    assert references(base) == tree.links
    links = base.graph.links(code_of(0))
    assert [link.target for link in links.unresolved] == ["../gone/away.md", "no such note"]


def test_rebuilding_the_graph_gives_the_identical_set(tmp_path: Path) -> None:
    """C24: after additions, changes, renames and removals."""
    tree = plant(tmp_path, 60)
    with new_base(tmp_path) as base:
        base.add([str(tmp_path)])
        (tmp_path / tree.notes[3]).rename(tmp_path / "f1" / "renamed.md")
        (tmp_path / tree.notes[4]).unlink()
        (tmp_path / tree.notes[5]).write_text("# Title of 5\n\nOnly [[note-6]] is left.")
        base.sync()
        base.relate(code_of(6), code_of(7))
        base.graph.network()  # links what is similar to what was written last
        kept = base.store.edges(EVERYTHING)
        rebuilt = base.graph.rebuild()
        assert base.store.edges(EVERYTHING) == kept
        assert rebuilt.links["REFERENCES"] == len([e for e in kept if e.relation == "REFERENCES"])
        assert sum(rebuilt.links.values()) == len(kept)


def test_a_document_is_linked_with_its_nearest_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-33: so many of the most similar ones as the settings say, found when links are asked
    for; the threshold stays."""
    monkeypatch.setenv("KB_GRAPH_MOST_SIMILAR", "2")
    with new_base(tmp_path) as base:
        texts = [f"The harvest of {'apples ' * n}was good." for n in range(1, 8)]
        codes = [base.remember(text).document.code for text in texts]
        assert base.store.edges(EVERYTHING) == []  # nobody has waited for it
        nearest = {code: base.graph.links(code).links for code in codes}
        assert base.store.edges(EVERYTHING)
        assert all(
            {link.relation for link in found} == {"SIMILAR_TO"} for found in nearest.values()
        )
        assert all(len(found) >= 2 for found in nearest.values())
        assert sum(map(len, nearest.values())) <= 2 * 2 * len(codes)
        assert len(base.store.edges(EVERYTHING)) < len(codes) * (len(codes) - 1) / 2
        base.lifecycle.forget([codes[0]])
        assert codes[0] not in {link.document.code for link in base.graph.links(codes[1]).links}


def test_a_renamed_note_is_followed_by_code_and_title(tmp_path: Path) -> None:
    tree = plant(tmp_path, 60)
    with new_base(tmp_path) as base:
        base.add([str(tmp_path)])
        (tmp_path / tree.notes[3]).rename(tmp_path / "f3" / "renamed.md")
        assert base.sync().moved == ("f3/renamed.md",)
        by_name = {
            path
            for path, target in tree.links
            if target == tree.notes[3]
            and {"title of 3]]", code_of(3)} & _words((tmp_path / path).read_text())
        }
        found = {one for one, other in references(base) if other == "f3/renamed.md"}
        assert found == by_name
        (tmp_path / "f3" / "renamed.md").rename(tmp_path / tree.notes[3])
        base.sync()
        assert references(base) == tree.links


def _words(text: str) -> set[str]:
    return {word for word in ("title of 3]]", code_of(3)) if word in text}


def test_codes_are_found_by_the_pattern_that_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-33: REFERENCES by a configurable pattern; a rebuild follows a new one."""
    with new_base(tmp_path) as base:
        base.store.use_model(base.embedder.model)
        from knowbase import Note

        base.note(Note("First", code="ADR_1"))
        base.note(Note("Second says ADR_1", code="B-2"))
        assert base.store.edges(EVERYTHING) == []
        path = base.path
    monkeypatch.setenv("KB_GRAPH_CODE_PATTERN", r"ADR_\d+")
    with Base(path) as base:
        assert base.graph.rebuild().links == {"REFERENCES": 1}
    monkeypatch.setenv("KB_GRAPH_CODE_PATTERN", "(")
    with Base(path) as base, pytest.raises(InvalidInput) as refusal:
        base.graph.rebuild()
    assert refusal.value.field == "graph.code_pattern"


def page(identity: str, *targets: str, **fields: object) -> Draft:
    links = tuple(Link(target, "wiki") for target in targets)
    return draft(identity, section(f"About {identity}"), vectors=(None,), links=links, **fields)  # type: ignore[arg-type]


@pytest.fixture
def family(tmp_path: Path) -> Iterator[Base]:
    with new_base(tmp_path) as base:
        tags = ("a", "b", "c")
        drafts = (
            page("parent", code="P-1", tags=tags),
            page("me", "friend", code="ME", parent="p-1", tags=tags),
            page("brother", code="BRO", parent="parent", tags=("a", "b")),
            page("sister", code="SIS", parent="P-1"),
            page("half", code="TWO", tags=("a", "b")),
            page("full", code="ALL", tags=tags),
            page("single", code="ONE", tags=("a",)),
            page("friend", "stranger", code="FRI"),
            page("stranger", code="STR"),
            page("alone", code="ALO"),
        )
        base.store.apply(Changes(drafts=drafts), NOW)
        yield base


def test_related_are_parent_siblings_shared_tags_in_this_order_and_once(family: Base) -> None:
    """S4-14, S4-15, S4-16: brother also shares tags, parent too; each keeps its higher tier."""
    answer = family.graph.related("me", limit=20, depth=0)
    assert [(one.document.code, one.relation) for one in answer.results] == [
        ("P-1", "parent"),
        ("BRO", "sibling"),
        ("SIS", "sibling"),
        ("ALL", "tag_overlap"),
        ("TWO", "tag_overlap"),
    ]
    assert [one.shared_tags for one in answer.results[3:]] == [3, 2]
    assert answer.metadata.total == 5
    assert answer.metadata.relationship_types == ("parent", "sibling", "tag_overlap")
    few = family.graph.related("me", limit=2, depth=0)
    assert few.metadata == (5, ("parent", "sibling"))
    assert family.graph.related("alone", depth=0) == ((), (0, ()))
    with pytest.raises(NotFound, match="no document 'nobody'"):
        family.graph.related("nobody", depth=0)


def test_links_come_after_the_family_nearest_first(family: Base) -> None:
    """S3-12"""
    answer = family.graph.related("me", limit=20)
    linked = [(one.document.code, one.proximity) for one in answer.results[5:]]
    assert linked == [("FRI", 0.8 * DECAY), ("STR", (0.8 * DECAY) ** 2)]
    assert {one.relation for one in answer.results[5:]} == {"linked"}


def test_what_is_hidden_or_forgotten_is_in_no_answer(family: Base) -> None:
    family.lifecycle.archive(["FRI"])
    family.lifecycle.forget(["P-1"])
    answer = family.graph.related("me", limit=20)
    assert {one.document.code for one in answer.results} == {"BRO", "SIS", "ALL", "TWO"}
    shown = family.graph.related("me", limit=20, include=("archived",))
    assert {"FRI", "STR"} <= {one.document.code for one in shown.results}
    assert not family.graph.path("ME", "STR").found
    assert family.graph.path("ME", "FRI").found  # it was asked for by its name
    codes = {one.code for one in family.graph.network().documents}
    assert not {"FRI", "P-1"} & codes
    assert "P-1" not in {line.document.code for line in family.graph.links("ME").links}
    assert "P-1" not in str(family.graph.query("MATCH (d) RETURN d.code").rows)


def test_a_path_has_the_fewest_links(family: Base) -> None:
    path = family.graph.path("SIS", "STR")
    steps = [(step.relation, step.direction, step.document.code) for step in path.steps]
    assert steps == [
        ("PARENT_OF", "from", "P-1"),
        ("PARENT_OF", "to", "ME"),
        ("REFERENCES", "to", "FRI"),
        ("REFERENCES", "to", "STR"),
    ]
    assert path.proximity == pytest.approx((0.9 * DECAY) ** 2 * (0.8 * DECAY) ** 2, rel=1e-12)
    assert family.graph.path("ME", "ME").steps == ()
    assert not family.graph.path("ME", "ALO").found


def test_proximity_is_the_best_product_over_at_most_so_many_links() -> None:
    """S3-12: falling with distance and link weight."""
    edges = [
        Edge("a", "b", "SIMILAR_TO", 0.9, ""),
        Edge("c", "b", "REFERENCES", 0.8, ""),
        Edge("a", "c", "SIMILAR_TO", 0.1, ""),
        Edge("c", "d", "REFERENCES", 0.8, ""),
        Edge("d", "a", "REFERENCES", 0.0001, ""),
    ]
    near = proximities({"a"}, edges, 2)
    assert near == {
        "b": 0.9 * DECAY,
        "c": pytest.approx(0.9 * DECAY * 0.8 * DECAY),
        "d": pytest.approx(0.1 * DECAY * 0.8 * DECAY),
    }
    assert proximities({"a"}, edges, 1)["c"] == 0.1 * DECAY
    assert proximities({"a"}, edges, 3)["d"] == pytest.approx(0.9 * 0.8 * 0.8 * DECAY**3)


def found(base: Base, query: str, **more: object) -> list[str]:
    asked = SearchRequest(query, mode="keyword", unit="document", **more)  # type: ignore[arg-type]
    return [hit.code for hit in base.search(asked).hits]


def test_related_lists_what_links_and_tags_lead_to_nearest_first(family: Base) -> None:
    """S3-12, C25"""
    near = found(family, "related:ME")
    assert near[0] == "P-1"
    assert set(near) == {"P-1", "BRO", "SIS", "ALL", "TWO", "FRI", "STR"}
    assert set(found(family, "related:ME depth:1")) == {"P-1", "BRO", "ALL", "TWO", "FRI"}
    assert found(family, "related:ME tag:a -brother")[:1] == ["P-1"]
    assert "BRO" not in found(family, "related:ME -brother")
    assert found(family, "related:me under:P-1") == ["BRO", "SIS"]
    assert found(family, "related:ALO") == []
    answer = family.search(SearchRequest("related:ME", mode="keyword"))
    assert answer.search_modes_used == ("graph",)
    assert {hit.sources for hit in answer.hits} == {("graph",)}
    assert {hit.match_type for hit in answer.hits} == {"graph"}


def test_mistakes_with_related_are_told(family: Base) -> None:
    for query, told in (
        ("related:M", "there is no document 'M'"),
        ("related:ME depth:0", "from 1 to 6"),
        ("about depth:2", "how far related: goes"),
        ("about -related:ME", "cannot leave them out"),
    ):
        [problem] = family.search(SearchRequest(query, mode="keyword")).problems
        assert told in problem.message


def test_proximity_is_the_third_leg_and_explains_itself(family: Base) -> None:
    """S3-36, S3-38: weights .1, .3 and .6 for a query that asks for relations."""
    asked = SearchRequest("stranger friend related:ME", profile="work", explain=True)
    answer = family.search(asked)
    assert answer.search_modes_used == ("keyword", "graph")  # nothing here has a vector
    weights = {"keyword": 0.1, "semantic": 0.3, "graph": 0.6}
    legs = set()
    for hit in answer.hits:
        assert hit.explanation is not None
        for part in hit.explanation.contributions:
            legs.add(part.leg)
            assert part.weight == weights[part.leg]
            assert part.gain == pytest.approx(part.weight * part.value, abs=1e-12)
        gains = sum(part.gain for part in hit.explanation.contributions)
        assert hit.score == pytest.approx(gains, abs=1e-12)
    assert {"keyword", "graph"} <= legs
    assert family.plan(asked).intent == "graph"
    assert family.plan(asked).legs == ("keyword", "semantic", "graph")


def test_why_not_knows_the_graph_leg(family: Base) -> None:
    why = family.why_not("ALO", SearchRequest("related:ME", mode="keyword"))
    assert why.stage == "not matched"
    assert "no walk of 2 links from ME" in why.reason
    assert family.why_not("FRI", SearchRequest("related:ME", mode="keyword")).stage == "hit"


def test_a_filter_never_costs_a_hit_of_the_graph_leg(tmp_path: Path) -> None:
    """C33: the one with the tag is the farthest of thousands."""
    with new_base(tmp_path) as base:
        near = [page(f"n{i}", "hub") for i in range(2500)]
        base.store.apply(
            Changes(drafts=(page("hub", code="HUB"), *near, page("far", "n1", tags=("t",)))), NOW
        )
        assert found(base, "related:HUB tag:t", top=3) == [base.whole("far").code]
        # Of thousands as near, those with the lowest numbers, not those with the lowest ids.
        assert found(base, "related:HUB", top=3) == ["KB-2", "KB-3", "KB-4"]


ROADS = ("harbour-1", "harbour-2", "market-1")


@pytest.fixture(scope="module")
def villages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    """Three rings of documents, each around a centre, with a single road between two of them."""
    with new_base(tmp_path_factory.mktemp("villages")) as base:
        drafts = []
        for name in ("harbour", "market", "forest"):
            around = [f"{name}-{i}" for i in range(8)]
            for i, one in enumerate(around):
                title = f"The {name} number {i}"
                targets = (f"{name}-centre", around[(i + 1) % 8])
                drafts.append(page(one, *targets, code=one, title=title, tags=(name,)))
            drafts.append(page(f"{name}-centre", code=f"{name}-centre", tags=(name,)))
        drafts += [page("lonely", code="lonely"), page("road", *ROADS, code="road")]
        base.store.apply(Changes(drafts=tuple(drafts)), NOW)
        yield base


@pytest.mark.parametrize("algorithm", ["louvain", "leiden"])
def test_communities_are_found_named_and_the_same_each_time(villages: Base, algorithm: str) -> None:
    """S3-13"""
    first = villages.graph.communities(algorithm, seed=5)
    assert villages.graph.communities(algorithm, seed=5) == first
    assert [one.size for one in first.communities] == [10, 9, 9]
    assert first.unlinked == 1
    assert first.modularity > 0.6
    for name in ("harbour", "market", "forest"):
        [one] = [one for one in first.communities if f"{name}-centre" in one.codes]
        assert {f"#{name}", name} <= set(one.label.split())
        assert one.central[0].code == f"{name}-centre"
        assert sum(code.startswith(name) for code in one.codes) == 9


def test_a_community_of_code_is_not_named_by_underscores(tmp_path: Path) -> None:
    with new_base(tmp_path) as base:
        pages = (page("a", "b", title="__init__.py"), page("b", "a", title="__init__.py"))
        base.store.apply(Changes(drafts=pages), NOW)
        assert [one.label for one in base.graph.communities().communities] == ["init"]


def test_rank_puts_what_is_linked_from_what_matters_first(villages: Base) -> None:
    """S3-35"""
    ranking = villages.graph.rank(top=3)
    assert {one.document.code for one in ranking.documents} == {
        *("harbour-centre", "market-centre", "forest-centre")
    }
    assert ranking.total == 29
    everything = villages.graph.rank(top=100)
    assert sum(one.score for one in everything.documents) == pytest.approx(1.0)
    assert everything.documents[0].links_to_it == 8
    assert villages.graph.rank(top=1, relations=("PARENT_OF",)).documents[0].links_to_it == 0


def test_an_empty_base_has_neither(tmp_path: Path) -> None:
    with new_base(tmp_path) as base:
        assert base.graph.rank().documents == ()
        assert base.graph.communities().communities == ()
        assert base.graph.query("MATCH (d) RETURN d.code").rows == ()


def opened(path: Path) -> apsw.Connection:
    """An exported file in a connection that has nothing but graphqlite."""
    connection = apsw.Connection(str(path))
    connection.enable_load_extension(True)
    connection.load_extension(loadable_path())
    return connection


def test_cypher_over_the_export_says_what_the_commands_say(villages: Base, tmp_path: Path) -> None:
    """S3-33, S3-35, C24: the three shapes of the document."""
    exported = villages.graph.export(str(tmp_path / "graph.db"))
    assert (exported.format, exported.documents) == ("graphqlite", 29)
    connection = opened(tmp_path / "graph.db")
    codes = {one.id: one.code for one in villages.graph.network().documents}

    shape = 'MATCH (d:Document {short_code: "road"})-[*1..2]-(r) RETURN DISTINCT r.code AS code'
    near = {row["code"] for row in answered(connection, shape)} - {"road"}
    related = villages.graph.related("road", limit=20).results
    assert near == {one.document.code for one in related}
    assert len(near) == 9

    [louvain] = answered(connection, "RETURN louvain(1.0) AS found")
    groups: dict[int, set[str]] = {}
    for row in louvain["found"]:  # type: ignore[attr-defined]
        groups.setdefault(row["community"], set()).add(codes[row["user_id"]])
    ours = {frozenset(one.codes) for one in villages.graph.communities().communities}
    assert {frozenset(group) for group in groups.values() if len(group) > 1} == ours

    [ranks] = answered(connection, "RETURN pagerank(0.85, 100) AS found")
    theirs = {codes[row["user_id"]]: row["score"] for row in ranks["found"]}  # type: ignore[attr-defined]
    total = sum(theirs.values())
    for one in villages.graph.rank(top=100).documents:
        assert theirs[one.document.code] / total == pytest.approx(one.score, rel=1e-3)
    connection.close()


def test_cypher_is_answered_and_its_mistakes_are_told(villages: Base) -> None:
    """S3-35"""
    rows = villages.graph.query(
        'MATCH (d:Document {code: "road"})-[r:REFERENCES]->(t) RETURN t.code, r.weight, r.origin'
    ).rows
    assert {row["t.code"] for row in rows} == set(ROADS)
    assert {(row["r.weight"], row["r.origin"]) for row in rows} == {(0.8, "wiki")}
    with pytest.raises(InvalidInput, match="syntax error") as refusal:
        villages.graph.query("MATCH foo bar")
    assert refusal.value.field == "query"
    before = len(villages.graph.network().documents)
    villages.graph.query("MATCH (d) DETACH DELETE d")
    assert len(villages.graph.network().documents) == before


def test_cypher_whose_answer_would_fill_the_memory_is_refused(villages: Base) -> None:
    for rows in (1_000_000, 4_000_000):
        with pytest.raises(InvalidInput, match="its answer is too long") as refusal:
            villages.graph.query(f"UNWIND range(1, {rows}) AS x RETURN x")
        assert refusal.value.hint == "add LIMIT, or return less of each row"
    assert len(villages.graph.query("UNWIND range(1, 1000) AS x RETURN x").rows) == 1000


def test_cypher_that_crashes_graphqlite_or_never_ends_is_an_error(
    villages: Base, monkeypatch: pytest.MonkeyPatch
) -> None:
    crashing = "RETURN " + "A" * 80_000
    with pytest.raises(InvalidInput, match="longer than 10000 characters"):
        villages.graph.query(crashing)
    monkeypatch.setattr(cypher, "MOST_QUERY", 100_000)
    with pytest.raises(InvalidInput, match=r"graphqlite crashed \(SIG\w+\) on this"):
        villages.graph.query(crashing)
    endless = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN count(a)"
    with deadline.within(1.0), pytest.raises(InvalidInput, match="it takes too long"):
        villages.graph.query(endless)
    assert villages.graph.query("RETURN 1 AS one").rows == ({"one": 1},)


def test_other_formats_can_be_read_by_others(tmp_path: Path) -> None:
    with new_base(tmp_path / "b") as base:
        odd = 'Say "yes" & <no> \\ \x01'
        base.store.apply(
            Changes(drafts=(page("a", "b", title=odd), page("b", tags=("phase/active",)))), NOW
        )
        for name in ("g.graphml", "g.json", "g.dot"):
            base.graph.export(str(tmp_path / name))
    graph = igraph.Graph.Read_GraphML(str(tmp_path / "g.graphml"))
    assert graph.vs["title"][0] == odd.replace("\x01", "\ufffd")
    assert graph.vs["phase"] == ["", "active"]
    assert graph.es["relation"] == ["REFERENCES"]
    assert graph.es["weight"] == [0.8]
    data = json.loads((tmp_path / "g.json").read_text())
    assert [node["title"] for node in data["nodes"]] == [odd, "B"]
    assert data["links"][0]["relation"] == "REFERENCES"
    dot = (tmp_path / "g.dot").read_text()
    assert '"a" -> "b" [label="REFERENCES", weight=0.8];' in dot
    assert r"Say \"yes\" & <no> \\" in dot


@pytest.mark.parametrize("name", ["g.xyz", "g", "g.json.gz"])
def test_an_ending_that_stands_for_no_format_is_refused(family: Base, name: str) -> None:
    path = os.path.join(os.path.dirname(family.path), name)
    with pytest.raises(InvalidInput, match="no format is known") as refused:
        family.graph.export(path)
    assert ".graphml" in str(refused.value.hint)
    assert not os.path.exists(path)
    assert family.graph.export(path, "dot").format == "dot"


def test_a_base_is_never_written_over_and_nothing_is_left_behind(family: Base) -> None:
    with pytest.raises(InvalidInput, match="is a knowbase base"):
        family.graph.export(family.path)
    folder = os.path.dirname(family.path)
    for name in ("folder.json", "folder.db"):
        with pytest.raises(InvalidInput, match="cannot be written"):
            family.graph.export(os.path.join(folder, "no", "such", name))
    family.graph.export(os.path.join(folder, "g.db"))
    family.graph.export(os.path.join(folder, "g.db"))
    assert not [name for name in os.listdir(folder) if name.endswith(".new")]


def test_a_picture_shows_the_nearest_documents(family: Base, tmp_path: Path) -> None:
    import xml.etree.ElementTree as ET

    for name in ("one.svg", "two.svg"):
        exported = family.graph.show("ME", 2, str(tmp_path / name))
    assert (tmp_path / "one.svg").read_text() == (tmp_path / "two.svg").read_text()
    assert (exported.documents, exported.format) == (6, "svg")
    root = ET.parse(tmp_path / "one.svg").getroot()
    texts = {one.text for one in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"ME", "P-1", "BRO", "SIS", "FRI", "STR", "PARENT_OF", "REFERENCES"} == texts
    with pytest.raises(InvalidInput) as refusal:
        family.graph.show("ME", 2, "picture.png")
    assert refusal.value.field == "output"
