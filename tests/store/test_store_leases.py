"""What every store promises of a lease."""

import time

from knowbase.store.contract import Store

LONG = 3600.0


def test_a_lease_is_one_holders_until_it_ends_or_runs_out(store: Store) -> None:
    """S3-44"""
    assert store.lease("work", "a", LONG)
    assert not store.lease("work", "b", LONG)
    assert store.lease("work", "a", LONG)  # to go on
    assert store.lease("other work", "b", LONG)
    store.end_lease("work", "b")  # not b's to end
    assert not store.lease("work", "b", LONG)
    store.end_lease("work", "a")
    assert store.lease("work", "b", 0.01)
    time.sleep(0.05)  # its holder was killed
    assert store.lease("work", "a", LONG)
    assert not store.lease("work", "b", LONG)
