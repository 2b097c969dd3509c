"""onnxruntime sessions, and arrays that become vectors."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from knowbase import deadline
from knowbase.errors import BadVector, ModelUnavailable
from knowbase.process import report_to_nobody
from knowbase.values.vectors import Vector

LONGEST_TOKEN = 64
"""Characters: what lies further behind than so many a token is not read, nor even tokenised.
Tokenising a text takes two hundred times its size in memory."""


CPU = "CPUExecutionProvider"


def onnxruntime() -> Any:
    """The module."""
    report_to_nobody()
    import onnxruntime as engine

    return engine


def provider_names(wanted: Sequence[str]) -> list[str]:
    """What onnxruntime calls those who are to compute: cuda is CUDAExecutionProvider. The CPU does
    what is left; who is not here is refused by name."""
    if not wanted:
        return [CPU]
    available = onnxruntime().get_available_providers()
    known = {_short(name): name for name in available}
    missing = [one for one in wanted if _short(one) not in known]
    if missing:
        raise ModelUnavailable(
            f"onnxruntime has no provider {missing[0]!r} here",
            field="embed.providers",
            hint=f"available: {', '.join(sorted(known))}; others come with another onnxruntime",
        )
    return list(dict.fromkeys([*(known[_short(one)] for one in wanted), CPU]))


def _short(name: str) -> str:
    short = name.strip().lower().removesuffix("executionprovider")
    return {"dml": "directml"}.get(short, short)


def open_session(
    model: "str | bytes", threads: int, providers: Sequence[str] = (CPU,), *, ready: bool = False
) -> Any:
    """A session that keeps quiet, on the CPU unless others are named; of a model that needs no
    optimising, when `ready`.

    To plan which arrays share memory takes longer than all else, for one that is as quick and
    as large without: what is free is taken again anyhow.
    """
    engine = onnxruntime()
    options = engine.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if ready:
        options.enable_mem_reuse = False
        options.graph_optimization_level = engine.GraphOptimizationLevel.ORT_DISABLE_ALL
    return engine.InferenceSession(model, options, providers=list(providers))


def of_one_length(ids: Sequence[Sequence[int]], most_tokens: int) -> list[list[int]]:
    """Places of texts in batches without padding, by the first of each; as long as a batch does
    not have more tokens than that."""
    unfinished: dict[int, list[int]] = {}
    batches: list[list[int]] = []
    for place, one in enumerate(ids):
        batch = unfinished.get(len(one))
        if batch is None or (len(batch) + 1) * len(one) > most_tokens:
            batch = unfinished[len(one)] = []
            batches.append(batch)
        batch.append(place)
    return batches


def in_order(
    batches: Sequence[Sequence[int]],
    run: Callable[[Sequence[int]], Sequence[Vector]],
    threads: int,
) -> Iterator[Vector]:
    """The vectors of texts that are run in batches of their places, a thread a batch; each is
    given as soon as all before it are there."""
    from concurrent.futures import ThreadPoolExecutor

    found: dict[int, Vector] = {}
    following = 0
    with ThreadPoolExecutor(max(1, min(threads, len(batches)))) as pool:
        try:
            for batch, vectors in zip(batches, pool.map(run, batches), strict=True):
                deadline.check()  # nobody waits for the rest: it is left
                found.update(zip(batch, vectors, strict=True))
                while following in found:
                    yield found.pop(following)
                    following += 1
        finally:
            pool.shutdown(cancel_futures=True)


def packed(rows: Any, name: str) -> list[Vector]:
    """Each row of an array as a vector of unit length; NaN and nothing are refused."""
    import numpy as np

    rows = np.asarray(rows, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise bad_vector(name, "it has no direction: NaN, infinite or all zeros")
    return [row.tobytes() for row in (rows / lengths).astype("<f4")]


def bad_vector(name: str, reason: str) -> BadVector:
    return BadVector(
        f"the model {name} gave a vector that cannot be used: {reason}",
        hint="nothing of it was stored; see kb models, or choose another with kb embed --model",
    )
