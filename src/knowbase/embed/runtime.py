"""onnxruntime sessions, and arrays that become vectors."""

from typing import Any

from knowbase.errors import BadVector
from knowbase.values.vectors import Vector

LONGEST_TOKEN = 64
"""Characters: what lies further behind than so many a token is not read, nor even tokenised.
Tokenising a text takes two hundred times its size in memory."""


def open_session(model: "str | bytes", threads: int) -> Any:
    """A session on the CPU that keeps quiet."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


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
