"""The graph as every store keeps it. Each test runs against each backend."""

import random
import threading
from collections.abc import Iterator
from pathlib import Path

import apsw
import numpy as np
import psycopg
import pytest

from earlier import said_twice
from knowbase import deadline
from knowbase.config import Settings
from knowbase.errors import TookTooLong
from knowbase.query.conditions import EVERYTHING, Not, Tagged, Visible
from knowbase.store import neighbours, similar
from knowbase.store.contract import Store
from knowbase.store.linking import link_or_later
from knowbase.store.plain import PlainStore
from knowbase.store.postgres import PostgresStore
from knowbase.store.postgres import create as create_postgres
from knowbase.store.postgres import schema as postgres_schema
from knowbase.store.sqlite import SqliteStore, create
from knowbase.store.sqlite.schema import WITH_A_GRAPH
from knowbase.values.changes import Changes, Codes, Draft, Edit
from knowbase.values.edges import Edge, Relation
from knowbase.values.reading import Link
from knowbase.values.vectors import Vector
from postgres import database, new_base, with_rows_of_postings
from stores import MODEL, NOW, draft, section, similarity, vector


def page(identity: str, *links: Link, **fields: object) -> Draft:
    """A document without vectors that links to others."""
    return draft(identity, section(identity), vectors=(None,), links=links, **fields)  # type: ignore[arg-type]


def put(store: Store, *drafts: Draft) -> None:
    store.apply(Changes(drafts=drafts), NOW)


def wiki(target: str) -> Link:
    return Link(target, "wiki")


def markdown(target: str) -> Link:
    return Link(target, "markdown")


def targets(store: Store, source: str) -> set[str]:
    """Where the references of a document lead."""
    return {e.target for e in store.edges(EVERYTHING) if (e.source, e.relation) == (source, REF)}


REF = "REFERENCES"


@pytest.mark.parametrize(
    "link",
    [
        markdown("b.md"),
        markdown("./b.md#part"),
        markdown("../notes/b.md?raw=1"),
        markdown("/notes/b.md"),
        markdown("b"),
        wiki("b"),
        wiki("B.md"),
        wiki("notes/b#part"),
        wiki("the long title"),
        wiki("X-7"),
        wiki("two"),
        Link("X-7", "code"),
    ],
)
def test_a_document_is_found_by_each_of_its_names(store: Store, link: Link) -> None:
    """S3-33, C24"""
    target = page("two", path="notes/b.md", code="x-7", title="The Long  Title".replace("  ", " "))
    put(store, page("one", link, path="notes/a.md"), target)
    assert store.edges(EVERYTHING) == [Edge("one", "two", REF, 0.8, link.kind)]
    assert store.unresolved("one") == []


def test_the_page_of_a_folder_stands_for_the_folder(store: Store) -> None:
    put(store, page("one", markdown("guide/"), path="a.md"), page("two", path="guide/README.md"))
    assert targets(store, "one") == {"two"}


def test_a_link_without_a_target_stays_and_resolves_when_the_target_arrives(store: Store) -> None:
    """C24"""
    put(store, page("one", wiki("later"), markdown("gone.md"), Link("UTF-8", "code")))
    assert store.edges(EVERYTHING) == []
    assert store.unresolved("one") == [markdown("gone.md"), wiki("later")]
    assert store.dead_links() == [("gone.md", 1), ("later", 1)]
    put(store, page("two", markdown("gone.md"), title="Later"))
    assert store.dead_links() == [("gone.md", 2)]
    assert targets(store, "one") == {"two"}
    assert store.unresolved("one") == [markdown("gone.md")]
    found = store.unresolved_in(["two", "one", "nobody"])
    assert found == {"one": [markdown("gone.md")], "two": [markdown("gone.md")]}
    store.apply(Changes(removed=("two",)), NOW)
    assert store.edges(EVERYTHING) == []
    assert store.unresolved("one") == [markdown("gone.md"), wiki("later")]


