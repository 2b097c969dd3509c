"""Whether a request that came now would be answered."""

import asyncio
import time

from knowbase.base import Base
from knowbase.errors import KnowbaseError
from knowbase.http.failures import Overloaded
from knowbase.http.workers import MOMENT, Workers

FRESH = 0.5  # seconds that an answer holds: whoever asks often costs no more


class Readiness:
    """Asks the base for something small, as a search would, and looks at the workers."""

    def __init__(self, base: Base, workers: Workers, watchers: Workers) -> None:
        self._base = base
        self._workers = workers
        self._watchers = watchers
        self._looking = asyncio.Lock()
        self._looked = -FRESH
        self._found: KnowbaseError | None = None

    async def trouble(self) -> KnowbaseError | None:
        """Why nobody would be answered now; None if all is well."""
        async with self._looking:
            if time.monotonic() - self._looked >= FRESH:
                self._found = await self._look()
                self._looked = time.monotonic()
        return self._found

    async def _look(self) -> KnowbaseError | None:
        if not self._workers.moves():
            return Overloaded(
                "every worker is busy, and nothing moves", hint="serve.workers, serve.timeout"
            )
        try:
            await self._watchers.run(self._base.store.model, "ready", MOMENT)
        except KnowbaseError as error:
            return error
        return None
