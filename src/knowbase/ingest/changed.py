"""Bringing a store in step with files that are known to have changed: nothing else is looked at."""

import os
from collections.abc import Collection, Sequence

from knowbase.ingest.pending import Pending, Scope, pending
from knowbase.ingest.places import inside
from knowbase.ingest.report import Report
from knowbase.ingest.services import IngestServices
from knowbase.ingest.sync import Run
from knowbase.ingest.walk import has_rules
from knowbase.store.acting import as_one

MOST_NAMED = 200  # paths: for more, walking the folders is no slower


@as_one
def sync_some(services: IngestServices, paths: Collection[str]) -> Report | None:
    """Bring these in step and look at nothing else; None when that cannot be told from them:
    something is gone, or a file changed that says which others are looked at."""
    home, disk = services.home, services.disk
    sources = services.store.sources()
    holding = {
        one: [path for path in paths if inside(path, home.absolute(one.path))] for one in sources
    }
    odd = set(paths).difference(*holding.values()) | {one for one in paths if has_rules(one)}
    odd |= {path for path in paths if home.stored(path) in (".", os.sep)}
    if odd or len(paths) > MOST_NAMED:
        return None
    scopes = [Scope(source) for source, held in holding.items() if held]
    rules = disk.rules._replace(among=frozenset(paths))
    work = pending(services.store, scopes, disk._replace(rules=rules))
    if any(each.missing for each in work):
        return None
    return _done(services, scopes, work)


def _done(services: IngestServices, scopes: Sequence[Scope], work: Sequence[Pending]) -> Report:
    run = Run(services, work, lambda _: None)
    try:
        run.read_all(work)
        run.settle(scopes)
        run.weigh()
    except KeyboardInterrupt:
        run.stopped()
    finally:
        services.drafter.reader.scanner.rest()
    return run.report()