def test_a_renamed_target_is_followed_by_code_and_title_and_lost_by_its_old_path(
    store: Store,
) -> None:
    links = (Link("X-7", "code"), wiki("Two"), markdown("old.md"))
    put(store, page("one", links[0]), page("other", links[1]), page("third", links[2]))
    put(store, page("two", path="old.md", code="X-7", title="Two"))
    assert all(targets(store, one) == {"two"} for one in ("one", "other", "third"))
    put(store, page("two", path="new.md", code="X-7", title="Two"))
    assert targets(store, "one") == targets(store, "other") == {"two"}
    assert targets(store, "third") == set()
    assert store.unresolved("third") == [markdown("old.md")]


def test_the_surest_name_wins_then_the_lowest_number(store: Store) -> None:
    put(store, page("first", title="X-7"), page("one", wiki("X-7")))
    assert targets(store, "one") == {"first"}
    put(store, page("second", code="X-7"), page("third", title="x-7"))
    assert targets(store, "one") == {"second"}
    store.apply(Changes(edits=(Edit("second", {"deleted_at": NOW}),)), NOW)
    assert targets(store, "one") == {"first"}
    store.apply(Changes(edits=(Edit("second", {"deleted_at": None}),)), NOW)
    assert targets(store, "one") == {"second"}


def test_a_wiki_link_by_a_name_that_two_folders_have_leads_to_its_own_folder(store: Store) -> None:
    put(store, page("first", path="a/setup.md", title="Setup"))
    put(store, page("second", path="b/setup.md", title="Setup"))
    put(store, page("one", wiki("Setup"), path="a/one.md"))
    put(store, page("two", wiki("setup.md#part"), path="b/two.md"))
    put(store, page("deep", wiki("b/setup"), path="a/deep.md"))
    put(store, page("top", wiki("Setup"), path="c/top.md"))
    found = {name: targets(store, name) for name in ("one", "two", "deep", "top")}
    assert found == {"one": {"first"}, "two": {"second"}, "deep": {"second"}, "top": {"first"}}
    assert all(store.unresolved(name) == [] for name in found)


def test_a_link_to_a_page_that_is_not_beside_it_leads_to_the_one_of_that_name(
    store: Store,
) -> None:
    put(store, page("far", path="notes/deep/signal.md"), page("vault", path="vault/a/b.md"))
    named = ("signal.md#keys", "a/b.md", "README.md", "../c.md")
    links = tuple(map(markdown, named))
    put(store, page("one", *links, path="news/one.md"), page("read", path="notes/README.md"))
    put(store, page("c", path="notes/c.md"), page("top", path="c.md", title="Top"))
    assert targets(store, "one") == {"far", "vault", "top"}
    assert store.unresolved("one") == [markdown("README.md")]
    assert store.dead_links() == [("README.md", 1)]
    put(store, page("near", path="news/signal.md"))
    assert targets(store, "one") == {"near", "vault", "top"}
    store.apply(Changes(removed=("near", "far", "top")), NOW)
    assert targets(store, "one") == {"vault"}
    assert store.unresolved("one") == [
        markdown("../c.md"), markdown("README.md"), markdown("signal.md#keys"),
    ]  # fmt: skip


def test_pages_are_linked_as_the_site_calls_them_that_is_made_of_them(store: Store) -> None:
    put(store, page("two", path="src/ch02.md"), page("part", path="src/part/README.md"))
    links = (markdown("ch02.html#x"), markdown("part/index.html"), markdown("gone.html"))
    put(store, page("one", *links, path="src/ch01.md"))
    assert targets(store, "one") == {"two", "part"}
    assert store.unresolved("one") == [markdown("gone.html")]


