"""Embedding models.

Speed: chunks per second of each model, against the same model run by onnxruntime alone on the
same tokens, one text a thread. Static vectors have no such runtime.

Memory: the most that a process takes which embeds 200 chunks, and one that also embeds a single
text of 5 MB, each in a process of its own.

Cache: the same chunks through the user's cache, new and known.

python bench/embed.py                       the packaged model, and wordllama if it is installed
python bench/embed.py ~/models/bge-small    a model of yours too
"""

import multiprocessing
import os
import resource
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import corpus
from corpus import Shape
from knowbase.config import DEFAULTS
from knowbase.embed import Embedder
from knowbase.embed.cache import Cache, Cached
from knowbase.embed.choice import PACKAGED, STATIC, choice_of, embedder_for
from knowbase.embed.granite import Granite
from knowbase.embed.onnx import OnnxFolder
from measure import Row, arguments, interleaved, ratios, report, seconds

CHUNKS = 60  # a round
SHAPE = Shape(sections=2, words=80)
HUGE = "All work and no play makes a very long text. " * 110_000  # 5 MB
PLAIN = DEFAULTS._replace(embed_cache_mb=0)


def embedder(name: str) -> Embedder:
    return embedder_for(choice_of(name, PLAIN, os.getcwd()), PLAIN, os.environ)


def chunks(number: int, first: int = 0) -> list[str]:
    """Sections of made-up articles."""
    found: list[str] = []
    while len(found) < number:
        found += corpus.article(first, SHAPE).split("\n## ")
        first += 1
    return found[:number]


def speed(name: str, rounds: int) -> list[Row]:
    """Chunks a second, and the share of what the bare runtime does."""
    model = embedder(name)
    list(model.embed_documents(chunks(4)))
    parts = [chunks(CHUNKS, first=1000 * number) for number in range(rounds)]
    ours, theirs = iter(parts), iter(parts)
    tasks: dict[str, Callable[[], float]] = {
        "ours": lambda: seconds(lambda: list(model.embed_documents(next(ours))))
    }
    bare = bare_runtime(model)
    if bare is not None:
        tasks["bare"] = lambda: bare(next(theirs))
    taken = interleaved(rounds, tasks)
    rows = [Row(f"{name}: speed", [CHUNKS / one for one in taken["ours"]], "chunks/s")]
    if bare is not None:
        share = ratios(taken["bare"], taken["ours"])
        rows += [
            Row(f"{name}: bare runtime", [CHUNKS / one for one in taken["bare"]], "chunks/s"),
            Row(f"{name}: ratio", share, "", "at least 0.9"),
        ]
    return rows


def bare_runtime(model: Embedder) -> Callable[[list[str]], float] | None:
    """Seconds that the model's own session takes for the tokens of these texts."""
    import numpy as np

    if not isinstance(model, Granite | OnnxFolder):
        return None
    session: Any = model._session
    names = [one.name for one in session.get_inputs()]

    def feed(text: str) -> dict[str, Any]:
        tokens = model._tokenizer.encode(text).ids[: model.max_tokens]
        ids = np.array([tokens], np.int64)
        known = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        return {name: known.get(name, np.zeros_like(ids)) for name in names}

    def run(texts: list[str]) -> float:
        feeds = [feed(text) for text in texts]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            return seconds(lambda: list(pool.map(lambda one: session.run(None, one), feeds)))

    return run


def memory(name: str) -> Iterator[Row]:
    """The peaks of two processes."""
    context = multiprocessing.get_context("spawn")
    for what, huge in (("memory, 200 chunks", False), ("memory, and 5 MB of text", True)):
        receive, send = context.Pipe(duplex=False)
        process = context.Process(target=_peak, args=(send, name, huge))
        process.start()
        yield Row(f"{name}: {what}", [receive.recv()], "MB")
        process.join()


def _peak(send: Any, name: str, huge: bool) -> None:
    model = embedder(name)
    list(model.embed_documents(chunks(200)))
    if huge:
        list(model.embed_documents([HUGE]))
    send.send(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def cache(folder: Path, rounds: int) -> list[Row]:
    """The packaged model behind the cache, against without it."""
    granite = Granite()
    list(granite.embed_documents(chunks(4)))
    cached = Cached(granite, Cache(str(folder / "embeddings.db"), 1 << 30))
    parts = [chunks(CHUNKS, first=1000 * number) for number in range(rounds)]
    bare, new, known = iter(parts), iter(parts), iter(parts)
    taken = interleaved(
        rounds,
        {
            "bare": lambda: seconds(lambda: list(granite.embed_documents(next(bare)))),
            "new": lambda: seconds(lambda: list(cached.embed_documents(next(new)))),
        },
    )
    again = [seconds(lambda: list(cached.embed_documents(next(known)))) for _ in range(rounds)]
    return [
        Row("cache: new chunks, against none", ratios(taken["bare"], taken["new"])),
        Row("cache: known chunks", [CHUNKS / one for one in again], "chunks/s"),
    ]


def main() -> None:
    given = arguments(__doc__, rounds=6, models=True)
    names = [PACKAGED, *([STATIC] if find_spec("wordllama") else []), *given.models]
    rows: list[Row] = []
    for name in names:
        rows += [*speed(name, given.rounds), *memory(name)]
    with TemporaryDirectory() as folder:
        rows += cache(Path(folder), given.rounds)
    report("embed", rows, as_json=given.json)


if __name__ == "__main__":
    main()
