"""A base over a coordinator of Citus and its workers. Needs such a cluster: KB_TEST_POSTGRES names
its coordinator."""

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg.sql import SQL
from test_postgres_faults import crowd, small_disk
from test_postgres_faults import fill as fill_up

import cluster
import postgres
from campaign.soundness import assert_words_are_in_step
from conftest import COMMAND, Kb, environment
from gate import Gate
from knowbase import Base, Note, SearchRequest
from knowbase.errors import BaseUnreachable
from knowbase.move import move
from knowbase.query.conditions import EVERYTHING
from knowbase.query.words import FieldWeights, KeywordQuery
from knowbase.store.partial import allowed
from knowbase.store.postgres import PostgresStore, create
from knowbase.store.postgres.upgrade import _statements
from knowbase.text.analysis import Word
from knowbase.values.changes import Changes
from knowbase.values.copies import LARGE
from linked import FarApart, new_base
from sameness import assert_same
from servers import serving
from stores import NOW, draft, section

_numbers = count(1)
DATABASES = (
    "kb_cluster_gated", "kb_cluster_two_inits", "kb_cluster_later", "kb_cluster_headless",
)  # fmt: skip
WORDS = ("alpha", "beta", "gamma", "delta")


class Cluster(NamedTuple):
    """A database of a cluster whose last worker is behind a gate."""

    url: str
    gate: Gate

    def base(self) -> str:
        return f"{self.url}#cluster-{next(_numbers)}"


@pytest.fixture(scope="module", autouse=True)
def _dropped() -> Iterator[None]:
    """Every database of a cluster has a process of its own on each server."""
    yield
    for name in DATABASES:
        cluster.drop(postgres.server(), name)


def _database(name: str) -> str:
    server = postgres.server()
    if len(cluster.nodes(server)) < 3:
        pytest.skip("needs a Citus cluster of two workers: KB_TEST_POSTGRES names its coordinator")
    return cluster.prepare(server, name)


@pytest.fixture(scope="module")
def over() -> Iterator[Cluster]:
    url = _database("kb_cluster_gated")
    *others, last = cluster.nodes(postgres.server())
    gate = Gate(last.host, last.port)
    cluster.join(url, [*others, last._replace(host="127.0.0.1", port=gate.port)])
    yield Cluster(url, gate)
    gate.shut()


@pytest.fixture
def filled(over: Cluster) -> Iterator[str]:
    """A base with sixteen notes, on both workers."""
    url = over.base()
    with Base(create(url).url, embedder=FarApart()) as base:
        fill(base)
    yield url
    over.gate.shut()
    over.gate.lift()


def fill(base: Base) -> None:
    for number in range(16):
        base.note(Note(f"{WORDS[number % 4]} and omega {number}", code=f"N-{number}"))