def test_a_post_is_linked_by_its_day(store: Store) -> None:
    put(store, page("two", path="site/blog/2024-10-23-release.0.76.mdx"))
    put(store, page("three", path="_posts/2020-01-02-old.md"))
    links = (markdown("/blog/2024/10/23/release.0.76#x"), markdown("/2020/01/02/old.html"))
    put(store, page("one", *links, path="site/blog/2025-01-01-now.md"))
    assert targets(store, "one") == {"two", "three"}
    assert store.unresolved("one") == []


def test_a_wiki_link_follows_when_a_file_of_its_name_comes_into_its_folder_or_goes(
    store: Store,
) -> None:
    put(store, page("first", path="a/setup.md"), page("one", wiki("setup"), path="b/one.md"))
    assert targets(store, "one") == {"first"}
    put(store, page("second", path="b/setup.md"))
    assert targets(store, "one") == {"second"}
    put(store, page("second", path="c/setup.md"))
    assert targets(store, "one") == {"first"}
    store.apply(Changes(removed=("first", "second")), NOW)
    assert store.unresolved("one") == [wiki("setup")]
    assert store.dead_links() == [("setup", 1)]


def test_self_links_and_duplicates_add_nothing(store: Store) -> None:
    links = (wiki("one"), markdown("b.md"), markdown("./b.md#x"), wiki("b"), Link("X-7", "code"))
    put(store, page("one", *links), page("two", path="b.md", code="X-7"))
    assert store.edges(EVERYTHING) == [Edge("one", "two", REF, 0.8, "code")]


def test_a_change_replaces_outgoing_links_and_keeps_incoming_ones(store: Store) -> None:
    """C24"""
    put(store, page("one", wiki("two")), page("two", wiki("three")), page("three"))
    put(store, page("two", wiki("one")))
    ends = [edge[:2] for edge in store.edges(EVERYTHING)]
    assert ends == [("one", "two"), ("two", "one")]


def test_hierarchy_and_succession_and_what_is_said_are_links(store: Store) -> None:
    """S3-33, C24"""
    put(store, page("parent", code="P-1"), page("child", parent="p-1"), page("new"))
    store.apply(
        Changes(
            edits=(Edit("child", {"superseded_by": "new"}),),
            relations=(Relation("parent", "new", "RELATED_TO", "agent"),),
        ),
        NOW,
    )
    assert store.edges(EVERYTHING) == [
        Edge("parent", "child", "PARENT_OF", 0.9, "hierarchy"),
        Edge("parent", "new", "RELATED_TO", 1.0, "agent"),
        Edge("new", "child", "SUPERSEDES", 0.9, "lifecycle"),
    ]
    store.apply(
        Changes(
            edits=(Edit("child", {"superseded_by": None}),),
            dropped_relations=(Relation("parent", "new", "RELATED_TO", "agent"),),
        ),
        NOW,
    )
    assert [edge.relation for edge in store.edges(EVERYTHING)] == ["PARENT_OF"]


def test_codes_found_anew_take_the_place_of_those_known(store: Store) -> None:
    put(store, page("one", Link("A-1", "code"), wiki("b")), page("a", code="A-1"), page("b"))
    store.apply(Changes(codes=(Codes("one", ()), Codes("nobody", ("A-1",)))), NOW)
    assert targets(store, "one") == {"b"}
    store.apply(Changes(codes=(Codes("one", ("A-1", "Z-9")),)), NOW)
    assert targets(store, "one") == {"a", "b"}


def likenesses(store: Store) -> dict[tuple[str, str], float]:
    found = [edge for edge in store.edges(EVERYTHING) if edge.relation == "SIMILAR_TO"]
    return {edge[:2]: edge.weight for edge in found}


