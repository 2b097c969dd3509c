"""The library for those who await."""

import asyncio
import threading
from pathlib import Path

import pytest

import knowbase
from knowbase import AsyncBase, AsyncClient, Base, Client, Note
from knowbase.base.awaited import AsyncGraph, AsyncLifecycle, AsyncSavedSearches, AsyncSessions
from knowbase.contracts.knowledge import Options, search_knowledge, search_knowledge_async
from knowbase.contracts.memory import SearchOptions, create_async_search_service
from knowbase.errors import BaseMissing, InvalidInput, KnowbaseError
from knowbase.graph import Graph
from knowbase.memory.lifecycle import Lifecycle
from knowbase.memory.sessions import Sessions
from knowbase.search.saved import SavedSearches

LEFT_OUT = {
    Base: {
        "watch",  # blocks for as long as it is asked for more
        "within", "flush", "profile", "profiles", "profile_for", "now", "ingest_services",
        "whole", "check_types", "moment_of",
    },
    Graph: {"around", "network", "shown"},
    Client: {"run"},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "counterpart"),
    [
        (Base, AsyncBase), (Graph, AsyncGraph), (Lifecycle, AsyncLifecycle),
        (Sessions, AsyncSessions), (SavedSearches, AsyncSavedSearches), (Client, AsyncClient),
    ],
)  # fmt: skip
def test_every_method_has_a_counterpart(kind: type, counterpart: type) -> None:
    methods = {
        name for name in dir(kind) if not name.startswith("_") and callable(getattr(kind, name))
    }
    assert methods - LEFT_OUT.get(kind, set()) <= set(dir(counterpart))


def test_a_base_is_awaited_and_the_loop_goes_on(tmp_path: Path) -> None:
    """S0-19"""

    async def use() -> None:
        async with knowbase.create_async(tmp_path) as base:
            notes = (base.remember(Note(f"otter {n} sleeps", project="p")) for n in range(4))
            assert len(await asyncio.gather(*notes)) == 4
            here, ticks = threading.get_ident(), 0

            async def tick() -> None:
                nonlocal ticks
                while True:
                    ticks += 1
                    await asyncio.sleep(0)

            ticking = asyncio.create_task(tick())
            answers = await asyncio.gather(*(base.search("otter", top=n) for n in (1, 2, 3)))
            ticking.cancel()
            assert [answer.returned for answer in answers] == [1, 2, 3]
            assert ticks > 1
            assert threading.get_ident() == here
            code = answers[0].hits[0].code
            assert (await base.lifecycle.archive([code])).documents[0].archived
            await base.saved.add("all", "otter")
            assert (await base.saved.run("all")).returned == 3
            assert (await base.sessions.start("s1")).id == "s1"
            assert (await base.graph.links(code)).document.code == code
            with pytest.raises(InvalidInput, match="takes a list"):
                await base.search("otter", tags="ops")  # type: ignore[arg-type]
            await contracts(base)
        with pytest.raises((KnowbaseError, RuntimeError)):
            await base.search("otter")
        again = await knowbase.open_async(tmp_path)
        assert (await again.status()).documents == 4
        await again.close()
        with pytest.raises(BaseMissing):
            await knowbase.open_async(tmp_path / "nowhere.db")

    asyncio.run(use())


async def contracts(base: AsyncBase) -> None:
    """S0-19, S2-03: those of the documents, to be awaited."""
    options = Options(limit=2, types=("fact",))
    found = await search_knowledge_async(base.held, "otter", options)
    assert found == search_knowledge(base.held, "otter", options)
    assert len(found) == 2
    service = create_async_search_service(base.held)
    [memory, *_] = await service.search(SearchOptions("otter", project_id="p"))
    assert memory.memory.content.startswith("otter")
    assert (await service.timeline(memory.memory.id)).anchor.id == memory.memory.id
