"""Storing and moving: a base in PostgreSQL beside one in a file, and beside COPY alone.

    python bench/postgres_write.py                     500 documents of five chunks, four times
    python bench/postgres_write.py --chunks 100000     moves that many (made for it: some minutes)

CPU seconds of this process and of the server together, embedding left out: both stores get the
same made-up vectors, taken in turns. COPY alone is every table that the move filled, copied into
new ones with the same indexes. The index of vectors is left out of both: it is built, not copied.
"""

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import psycopg
from psycopg.sql import SQL, Identifier

import corpus
from corpus import Clustered
from knowbase.base import Base, create
from knowbase.embed.granite import Granite
from knowbase.process import collect_rarely
from measure import Row, ratios, report
from postgres_size import cpu_of, tuned
from scale import SHAPE

DOCUMENTS, ROUNDS = 500, 4  # after one that is not counted
MOVE = (
    "import sys; from knowbase.cli import main; from knowbase.store.postgres import vectors;"
    " vectors.PostgresVectors.renew_index = lambda *_, **__: False;"
    " assert main(['move', *sys.argv[1:]]) == 0;"
    " print(open('/proc/self/status').read())"  # its own: of children, one has their parent's
)
READ = (
    "import sys; from knowbase.base import open; from knowbase.values.copies import batches;"
    " whole = open(sys.argv[1]).store.copying();"
    " [whole.copies(batch) for batch in batches(whole.seqs())]"
)


def stored(place: str, tree: Path, granite: Granite, spent: Callable[[], float]) -> float:
    """The CPU seconds that adding a folder to a new base takes."""
    create(place).close()
    with Base(place, embedder=Clustered(granite)) as base:
        before = spent()
        base.add([str(tree)])
        return spent() - before


def copied(url: str, spent: Callable[[], float]) -> float:
    """The CPU seconds that COPY takes for all tables of the schema, into new ones like them."""
    with psycopg.connect(url, autocommit=True) as source, psycopg.connect(url) as target:
        tables = [
            name
            for (name,) in source.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = 'knowbase'"
            ).fetchall()
        ]
        for name in tables:
            target.execute(
                SQL("CREATE TABLE {} (LIKE {} INCLUDING ALL)").format(
                    Identifier(f"copied_{name}"), Identifier("knowbase", name)
                )
            )
        before = spent()
        for name in tables:
            columns = SQL(", ").join(
                Identifier(column)
                for (column,) in source.execute(
                    "SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(%s)"
                    " AND attnum > 0 AND NOT attisdropped AND attgenerated = ''",
                    (f"knowbase.{name}",),
                ).fetchall()
            )
            out = SQL("COPY {} ({}) TO STDOUT (FORMAT binary)").format(
                Identifier("knowbase", name), columns
            )
            into = SQL("COPY {} ({}) FROM STDIN (FORMAT binary)").format(
                Identifier(f"copied_{name}"), columns
            )
            with source.cursor().copy(out) as read, target.cursor().copy(into) as write:
                for block in read:
                    write.write(block)
        target.commit()
        return spent() - before


def new_database(url: str) -> str:
    """One that has nothing yet, on the same server."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE moved")
    return urlsplit(url)._replace(path="/moved").geturl()


def moved(server: str, home: Path, chunks: int, spent: Callable[[], float]) -> list[Row]:
    granite, url = Granite(), new_database(server)
    tree = corpus.write_tree(home / "more", chunks // SHAPE.sections, SHAPE)
    source = str(home / "source.db")
    create(source).close()
    with Base(source, embedder=Clustered(granite)) as base:
        base.add([str(tree)])
        number = base.status().chunks
    before, ours = spent(), of_children()
    command = [sys.executable, "-c", MOVE, source, url]
    state = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    client = of_children() - ours
    wait_for_others(url)
    took = spent() - before + client
    again = of_children()
    subprocess.run([sys.executable, "-c", READ, source], check=True)
    reading = of_children() - again
    bare = copied(url, spent)
    return [
        Row("moved: chunks", [number]),
        Row("moved: kb move, comparing included", [took], "s CPU"),
        Row("moved: of it, the client's", [client], "s CPU"),
        Row("moved: reading every document of the source once", [reading], "s CPU"),
        Row("moved: COPY alone of every table of it", [bare], "s CPU"),
        Row("moved: kb move / COPY alone", [took / bare], "", "1"),
        Row("moved: most memory of the client", [most_memory(state)], "MB"),
    ]


def wait_for_others(url: str) -> None:
    """Until their connections are closed: what a server's process took that is just ending is
    counted by nobody."""
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        ).fetchone():
            time.sleep(0.05)
    time.sleep(0.5)


def of_children() -> float:
    """CPU seconds of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def most_memory(state: str) -> float:
    """MB, of what /proc says of a process."""
    (line,) = [one for one in state.splitlines() if one.startswith("VmHWM:")]
    return int(line.split()[1]) / 1000


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--chunks", type=int, default=0, help="move a base of so many")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    collect_rarely()  # as every command that writes
    with TemporaryDirectory() as name, tuned(Path(name, "server")) as (url, postmaster):
        spent = cpu_of(postmaster)
        granite = Granite()
        tree = corpus.write_tree(Path(name, "articles"), DOCUMENTS, SHAPE)
        taken: dict[str, list[float]] = {"file": [], "postgresql": []}
        for number in range(ROUNDS + 1):
            for engine, place in (
                ("file", str(Path(name, f"{number}.db"))),
                ("postgresql", f"{url}#stored-{number}"),
            ):
                took = stored(place, tree, granite, spent)
                if number:
                    taken[engine].append(took)
        rows = [
            Row("storing: in a file", taken["file"], "s CPU"),
            Row("storing: in PostgreSQL", taken["postgresql"], "s CPU"),
            Row("storing: rate / that of a file", ratios(*taken.values()), "", "0.8"),
        ]
        if given.chunks:
            rows += moved(url, Path(name), given.chunks, spent)
    report("postgres_write", rows, as_json=given.json)


if __name__ == "__main__":
    main()