def ask(url: str, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path TO knowbase, public")
        return connection.execute(statement).fetchall()


def test_init_distributes_the_tables_and_says_so(over: Cluster, tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    url = over.base()
    said = kb("init", "--base", url).out
    each = cluster.shards_each(postgres.server())
    assert f"distributed by document: {cluster.SHARDS} shards on {len(each)} workers" in said
    made = kb.json("status", "--base", url)["cluster"]
    assert made["shards"] == cluster.SHARDS
    assert [one["shards"] for one in made["workers"]] == each
    assert all(one["size_bytes"] > 0 for one in made["workers"])


def test_a_worker_that_is_to_be_emptied_is_shown_until_it_is(over: Cluster, filled: str) -> None:
    """As by citus_drain_node, which says first that it is to have no shards."""
    takes = (
        "SELECT citus_set_node_property(nodename, nodeport, 'shouldhaveshards', {})"
        " FROM pg_dist_node ORDER BY groupid DESC LIMIT 1"
    )
    ask(over.url, takes.format("false"))
    try:
        with closing(PostgresStore(filled)) as store:
            state = store.cluster()
    finally:
        ask(over.url, takes.format("true"))
    assert state is not None
    assert [one.shards for one in state.workers] == cluster.shards_each(postgres.server())


def test_a_documents_parts_live_together_and_the_base_is_in_every_key(filled: str) -> None:
    database = filled.partition("#")[0]
    found = ask(
        database,
        "SELECT table_name::text, citus_table_type, distribution_column, colocation_id"
        " FROM citus_tables WHERE table_name::text ~ 'chunks|postings|vectors|documents'",
    )
    kinds = {name: kind for name, kind, _, _ in found}
    assert kinds.pop("documents") == "reference"
    assert set(kinds.values()) == {"distributed"}
    assert {column for _, kind, column, _ in found if kind == "distributed"} == {"document"}
    assert len({place for _, kind, _, place in found if kind == "distributed"}) == 1
    keys = ask(
        database,
        "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE contype IN ('p', 'u') AND connamespace = 'knowbase'::regnamespace"
        " AND conrelid NOT IN ('bases'::regclass, 'steps'::regclass)",
    )
    assert [one for one in keys if "(base_id" not in str(one[1])] == []
    placed = ask(
        database,
        "SELECT count(DISTINCT get_shard_id_for_distribution_column('chunks', document))"
        " FROM chunks",
    )
    assert placed[0][0] == cluster.SHARDS


def test_a_base_over_a_cluster_is_not_asked_as_it_was(filled: str, tmp_path: Path) -> None:
    refused = Kb(tmp_path)("search", "omega", "--as-of", "#1", "--base", filled, code=None)
    assert refused.code != 0
    assert "cannot be asked as it was" in refused.err


def test_a_worker_that_is_away_is_an_error_that_says_so(over: Cluster, filled: str) -> None:
    with Base(filled, embedder=FarApart()) as base:
        assert base.search(SearchRequest("omega", top=20)).returned == 16
        over.gate.shut()
        with pytest.raises(BaseUnreachable, match="worker of the database cluster"):
            base.search(SearchRequest("omega", top=20))
        with pytest.raises(BaseUnreachable, match="worker of the database cluster"):
            base.note(Note("not to be stored", code="NEVER"))
        over.gate.lift()
        whole = base.search(SearchRequest("omega", top=20))
        assert (whole.returned, whole.partial) == (16, False)
        assert base.store.find("NEVER") is None


@pytest.mark.parametrize("mode", ["keyword", "semantic", "hybrid"])
def test_the_others_answer_where_a_part_is_asked_for(over: Cluster, filled: str, mode: str) -> None:
    request = SearchRequest("omega", top=20, mode=mode)
    with Base(filled, embedder=FarApart()) as base:
        whole = base.search(request._replace(partial=True))
        assert (whole.returned, whole.partial) == (16, False)
        over.gate.shut()
        part = base.search(request._replace(partial=True))
        assert part.partial
        assert any("worker" in notice for notice in part.notices)
        assert 0 < part.returned < 16
        expected = [hit.code for hit in whole.hits if hit.code in {h.code for h in part.hits}]
        assert [hit.code for hit in part.hits] == expected


def test_scores_are_those_of_the_whole_base(over: Cluster, filled: str) -> None:
    query = KeywordQuery((Word("omega"), Word("alpha")))
    with Base(filled, embedder=FarApart()) as base:
        whole = dict(base.store.keyword(query, EVERYTHING, 20, FieldWeights()))
        over.gate.shut()
        with allowed():
            part = dict(base.store.keyword(query, EVERYTHING, 20, FieldWeights()))
    assert len(whole) == 16
    assert part == whole  # the coordinator has the words


def test_every_surface_takes_partial(over: Cluster, filled: str, tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    over.gate.shut()
    search = ("search", "omega", "--fts-only", "--base", filled)
    failed = kb(*search, code=None)
    assert failed.code != 0
    assert "--partial" in failed.err
    part = kb.json(*search, "--partial")
    assert part["partial"] is True
    assert part["semantic_coverage"] == 1  # of what is there
    ailments = kb.json("doctor", "--base", filled)["findings"]
    assert [one["name"] for one in ailments] == ["worker"]
    workers = kb.json("status", "--base", filled, code=0)["cluster"]["workers"]
    assert [one["size_bytes"] is None for one in workers].count(True) == 1


def test_a_server_answers_without_a_worker_where_that_is_asked_for(
    over: Cluster, filled: str, tmp_path: Path
) -> None:
    with serving(tmp_path, env={"KB_BASE": filled}) as served:
        asked = {"query": "omega", "mode": "keyword"}
        assert served.json("search", **asked)["partial"] is False
        over.gate.shut()
        assert served.post("search", **asked).status_code == 503
        assert served.json("search", **asked, partial=True)["partial"] is True


def test_a_worker_lost_in_a_move_loses_nothing(over: Cluster, tmp_path: Path) -> None:
    with new_base(tmp_path) as source:
        drafts = tuple(draft(f"d{n}", section(f"omega {n}")) for n in range(LARGE))
        source.store.apply(Changes(drafts=drafts), NOW)  # two parts of a move
        target, place = over.base(), source.path
    process = subprocess.Popen(
        [*COMMAND, "move", place, target],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    store = create(target)
    while process.poll() is None and not store.counts().documents:
        pass
    store.close()
    over.gate.shut()
    _, said = process.communicate(timeout=60)
    over.gate.lift()
    if process.returncode:
        assert "a worker of the database cluster does not answer" in said
    moved = move(place, target)
    assert moved.verified
    assert moved.there + moved.copied == LARGE


@contextmanager
def crowded_worker() -> Iterator[tuple[str, Path]]:
    """A database of a cluster whose last worker has it on a small disk, and a place for a file that
    is in the way there."""
    url = _database("kb_cluster_crowded")
    server, last = postgres.server(), cluster.nodes(postgres.server())[-1]
    with psycopg.connect(cluster.at(server, last), autocommit=True) as worker:
        found = worker.execute("SHOW data_directory").fetchone()
        if found is None or not Path(found[0]).exists():
            pytest.skip("needs a worker on this machine, to give it a small disk")
        with small_disk(Path(found[0])) as disk:
            spare = disk / "spare"
            worker.execute(SQL("CREATE TABLESPACE kb_small LOCATION {}").format(str(disk / "data")))
            try:
                cluster.prepare_on(server, last, "kb_cluster_crowded", tablespace="kb_small")
                cluster.join(url, cluster.nodes(server))
                yield url, spare
            finally:
                cluster.drop(server, "kb_cluster_crowded")
                worker.execute("DROP TABLESPACE kb_small")


def test_a_full_disk_of_one_worker_is_said_in_one_sentence_and_loses_nothing() -> None:
    with crowded_worker() as (url, spare), closing(create(url)) as store:
        crowd(spare)
        written = fill_up(store)
        spare.unlink()
        store.apply(Changes(drafts=(draft("after", section("after that")),)), NOW)
        query = KeywordQuery((Word("common"),))
        assert len(store.keyword(query, EVERYTHING, 10**6, FieldWeights())) == written
        assert store.find("after") is not None
        assert_words_are_in_step(store, url)


def test_two_inits_at_once_make_one_distributed_base(tmp_path: Path) -> None:
    url = _database("kb_cluster_two_inits")
    cluster.join(url, cluster.nodes(postgres.server()))
    running = [
        subprocess.Popen(
            [*COMMAND, "init", "--base", url], cwd=tmp_path,
            env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    for one in running:
        out, err = one.communicate(timeout=120)
        assert one.returncode == 0, err
        assert "distributed by document" in out
    assert ask(url, "SELECT count(*) FROM bases") == [(1,)]


def test_a_base_that_was_there_before_the_cluster_is_distributed(tmp_path: Path) -> None:
    url = _database("kb_cluster_later")
    with Base(create(url).url, embedder=FarApart()) as base:
        fill(base)
        before = base.search(SearchRequest("omega alpha", top=20))
        assert base.store.cluster() is None
    cluster.join(url, cluster.nodes(postgres.server()))
    kb = Kb(tmp_path)
    assert "distributed by document" in kb("init", "--base", url).out
    with Base(url, embedder=FarApart()) as base:
        assert_same(base.search(SearchRequest("omega alpha", top=20)), before)
        base.note(Note("omega once more", code="LATER"))
        assert base.search(SearchRequest("once more")).hits[0].code == "LATER"
        assert base.check().findings == ()


def test_who_may_create_nothing_works_on_what_init_has_printed(tmp_path: Path) -> None:
    url = _database("kb_cluster_printed")
    cluster.join(url, cluster.nodes(postgres.server()))
    kb = Kb(tmp_path)
    made = kb("init", "--base", url, "--print-sql", "--dimensions", "4", "--writer", "kb_writes")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS kb_writes")
        connection.execute("CREATE ROLE kb_writes LOGIN")
        for statement in _statements(made.out):  # as psql does
            connection.execute(SQL(statement))
    writer = urlsplit(url)
    writer = writer._replace(netloc=f"kb_writes@{writer.hostname}:{writer.port}")
    assert "distributed by document" in kb("init", "--base", writer.geturl()).out
    with Base(writer.geturl(), embedder=FarApart()) as base:
        fill(base)
        assert base.search(SearchRequest("omega", top=20)).returned == 16
    cluster.drop(postgres.server(), "kb_cluster_printed")
    with psycopg.connect(postgres.server(), autocommit=True) as connection:
        connection.execute("DROP ROLE kb_writes")


def test_workers_that_do_not_know_their_coordinator_are_refused(tmp_path: Path) -> None:
    url = _database("kb_cluster_headless")
    cluster.join(url, cluster.nodes(postgres.server())[1:])
    refused = Kb(tmp_path)("init", "--base", url, code=None)
    assert refused.code != 0
    assert "citus_set_coordinator_host" in refused.err