def test_documents_are_linked_by_their_most_similar_chunks(store: Store) -> None:
    """S3-33: cosine over 0.8 between chunks of different documents."""
    far, near = vector(0, 0, 0, 1), vector(1, 0.5, 0, 0)
    parts = (section("x"), section("y", "y", "Y"))
    put(
        store,
        draft("a", *parts, vectors=(vector(1, 0, 0, 0), vector(1, 0, 0, 0))),
        draft("b", *parts, vectors=(near, far)),
        draft("c", section("z"), vectors=(vector(0, 1, 0, 0),)),
        draft("at", section("q"), vectors=(vector(0.8, 0, 0.6, 0),)),
    )
    assert store.link_similar(0.8) > 0
    like = similarity(vector(1, 0, 0, 0), near)
    assert likenesses(store) == {("a", "b"): pytest.approx(round(like, 6), abs=1e-9)}
    put(store, draft("c", section("z z"), vectors=(far,)))
    store.link_similar(0.8)
    assert set(likenesses(store)) == {("a", "b"), ("b", "c")}
    put(store, draft("b", section("w"), vectors=(vector(0, 0, 1, 0),)))
    store.link_similar(0.8)
    assert likenesses(store) == {}
    store.link_similar(0.5)
    assert set(likenesses(store)) == {("a", "at"), ("b", "at")}


def test_a_changed_text_that_waits_for_its_vector_is_similar_to_nothing(store: Store) -> None:
    for identity in ("one", "two"):
        put(store, draft(identity, section(identity), vectors=(vector(1, 0, 0, 0),)))
    store.link_similar(0.5)
    assert len(store.edges(EVERYTHING)) == 1
    put(store, draft("two", section("another text"), vectors=(None,)))
    store.link_similar(0.5)
    assert store.edges(EVERYTHING) == []


def test_a_walk_goes_in_any_direction_as_far_as_it_may_over_what_passes(store: Store) -> None:
    """S3-12"""
    chain = [page(f"n{i}", wiki(f"n{i + 1}"), tags=("odd",) * (i % 2)) for i in range(6)]
    put(store, *chain)

    def walked(depth: int, start: str = "n2", condition: object = EVERYTHING) -> set[str]:
        edges = store.edges_around((start,), depth, condition)  # type: ignore[arg-type]
        return {end for edge in edges for end in edge[:2]}

    assert walked(1) == {"n1", "n2", "n3"}
    assert walked(2) == {"n0", "n1", "n2", "n3", "n4"}
    assert walked(9) == {f"n{i}" for i in range(6)}
    assert walked(9, condition=Tagged(("odd",))) == {"n1", "n2", "n3"}
    assert walked(2, "nobody") == set()
    store.apply(Changes(edits=(Edit("n3", {"deleted_at": NOW}),)), NOW)
    assert walked(9) == {"n0", "n1", "n2"}
    assert walked(9, "n3") == set()
    assert [edge[:2] for edge in store.edges(EVERYTHING)][-1] == ("n4", "n5")


def test_circles_and_hubs_end(store: Store) -> None:
    """S3-12: a hub with thousands of links, each of which also leads round in a circle."""
    number = {"SqliteStore": 10_000, "PostgresStore": 1_000}.get(type(store).__name__, 60)
    pages = [page(f"n{i}", wiki("hub"), wiki(f"n{(i + 1) % number}")) for i in range(number)]
    put(store, page("hub"), *pages)
    assert len(store.edges(EVERYTHING)) == 2 * number
    assert len(store.edges_around(("n0",), 1, EVERYTHING)) == 3
    assert len(store.edges_around(("n0",), 2, Visible(NOW))) >= number
    assert len(store.edges_around(("n0",), 6, Visible(NOW))) == 2 * number


def test_shared_tags_are_counted_when_asked(store: Store) -> None:
    """C25, S3-34: nothing is stored for them."""
    put(
        store,
        page("one", tags=("a", "b", "c")),
        page("two", tags=("b", "c", "d")),
        page("three", tags=("a", "b", "c")),
        page("four", tags=("a",)),
        page("five", tags=("a", "b"), archived=True),
    )
    assert store.sharing_tags("one", 2, EVERYTHING) == [("three", 3), ("two", 2), ("five", 2)]
    assert store.sharing_tags("one", 2, Visible(NOW)) == [("three", 3), ("two", 2)]
    assert store.sharing_tags("nobody", 1, EVERYTHING) == []
    assert store.edges(EVERYTHING) == []


