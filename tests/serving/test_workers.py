"""The threads that work for clients: shared fairly, replaced when lost, never more than allowed."""

import asyncio
import random
import threading
import time
from collections.abc import Callable
from functools import partial

import pytest

from knowbase import deadline
from knowbase.errors import TookTooLong
from knowbase.http.clients import address_of, client, share
from knowbase.http.failures import Overloaded
from knowbase.http.workers import Workers

PATIENCE = 60.0


def as_client(
    name: str, workers: Workers, work: Callable[[], object], kind: str = ""
) -> "asyncio.Future[object]":
    client.set(name)
    return asyncio.ensure_future(workers.run(work, kind))


async def until(happened: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not happened():
            await asyncio.sleep(0.005)


def test_a_lost_thread_is_replaced_as_often_as_is_allowed_and_taken_back() -> None:
    async def run() -> None:
        workers, end = Workers(2, 8, 0.05), threading.Event()
        for number in range(4):
            with pytest.raises(TookTooLong, match="no answer within"):
                await workers.run(lambda: end.wait(PATIENCE), str(number))
        assert workers._threads == 4  # twice as many as there were to be
        with pytest.raises(TookTooLong):
            await workers.run(lambda: None, "late")
        end.set()
        await until(lambda: workers._threads == 2)
        assert await workers.run(lambda: "again") == "again"
        assert (workers._lost, workers._busy) == (0, 0)
        await workers.close(1)

    asyncio.run(run())


def test_a_thread_that_could_not_be_started_is_started_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async def run() -> None:
        workers = Workers(1, 8, 0.05)
        with monkeypatch.context() as patched:
            patched.setattr(threading.Thread, "start", refused)
            with pytest.raises(TookTooLong):
                await workers.run(lambda: None)
        assert workers._threads == 0
        assert await workers.run(lambda: "again", seconds=PATIENCE) == "again"
        await workers.close(1)

    asyncio.run(run())


def test_one_client_and_one_kind_of_work_leave_room_for_others() -> None:
    async def run() -> None:
        workers, end = Workers(8, 64, PATIENCE), threading.Event()
        stuck = lambda: end.wait(PATIENCE)  # noqa: E731
        slow = [as_client("a", workers, stuck, "graph") for _ in range(8)]
        await until(lambda: workers._busy == 4)
        client.set("a")
        assert await workers.run(lambda: 1, "search") == 1
        slow += [as_client("a", workers, stuck, "note") for _ in range(8)]
        await until(lambda: workers._busy == 6)
        client.set("b")
        assert await workers.run(lambda: 2, "graph") == 2
        assert workers._busy == 6
        end.set()
        await asyncio.gather(*slow)
        assert not workers._running
        await workers.close(1)

    asyncio.run(run())


def test_what_is_quick_is_done_by_as_many_threads_as_there_are_cores() -> None:
    """And what turns out slow leaves its place to others, up to the number of threads."""

    async def run() -> None:
        workers, end = Workers(8, 64, PATIENCE, cores=2), threading.Event()
        at_once: list[int] = []

        def quick() -> None:
            at_once.append(workers._busy)
            time.sleep(0.001)

        await asyncio.gather(*(as_client(str(n % 3), workers, quick, str(n)) for n in range(40)))
        assert len(at_once) == 40
        assert max(at_once) <= 2
        assert workers._threads <= 2
        slow = [as_client("a", workers, lambda: end.wait(PATIENCE), str(n)) for n in range(5)]
        client.set("b")
        assert await workers.run(lambda: "served", "other") == "served"
        await until(lambda: workers._busy == 5)
        end.set()
        await asyncio.gather(*slow)
        await workers.close(1)

    asyncio.run(run())


def test_lines_take_turns() -> None:
    done: list[str] = []

    async def run() -> None:
        workers, end = Workers(1, 64, PATIENCE), threading.Event()
        first = as_client("a", workers, lambda: end.wait(PATIENCE))
        await until(lambda: workers._busy == 1)
        many = [as_client("a", workers, partial(done.append, "a")) for _ in range(5)]
        few = [as_client("b", workers, partial(done.append, "b")) for _ in range(2)]
        await asyncio.sleep(0)
        end.set()
        await asyncio.gather(first, *many, *few)

    asyncio.run(run())
    assert "".join(done) in ("ababaaa", "babaaaa")


def test_work_knows_until_when_it_is_waited_for() -> None:
    async def run() -> None:
        workers = Workers(1, 1, 5.0)
        left = await workers.run(deadline.seconds_left)
        assert left is not None
        assert 0 < left <= 5.0
        with pytest.raises(TookTooLong):
            await workers.run(partial(raise_, TookTooLong("stopped in the middle")))

    asyncio.run(run())


def raise_(error: Exception) -> None:
    raise error


def test_whatever_is_asked_refused_late_or_given_up_the_counts_are_right_in_the_end() -> None:
    chance = random.Random(7)

    async def run() -> None:
        workers = Workers(3, 10, 0.02)

        async def ask(number: int) -> None:
            client.set(f"client {number % 5}")
            asked = asyncio.ensure_future(
                workers.run(partial(time.sleep, chance.choice((0, 0.001, 0.03))), str(number % 3))
            )
            if number % 7 == 0:
                await asyncio.sleep(0.002)
                asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)

        for _ in range(20):
            await asyncio.gather(*(ask(number) for number in range(25)))
        await until(lambda: workers._busy == 0)
        assert (workers._lost, workers._lines, workers._running) == (0, {}, {})
        assert workers._threads <= 3
        assert workers.moves()
        await workers.close(1)
        with pytest.raises(Overloaded):
            await workers.run(lambda: None)
        await until(lambda: workers._threads == 0)

    asyncio.run(run())


def test_a_client_is_a_network_where_addresses_are_cheap() -> None:
    assert address_of("192.0.2.7") == "192.0.2.7"
    assert address_of("::ffff:192.0.2.7") == "192.0.2.7"
    assert (
        address_of("2001:db8:1:2:3:4:5:6") == address_of("2001:db8:1:2::9") == "2001:db8:1:2::/64"
    )
    assert address_of("fe80::1%eth0") == "fe80::/64"
    assert [share(number) for number in (1, 2, 4, 8, 72)] == [1, 2, 3, 6, 54]
