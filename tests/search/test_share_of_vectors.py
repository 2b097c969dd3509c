"""While vectors arrive, answers get better and never worse than by words alone."""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import knowbase
from conftest import FIXTURES, Kb
from knowbase import Base
from knowbase.embed.granite import Granite
from knowbase.values.documents import ALL
from knowbase.values.vectors import Model, Vector

SHARES = (0.0, 0.1, 0.3, 0.6, 1.0)
JUDGED = json.loads((FIXTURES / "judgments.json").read_text("utf-8"))[::3]
SLACK = 0.03  # of the mean over the questions: one of them may change its place


@pytest.fixture(scope="module")
def vectors(handbook: Kb) -> tuple[Model, dict[str, Vector]]:
    """Those of the handbook, in an order of chance that never changes."""
    with knowbase.open(str(handbook.base)) as base:
        model = base.store.model()
        assert model is not None
        hashes = [
            passage.chunk.hash
            for document in base.documents(page=ALL).documents
            for passage in base.store.chunks(document.id)
        ]
        found = base.store.vectors(hashes)
    return model, dict(sorted(found.items()))


class Remembering(Granite):
    """Embeds each question once, however often it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.embed_query = cache(super().embed_query)  # type: ignore[method-assign]


@pytest.fixture
def words_alone(handbook: Kb, tmp_path: Path) -> Iterator[Base]:
    """The handbook without a vector."""
    with Base(knowbase.create(str(tmp_path)).path, embedder=Remembering()) as base:
        base.home = str(handbook.folder)
        base.add([str(handbook.folder / "handbook")], defer=True)
        yield base


def quality(base: Base) -> float:
    """The mean reciprocal rank of what is relevant."""
    total = 0.0
    for line in JUDGED:
        hits = base.search(line["query"], unit="document").hits
        right = [(hit.path or "").endswith(tuple(line["relevant"])) for hit in hits]
        total += 1 / (right.index(True) + 1) if any(right) else 0.0
    return total / len(JUDGED)


def test_more_vectors_never_answer_worse(
    words_alone: Base, vectors: tuple[Model, Mapping[str, Vector]]
) -> None:
    """S3-24: while vectors are made, words and what is there of meaning answer together."""
    model, known = vectors
    reached: list[float] = []
    given = 0
    for share in SHARES:
        until = int(share * len(known))
        some = dict(list(known.items())[given:until])
        if some:
            words_alone.store.put_vectors(model, "", some)
            if words_alone.store.model() is None:
                words_alone.store.use_model(model)
        given = until
        reached.append(quality(words_alone))
    assert words_alone.store.semantic_coverage() > 0.9
    assert all(later >= reached[0] - SLACK for later in reached), reached
    assert all(b >= a - SLACK for a, b in pairwise(reached)), reached
    assert reached[-1] > reached[0] + SLACK