def test_all_links_found_anew_are_those_that_were_kept(store: Store) -> None:
    """C24"""
    near = (vector(1, 0.1, 0, 0), vector(1, 0, 0, 0))
    put(store, *(draft(f"s{i}", section(f"{i}"), vectors=(near[i],)) for i in range(2)))
    put(store, page("one", wiki("two"), parent="s0"), page("two", markdown("x.md")))
    put(store, page("two", wiki("one"), superseded_by="s1"), page("x", path="x.md"))
    store.apply(Changes(relations=(Relation("one", "x", "RELATED_TO", "user"),)), NOW)
    store.link_similar(0.8)
    kept = store.edges(EVERYTHING)
    assert {edge.relation for edge in kept} == {
        *("PARENT_OF", REF, "RELATED_TO", "SIMILAR_TO", "SUPERSEDES")
    }
    store.relink()
    store.link_similar(0.8)
    assert store.edges(EVERYTHING) == kept


GRAPH = ("names", "mentions", "edges", "unlinked", "graph")
HISTORY = ("changes", "versions", "past_chunks", "past_texts", "past_vectors")
LATER = ("saved", "moving", "calibration", "leases", *HISTORY)  # of the steps after the graph's
NEWER = (
    *(("documents", column) for column in ("split_by", "seal", "text_seal", "use_seal", "judged")),
    *(("files", column) for column in ("inode", "ctime_ns", "skipped", "readers")),
)


def test_an_older_sqlite_base_gets_its_links_when_it_is_opened(tmp_path: Path) -> None:
    path = str(tmp_path / "old.db")
    store = create(path)
    store.use_model(MODEL)
    put(store, page("one", wiki("two"), parent="two"), draft("two", section("a")))
    put(store, draft("three", section("b")))
    store.link_similar(0.8)
    kept = store.edges(EVERYTHING)
    store.close()
    said_twice(path)
    connection = apsw.Connection(path)
    for table in (*GRAPH, *LATER, "past_fts", "stale_names", "journal"):
        connection.execute(f"DROP TABLE {table}")
    for table, column in NEWER:
        connection.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
    connection.execute("ALTER TABLE embedded DROP COLUMN seal")
    connection.execute(f"PRAGMA user_version = {WITH_A_GRAPH - 1}")
    connection.close()
    older = SqliteStore(path)
    assert older.edges(EVERYTHING) == [e for e in kept if e.relation != "SIMILAR_TO"]
    older.link_similar(0.8)
    assert older.edges(EVERYTHING) == kept
    assert len(kept) == 3
    older.close()


def test_an_older_postgresql_database_gets_its_links_when_it_is_opened() -> None:
    url = new_base()
    store = create_postgres(url)
    put(store, page("one", wiki("two"), parent="two"), page("two"))
    kept = store.edges(EVERYTHING)
    store.close()
    with psycopg.connect(database(), autocommit=True) as connection:
        with_rows_of_postings(connection)
        for table in (*GRAPH, *LATER, "claims"):
            connection.execute(f"DROP TABLE knowbase.{table}")
        for table, column in NEWER:
            connection.execute(f"ALTER TABLE knowbase.{table} DROP COLUMN {column}")
        connection.execute(
            "DELETE FROM knowbase.steps WHERE number >= %s", (postgres_schema.WITH_A_GRAPH,)
        )
    older = PostgresStore(url)
    assert older.edges(EVERYTHING) == kept
    assert len(kept) == 2
    older.close()


