"""What the options of an HNSW index cost and give, on vectors as dense as in a large base.

    python bench/hnsw.py --vectors 20000

Clusters of 2,500 vectors each, as a million has them in postgres_size.py: in dense clusters an
index leads to some vectors from nowhere. For each pair of `m` and `ef_construction`: CPU seconds to
build, bytes a vector, and recall of the ten nearest, by how far a search looks (`ef_search`).
"""

import argparse
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import psycopg
from psycopg.sql import SQL, Literal

from knowbase.store.postgres.vector_tables import as_text
from measure import Row, report
from postgres_size import DEPTH, MODEL, TOP, cpu_of, tuned

IN_A_CLUSTER, QUERIES = 2500, 300
BUILT = ((16, 64), (16, 128), (16, 200), (24, 128))
LOOKED = (DEPTH, 500)


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--vectors", type=int, default=20_000)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    chance = np.random.default_rng(5)
    centres = chance.standard_normal((given.vectors // IN_A_CLUSTER, MODEL.dimensions))

    def made(number: int) -> Any:
        near = centres[chance.integers(0, len(centres), number)]
        near = near + 0.7 * chance.standard_normal(near.shape)
        return (near / np.linalg.norm(near, axis=1, keepdims=True)).astype("<f4")

    vectors, queries = made(given.vectors), made(QUERIES)
    truth = np.argsort(-(queries @ vectors.T), axis=1)[:, :TOP].tolist()
    asked = [as_text(one.tobytes()) for one in queries]
    rows = []
    with TemporaryDirectory() as name, tuned(Path(name, "server")) as (url, postmaster):
        spent = cpu_of(postmaster)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("CREATE TABLE v (id int, e vector(384))")
            with connection.cursor().copy("COPY v FROM STDIN") as copy:
                for number, one in enumerate(vectors):
                    copy.write_row((number, as_text(one.tobytes())))
            connection.execute("SET max_parallel_maintenance_workers = 0")
            connection.execute("SET enable_seqscan = off")
            for m, breadth in BUILT:
                label = f"m {m}, ef_construction {breadth}"
                connection.execute("DROP INDEX IF EXISTS i")
                before = spent()
                connection.execute(
                    SQL(
                        "CREATE INDEX i ON v USING hnsw ((e::halfvec(384)) halfvec_cosine_ops)"
                        " WITH (m = {}, ef_construction = {})"
                    ).format(Literal(m), Literal(breadth))
                )
                rows.append(Row(f"{label}: build", [spent() - before], "s CPU"))
                size = connection.execute("SELECT pg_relation_size('i')").fetchone()
                rows.append(
                    Row(f"{label}: bytes a vector", [size[0] / given.vectors if size else 0])
                )
                for looked in LOOKED:
                    connection.execute(SQL("SET hnsw.ef_search = {}").format(Literal(looked)))
                    found = [_nearest(connection, one) for one in asked]
                    hits = [len(set(f) & set(t)) / TOP for f, t in zip(found, truth, strict=True)]
                    rows.append(Row(f"{label}: recall with ef_search {looked}", [fmean(hits)]))
    report("hnsw", rows, as_json=given.json)


def _nearest(connection: psycopg.Connection, vector: str) -> list[int]:
    found = connection.execute(
        "SELECT id FROM v ORDER BY e::halfvec(384) <=> %s::halfvec(384) LIMIT %s", (vector, DEPTH)
    )
    return [number for (number,) in found]


if __name__ == "__main__":
    main()
