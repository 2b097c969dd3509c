"""Vectors for text that is stored already: those that wait, or those of another model."""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from knowbase.errors import InvalidInput
from knowbase.ingest.drafts import Drafter
from knowbase.store.contract import Claims, Store
from knowbase.values.documents import Passage
from knowbase.values.vectors import Claim, Model, Vector

BATCH = 64  # chunks; each batch is stored at once, so that a kill loses less than that
PAUSE = 1.0  # seconds, before it is asked again whether somebody gave up what it was at
RENEWED = 3  # times, within the seconds of a lease


class Step(NamedTuple):
    """How far it is; what was there before is not counted."""

    done: int
    total: int
    unit: str = "chunks"

    @property
    def work(self) -> float:
        return self.done

    @property
    def stored(self) -> float:
        return self.done

    @property
    def pages(self) -> int:
        return 0

    @property
    def pages_left(self) -> float:
        return 0.0

    @property
    def left(self) -> float:
        return self.total - self.done

    @property
    def text(self) -> str:
        return f"{self.done}/{self.total} {self.unit}"

    @property
    def now(self) -> str:
        return ""


def indexed(progress: Callable[[Step], None]) -> Callable[[int, int], None]:
    """Tells how far the building of an index is."""
    return lambda done, total: progress(Step(done, total, "vectors indexed"))


class Embedding(NamedTuple):
    """What came of embedding a base."""

    model: Model
    previous: Model | None
    embedded: int
    there: int  # chunks that had a vector of this model before
    cut: int  # texts that are longer than the model reads
    max_tokens: int
    switched: bool
    dropped: tuple[Model, ...] = ()
    warnings: tuple[str, ...] = ()
    interrupted: bool = False


def embed_stored(
    store: Store,
    drafter: Drafter,
    progress: Callable[[Step], None] = lambda _: None,
) -> Embedding:
    """A vector of the drafter's model for every chunk, then that model answers searches.

    The old vectors stay in use until the last new one is there. Where one run was stopped, the
    next goes on.
    """
    run = _Run(store, drafter, progress)
    return run.until_stopped(run.all_chunks)


def embed_missing(
    store: Store, drafter: Drafter, progress: Callable[[Step], None] = lambda _: None
) -> Embedding:
    """Only what the model in use has no vectors of; it ends when another one takes its place."""
    run = _Run(store, drafter, progress)
    return run.until_stopped(run.while_in_use)


def embed_shared(
    store: Store, drafter: Drafter, progress: Callable[[Step], None], seconds: float
) -> Embedding:
    """As `embed_stored`, while others do the same: each text is left to one of them."""
    claims = store.claims()
    if claims is None:
        raise InvalidInput(
            "workers share a base in PostgreSQL, and this one lies in a file",
            field="worker",
            hint="kb embed makes its vectors",
        )
    work = _Shared(claims, seconds)
    run = _Run(store, drafter, progress)
    try:
        return run.until_stopped(partial(run.shared, work))
    finally:
        work.give_back()


class _Shared:
    """What this process has taken of the work that many do."""

    def __init__(self, claims: Claims, seconds: float) -> None:
        import secrets

        self._claims = claims
        self._claim = Claim(secrets.token_hex(8), seconds)
        self._renewed = 0.0

    def take(self, model: Model) -> list[Passage]:
        self._renewed = time.monotonic()
        return self._claims.take(model, self._claim, BATCH)

    def go_on(self) -> None:
        """Whoever is slow and alive keeps what it has."""
        if time.monotonic() - self._renewed > self._claim.seconds / RENEWED:
            self._renewed = time.monotonic()
            self._claims.extend(self._claim)

    def give_back(self) -> None:
        self._claims.give_back(self._claim)


def drop_unused(store: Store) -> tuple[Model, ...]:
    """Remove the vectors that no search uses."""
    unused = tuple(one.model for one in store.models() if not one.active)
    for model in unused:
        store.drop_model(model)
    return unused


class _Run:
    """One embedding under way."""

    def __init__(self, store: Store, drafter: Drafter, progress: Callable[[Step], None]) -> None:
        self._store = store
        self._drafter = drafter
        self._progress = progress
        self._embedder = drafter.embedder()
        self._model = self._embedder.model
        self._previous = store.model()
        self._cut = self._done = 0
        if self._previous is None:
            store.use_model(self._model, drafter.source())
        store.put_vectors(self._model, drafter.source(), {})
        known = {one.model: one.vectors for one in store.models()}
        self._there = known[self._model]
        self._total = store.counts().chunks - self._there

    def until_stopped(self, work: Callable[[], None]) -> Embedding:
        """Ctrl-C ends it early, with what was done."""
        try:
            work()
        except KeyboardInterrupt:
            return self._report(interrupted=True)
        return self._report()

    def _report(self, *, interrupted: bool = False) -> Embedding:
        active = self._store.model()
        return Embedding(
            model=self._model,
            previous=self._previous,
            embedded=self._done,
            there=self._there,
            cut=self._cut,
            max_tokens=self._embedder.max_tokens,
            switched=active == self._model and self._previous != self._model,
            interrupted=interrupted,
        )

    def all_chunks(self) -> None:
        """Once more when others have added text meanwhile: the switch waits for all of it."""
        while True:
            after = 0
            while passages := self._store.unembedded(self._model, after, BATCH):
                self._batch(passages)
                after = passages[-1].chunk_id
            if self._store.switch_model(self._model):
                return

    def shared(self, work: _Shared) -> None:
        """Until nothing waits: what one who died was at is free when its lease is over."""
        while True:
            if passages := work.take(self._model):
                self._batch(passages, work.go_on)
            elif self._store.unembedded(self._model, 0, 1):
                time.sleep(PAUSE)
            elif self._store.model() == self._model or self._store.switch_model(self._model):
                return

    def while_in_use(self) -> None:
        after = 0
        while self._store.model() == self._model:
            passages = self._store.unembedded(self._model, after, BATCH)
            if not passages:
                return
            self._batch(passages)
            after = passages[-1].chunk_id

    def _batch(self, passages: list[Passage], go_on: Callable[[], None] = lambda: None) -> None:
        texts = {one.chunk.hash: self._drafter.text_of(one) for one in passages}
        self._cut += sum(self._drafter.is_cut(text) for text in texts.values())
        made: dict[str, Vector] = {}
        try:
            coming = self._embedder.embed_documents(list(texts.values()))
            for digest, vector in zip(texts, coming, strict=True):
                made[digest] = vector
                self._tell(sum(one.chunk.hash in made for one in passages))
                go_on()
        finally:
            self._store.put_vectors(self._model, self._drafter.source(), made)
            self._done += sum(one.chunk.hash in made for one in passages)

    def _tell(self, more: int) -> None:
        self._progress(Step(self._done + more, max(self._total, self._done + more)))