@pytest.mark.parametrize("many", [0, 4])  # what is new alone, or everything
def test_what_changes_while_vectors_are_compared_is_left_for_later(
    store: Store, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What still holds is linked, so that it comes to an end however much is written."""
    monkeypatch.setattr(similar, "_MANY", many)
    monkeypatch.setattr(similar, "_TRIES", 1)
    chance, made, oracle = random.Random(many), scattered(5, 40), PlainStore()
    oracle.use_model(MODEL)

    def written(one: str) -> Changes:
        return Changes(
            drafts=(
                draft(one, section(f"{one} {chance.random()}"), vectors=(chance.choice(made),)),
            )
        )

    def apply(changes: Changes) -> None:
        for either in (store, oracle):
            either.apply(changes, NOW)

    def disturbed(moment: similar.Moment, rule: similar.Rule) -> similar.Found:
        found = compare(moment, rule)
        for changes in meanwhile:
            thread = threading.Thread(target=apply, args=(changes,))
            thread.start()
            thread.join()
        return found

    compare = similar.compare
    for number in range(14):
        apply(written(f"d{number}"))
    store.link_similar(0.9, 2)
    for number in range(14, 24):
        apply(written(f"d{number}"))
    monkeypatch.setattr(similar, "compare", disturbed)
    meanwhile = [written("d3"), written("d15"), written("new"), Changes(removed=("d4", "d16"))]
    meanwhile += [Changes(edits=(Edit(one, {"deleted_at": NOW}),)) for one in ("d5", "d17")]
    compared = store.link_similar(0.9, 2)
    if isinstance(store, PlainStore):
        return
    assert compared > 0
    first = likenesses(store)
    assert first
    assert {"d15", "new", "d4", "d16", "d17"}.isdisjoint({one for pair in first for one in pair})
    meanwhile = []
    monkeypatch.setattr(similar, "_TRIES", 3)
    store.link_similar(0.9, 2)
    oracle.link_similar(0.9, 2)
    assert likenesses(store) == likenesses(oracle)
    assert store.link_similar(0.9, 2) == 0


def test_who_has_no_time_goes_on_with_the_links_that_are_there(tmp_path: Path) -> None:
    """Another base does not have to wait at all."""
    near = (vector(1, 0, 0, 0),)
    base = Settings(embed_vectors=True)
    one, other = (create(str(tmp_path / f"{name}.db")) for name in ("one", "other"))
    for store in (one, other):
        store.use_model(MODEL)
        put(store, draft("a", section("a"), vectors=near), draft("b", section("b"), vectors=near))
    lock = similar._comparing.setdefault(one.path, threading.Lock())
    with lock, deadline.within(0.2):
        link_or_later(one, base)
        assert not deadline.is_over()
        link_or_later(other, base)
    assert (likenesses(one), len(likenesses(other))) == ({}, 1)
    put(one, draft("c", section("c"), vectors=near))
    with deadline.within(60):
        link_or_later(one, base)
    assert len(likenesses(one)) == 3
    one.close()
    other.close()


def test_comparing_ends_when_nobody_waits_any_longer() -> None:
    matrix = np.eye(8, dtype="f4")
    with deadline.within(0), pytest.raises(TookTooLong):
        neighbours.nearest(neighbours.Vectors(np.arange(8), matrix), 0.7, 2)
    with deadline.within(0), pytest.raises(TookTooLong):
        neighbours.above(matrix, matrix, 0.7)


class _Unordered:
    """A base whose vectors stand in no order, with a document that was forgotten."""

    def owners(self, _: object) -> dict[int, int]:
        return {chunk: chunk for chunk in range(1, 40) if chunk != 7}

    def blocks(self) -> Iterator[similar.Block]:
        for start in (20, 0):
            chunks = np.arange(start, start + 20)
            yield similar.Block(chunks, np.repeat(chunks[:, None], 4, axis=1).astype("f4"))


def test_many_vectors_stay_in_a_file_in_the_order_of_their_chunks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "COMPARED_WITH_ALL", 10)
    found = similar._every_vector(_Unordered())  # type: ignore[arg-type]
    wanted = [chunk for chunk in range(1, 40) if chunk != 7]
    assert found.owners.tolist() == found.matrix[:, 0].tolist() == wanted
    assert isinstance(found.matrix, np.memmap)
    assert found.matrix._mmap is not None  # type: ignore[attr-defined]


def scattered(seed: int, number: int) -> list[Vector]:
    """Unit vectors in two clouds, some of them equal."""
    chance = random.Random(seed)
    return [
        vector(*(chance.choice((0.2, 0.4, 1.0)) for _ in range(3)), chance.choice((0.0, 1.0)))
        for _ in range(number)
    ]


@pytest.mark.parametrize("seed", [1, 2])
def test_what_is_linked_step_by_step_is_what_all_compared_at_once_gives(
    store: Store, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S3-33: with at most so many of the nearest, whatever is added, changed, forgotten or
    removed; a pair is linked if either is among the nearest of the other."""
    monkeypatch.setattr(similar, "_MANY", 0)  # compare what is new, however little else there is
    monkeypatch.setattr(similar, "_PRODUCTS", 60)  # a few at a time
    chance, made = random.Random(seed), scattered(seed, 60)
    oracle = PlainStore()
    oracle.use_model(MODEL)
    names = [f"d{i}" for i in range(14)]
    for step in range(10):
        some = chance.sample(names, 3)
        pairs = {one: (chance.choice(made), chance.choice(made)) for one in some}
        drafts = tuple(
            draft(one, section(f"{one} {step}"), section(f"{step}", "y", "Y"), vectors=vectors)
            for one, vectors in pairs.items()
        )
        gone = tuple(chance.sample(names, 1)) if step % 3 == 2 else ()
        edits = [Edit(one, {"deleted_at": NOW}) for one in chance.sample(names, 1) if step % 4 == 3]
        for either in (store, oracle):
            put(either, *drafts)
            either.apply(Changes(removed=gone, edits=tuple(edits)), NOW)
            either.link_similar(0.9, 2)
        assert likenesses(store) == likenesses(oracle)
    monkeypatch.setattr(similar, "_MANY", 4)
    for most in (3, 1):
        for either in (store, oracle):
            either.link_similar(0.9, most)
        assert likenesses(store) == likenesses(oracle)


def test_columns_have_the_links_that_edges_are(store: Store) -> None:
    put(store, page("one", wiki("two"), tags=("b", "a")), page("two", wiki("three")))
    put(store, page("three", wiki("one")), page("gone", wiki("one")))
    store.apply(Changes(edits=(Edit("gone", {"deleted_at": NOW}),)), NOW)
    for condition in (EVERYTHING, Not(Tagged(("a",)))):
        wiring = store.wiring(condition)
        names = [node.id for node in wiring.nodes]
        relations = [wiring.names[one] for one in wiring.relations]
        ends = zip(wiring.sources, wiring.targets, relations, wiring.weights, strict=True)
        found = [(names[one], names[other], *rest) for one, other, *rest in ends]
        assert found == [edge[:4] for edge in store.edges(condition)]
    assert names == ["two", "three"]
    assert store.wiring(EVERYTHING).nodes[0][2:] == ("One", ("a", "b"))


def test_cells_find_what_comparing_all_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    """S3-33: many vectors are not compared with all; 99 of 100 links are the same."""
    chance = np.random.default_rng(3)
    centres = chance.standard_normal((12, 64))
    cloud = centres[chance.integers(0, 12, 4000)] + 0.5 * chance.standard_normal((4000, 64))
    matrix = (cloud / np.linalg.norm(cloud, axis=1, keepdims=True)).astype("f4")
    vectors = neighbours.Vectors(np.arange(4000) // 4, matrix)

    def links() -> set[tuple[int, int]]:
        found = neighbours.nearest(vectors, 0.7, 20)
        return set(zip(found.documents.tolist(), found.others.tolist(), strict=True))

    exact = links()
    monkeypatch.setattr(neighbours, "COMPARED_WITH_ALL", 100)
    assert len(exact) > 10_000
    assert len(exact & links()) >= 0.99 * len(exact)
