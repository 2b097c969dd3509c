"""AsyncClient: a base that a server serves, to be awaited."""

from typing import Self

from knowbase.base.awaiting import Awaiting, awaited
from knowbase.client.client import PATIENCE, Client


class AsyncClient(Awaiting[Client]):
    """A base at the other end of a network, to be awaited."""

    brief = awaited(Client.brief)
    call = awaited(Client.call)
    documents = awaited(Client.documents)
    expire = awaited(Client.expire)
    feedback = awaited(Client.feedback)
    get = awaited(Client.get)
    note = awaited(Client.note)
    plan = awaited(Client.plan)
    relate = awaited(Client.relate)
    remember = awaited(Client.remember)
    remove = awaited(Client.remove)
    search = awaited(Client.search)
    status = awaited(Client.status)
    tags = awaited(Client.tags)
    why_not = awaited(Client.why_not)

    async def close(self) -> None:
        self._threads.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def connect_async(url: str, token: str | None = None, *, timeout: float = PATIENCE) -> AsyncClient:
    """A base that is served at an address, to be awaited; nothing is asked of it yet."""
    return AsyncClient(Client(url, token, timeout=timeout))
