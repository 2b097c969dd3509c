"""Others on the same texts and vectors: SQL, LanceDB, Chroma, txtai, usearch with Tantivy.

    python -m venv peers                 PyTorch, which txtai brings, in its build for processors
    peers/bin/pip install apsw sqlite-vec lancedb chromadb usearch tantivy txtai
    python bench/peers.py --python peers/bin/python --chunks 20000 --plot docs/peers.svg

Made-up articles with vectors in clusters around real embeddings (corpus.py) are added to a base;
its chunks and vectors are what every other one is given. Making vectors is left out. Each runs in
a process of its own, by the Python of that environment, at a tenth of the size and at the whole of
it. Measured is CPU time, of all threads: what else the machine does then matters little.
knowbase's indexing reads and splits files, too, in a process whose time is counted; its searches
make snippets, whole documents and a verdict. Recall is by meaning, against all products computed
by numpy. Chroma ranks no words. txtai is given vectors instead of a model, and keeps no texts.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

QUERIES, TOP, DEPTH = 50, 10, 30
PEERS = ("knowbase", "sql", "lancedb", "chroma", "txtai", "usearch")
LEGS = ("semantic", "keyword", "hybrid")
LOADED = {  # before anything is counted
    "lancedb": ("lancedb",), "chroma": ("chromadb",), "txtai": ("txtai",),
    "usearch": ("usearch.index", "tantivy"),
}  # fmt: skip
Search = Callable[[int], Sequence[int]]
"""The places of the chunks that are found, best first, for a query by its number."""


class Given:
    """What every one is given: texts, vectors, queries."""

    def __init__(self, folder: Path) -> None:
        import numpy as np

        self.folder = folder
        self.queries = json.loads((folder / "queries.json").read_text(encoding="utf-8"))
        self.asked = np.load(folder / "asked.npy")
        self.embedding = 0.0  # CPU seconds that were spent on making vectors up
        self.reading = 0.0  # … and that adding files took, with the processes that read them

    @cached_property
    def texts(self) -> list[str]:
        texts: list[str] = json.loads((self.folder / "texts.json").read_text(encoding="utf-8"))
        return texts

    @cached_property
    def vectors(self) -> Any:
        import numpy as np

        return np.load(self.folder / "vectors.npy")

    def exact(self) -> list[set[int]]:
        products = self.asked @ self.vectors.T
        return [set(map(int, row)) for row in (-products).argsort(1)[:, :TOP]]


def fused(legs: Sequence[Sequence[int]]) -> list[int]:
    scores: dict[int, float] = {}
    for leg in legs:
        for place, one in enumerate(leg):
            scores[one] = scores.get(one, 0.0) + 1 / (60 + place)
    return sorted(scores, key=lambda one: -scores[one])[:TOP]


def both(semantic: Search, keyword: Search) -> dict[str, Search]:
    """For those who have no hybrid search: places fused, as the hand-written SQL does."""
    return {
        "semantic": semantic,
        "keyword": keyword,
        "hybrid": lambda number: fused((semantic(number), keyword(number))),
    }


def words_of(query: str) -> list[str]:
    return ["".join(filter(str.isalnum, word)) for word in query.split() if word.strip()]


def with_sql(given: Given, folder: Path) -> dict[str, Search]:
    import apsw
    import sqlite_vec

    connection = apsw.Connection(str(folder / "plain.db"))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE chunks (id INTEGER PRIMARY KEY, text TEXT);"
        "CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter unicode61');"
        "CREATE VIRTUAL TABLE vectors USING vec0 (id INTEGER PRIMARY KEY,"
        f" embedding float[{given.vectors.shape[1]}] distance_metric=cosine)"
    )
    with connection:
        for number, text in enumerate(given.texts):
            vector = given.vectors[number].tobytes()
            connection.execute("INSERT INTO chunks VALUES (?, ?)", (number, text))
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (number, text))
            connection.execute("INSERT INTO vectors VALUES (?, ?)", (number, vector))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def rows(sql: str, *values: Any) -> list[int]:
        found = [int(one) for (one,) in connection.execute(sql, values)]
        marks = ",".join("?" * len(found))
        connection.execute(f"SELECT text FROM chunks WHERE id IN ({marks})", found).fetchall()
        return found

    def semantic(number: int) -> list[int]:
        sql = "SELECT id FROM vectors WHERE embedding MATCH ? AND k = ? ORDER BY distance"
        return rows(sql, given.asked[number].tobytes(), DEPTH)

    def keyword(number: int) -> list[int]:
        match = " OR ".join(f'"{word}"' for word in words_of(given.queries[number]))
        sql = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words) LIMIT ?"
        return rows(sql, match, DEPTH)

    return both(semantic, keyword)


def with_lancedb(given: Given, folder: Path) -> dict[str, Search]:
    lancedb = import_module("lancedb")
    rows = [
        {"id": number, "text": text, "vector": given.vectors[number]}
        for number, text in enumerate(given.texts)
    ]
    table = lancedb.connect(str(folder / "lance")).create_table("chunks", rows)
    table.create_fts_index("text")

    def semantic(number: int) -> list[int]:
        found = table.search(given.asked[number]).metric("cosine").limit(DEPTH).to_list()
        return [int(one["id"]) for one in found]

    def keyword(number: int) -> list[int]:
        found = table.search(given.queries[number], query_type="fts").limit(DEPTH).to_list()
        return [int(one["id"]) for one in found]

    return both(semantic, keyword)


def with_chroma(given: Given, folder: Path) -> dict[str, Search]:
    chromadb = import_module("chromadb")
    settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
    client = chromadb.PersistentClient(str(folder / "chroma"), settings=settings)
    space = {"hnsw:space": "cosine"}
    chunks = client.create_collection("chunks", metadata=space, embedding_function=None)
    for start in range(0, len(given.texts), 1000):
        part = slice(start, start + 1000)
        ids = [str(number) for number in range(start, start + len(given.texts[part]))]
        chunks.add(ids=ids, documents=given.texts[part], embeddings=given.vectors[part])

    def semantic(number: int) -> list[int]:
        found = chunks.query(query_embeddings=[given.asked[number]], n_results=DEPTH)
        return [int(one) for one in found["ids"][0]]

    return {"semantic": semantic}


def with_txtai(given: Given, folder: Path) -> dict[str, Search]:
    import numpy as np

    known = dict(zip(given.texts, given.vectors, strict=True))
    known |= dict(zip(given.queries, given.asked, strict=True))
    index = import_module("txtai").Embeddings(
        method="external",
        transform=lambda texts: np.array([known[text] for text in texts]),
        hybrid=True,
    )
    index.index(enumerate(given.texts))
    index.save(str(folder / "txtai"))

    def semantic(number: int) -> list[int]:
        return [int(one) for one, _ in index.ann.search(given.asked[number : number + 1], DEPTH)[0]]

    def keyword(number: int) -> list[int]:
        return [int(one) for one, _ in index.scoring.search(given.queries[number], DEPTH)]

    def hybrid(number: int) -> list[int]:
        return [int(one) for one, _ in index.search(given.queries[number], TOP)]

    return {"semantic": semantic, "keyword": keyword, "hybrid": hybrid}


def with_usearch(given: Given, folder: Path) -> dict[str, Search]:
    import numpy as np

    tantivy = import_module("tantivy")
    vectors = import_module("usearch.index").Index(
        ndim=given.vectors.shape[1], metric="cos", dtype="f16"
    )
    vectors.add(np.arange(len(given.texts)), given.vectors, threads=1)
    vectors.save(str(folder / "vectors.usearch"))
    fields = tantivy.SchemaBuilder()
    fields.add_unsigned_field("id", stored=True)
    fields.add_text_field("text", stored=True, tokenizer_name="en_stem")
    (folder / "tantivy").mkdir()
    index = tantivy.Index(fields.build(), path=str(folder / "tantivy"))
    writer = index.writer(num_threads=1)
    for number, text in enumerate(given.texts):
        writer.add_document(tantivy.Document(id=number, text=text))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def semantic(number: int) -> list[int]:
        return [int(key) for key in vectors.search(given.asked[number], DEPTH).keys]

    def keyword(number: int) -> list[int]:
        query = index.parse_query(" ".join(words_of(given.queries[number])), ["text"])
        found = searcher.search(query, DEPTH).hits
        return [int(searcher.doc(address)["id"][0]) for _, address in found]

    return both(semantic, keyword)


def with_knowbase(given: Given, folder: Path) -> dict[str, Search]:
    """A base out of the files; what it makes of them is what all others are given."""
    import numpy as np

    import corpus
    from growth import cpu
    from knowbase.embed.granite import Granite

    class Clustered(corpus.Clustered):
        made: ClassVar[dict[str, bytes]] = {}

        def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
            before = time.process_time()
            self.made.update(zip(texts, super().embed_documents(texts), strict=True))
            given.embedding += time.process_time() - before
            return iter([self.made[text] for text in texts])

    embedder = Clustered(Granite())
    known = dict(zip(given.queries, (row.tobytes() for row in given.asked), strict=True))
    embedder.embed_query = lambda text: known[text]
    base = corpus.new_base(folder, embedder)
    before = cpu()
    base.add([str(given.folder / "articles")])
    given.reading = cpu() - before
    (given.folder / "texts.json").write_text(json.dumps(list(embedder.made)), encoding="utf-8")
    vectors = [np.frombuffer(one, "<f4") for one in embedder.made.values()]
    np.save(given.folder / "vectors.npy", np.array(vectors))
    ends = {text[-80:]: number for number, text in enumerate(given.texts)}

    def searching(mode: str) -> Search:
        def search(number: int) -> list[int]:
            found = base.search(given.queries[number], mode=mode, top=TOP).hits
            return [ends.get(hit.text[-80:], -1) for hit in found]

        return search

    return {leg: searching(leg) for leg in LEGS}


def measured(name: str, given: Given, folder: Path) -> dict[str, Any]:
    """In the child: fill it, ask it, and say what that took."""
    for module in LOADED.get(name, ()):
        import_module(module)
    started = time.process_time()
    searches = globals()[f"with_{name}"](given, folder)
    took = (given.reading or time.process_time() - started) - given.embedding
    result: dict[str, Any] = {
        "chunks": len(given.texts),
        "index": len(given.texts) / took,
        "disk": sum(one.stat().st_size for one in folder.rglob("*") if one.is_file()),
    }
    for leg, search in searches.items():
        search(0)
        times = []
        for number in range(1, len(given.queries)):
            before = time.process_time()
            search(number)
            times.append((time.process_time() - before) * 1000)
        times.sort()
        result[leg] = (median(times), times[int(0.95 * len(times))])
    exact = given.exact()
    semantic = searches["semantic"]
    shared = [len(exact[at] & set(semantic(at)[:TOP])) for at in range(len(exact))]
    result["recall"] = sum(shared) / (TOP * len(exact))
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def prepare(folder: Path, chunks: int) -> None:
    """Files, and questions with their vectors."""
    import numpy as np

    import corpus
    from knowbase.embed.granite import Granite

    granite, shape = Granite(), corpus.Shape(sections=5, words=90)
    corpus.write_tree(folder / "articles", chunks // shape.sections, shape)
    queries = list(dict.fromkeys(corpus.queries(2 * QUERIES)))[:QUERIES]
    asked = np.array([np.frombuffer(granite.embed_query(one), "<f4") for one in queries])
    (folder / "queries.json").write_text(json.dumps(queries), encoding="utf-8")
    np.save(folder / "asked.npy", asked)


def run(name: str, python: str, folder: Path) -> dict[str, Any]:
    """One of them, in a process of its own."""
    here = folder / name
    here.mkdir()
    program = sys.executable if name == "knowbase" else python
    command = [program, __file__, "--child", name, "--folder", str(folder)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        return {}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def line(name: str, small: dict[str, Any], whole: dict[str, Any]) -> str:
    """A row of the table in docs/benchmarks.md."""
    if not whole:
        return f"| {name} | did not run |"
    legs = [f"{whole[leg][0]:.1f} / {whole[leg][1]:.1f}" if leg in whole else "–" for leg in LEGS]
    leg = "hybrid" if "hybrid" in whole else "semantic"
    growth = f"{whole[leg][0] / small[leg][0]:.1f}×" if small else "–"
    numbers = (
        f"{whole['index']:,.0f}", f"{whole['disk'] / whole['chunks'] / 1000:.1f}",
        f"{whole['memory']:,.0f}", *legs, f"{whole['recall']:.3f}", growth,
    )  # fmt: skip
    return f"| {name} | {' | '.join(numbers)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--python", default=sys.executable, help="that has the others installed")
    parser.add_argument("--plot", type=Path, help="an SVG of the times of a search, to be written")
    parser.add_argument("--child", choices=PEERS, help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        found = measured(asked.child, Given(asked.folder), asked.folder / asked.child)
        print(json.dumps(found), flush=True)
        os._exit(0)
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in PEERS}
    for size in (asked.chunks // 10, asked.chunks):
        with TemporaryDirectory() as name:
            prepare(Path(name), size)
            for peer in PEERS:
                results[peer].append(run(peer, asked.python, Path(name)))
                print(size, peer, results[peer][-1], file=sys.stderr, flush=True)
    heads = ("", "index, chunks a CPU second", "kB a chunk", "MB", *LEGS, "recall@10", "growth")
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for peer, (small, whole) in results.items():
        print(line(peer, small, whole))
    if asked.plot is not None:
        from plot import Line, drawn

        lines = [
            Line(peer, [(one["chunks"], one[leg][0]) for one in found])
            for peer, found in results.items()
            if all(found) and (leg := "hybrid" if "hybrid" in found[-1] else "semantic")
        ]
        asked.plot.write_text(drawn(lines, "CPU ms of a hybrid search, p50 (Chroma: by meaning)"))


if __name__ == "__main__":
    main()
