"""What is done to a base by its place: it may be damaged, or not there at all."""

import os
import time
from typing import TYPE_CHECKING

from knowbase import config
from knowbase.store.location import home_of, locate, place_of
from knowbase.values.times import timestamp

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.ingest.embedding import Step
    from knowbase.upkeep.repair import Repaired
    from knowbase.upkeep.restore import Restored


def restore(
    file: str,
    path: str | None = None,
    *,
    discard: bool = False,
    dry_run: bool = False,
    progress: "Callable[[Step], None]" = lambda _: None,
) -> "Restored":
    """Put a backup in place of the base at `path`, or of the one found upwards from here."""
    from knowbase.upkeep.restore import Wanted
    from knowbase.upkeep.restore import restore as put_back

    place = place_of(path)
    return put_back(place, Wanted(file, discard, dry_run), _now(), _settings(place), progress)


def repair(
    path: str | None = None,
    *,
    dry_run: bool = False,
    progress: "Callable[[Step], None]" = lambda _: None,
) -> "Repaired":
    """Save what can be saved of a damaged base, and rebuild the rest."""
    from knowbase.upkeep.repair import repair as mend

    place = locate(path)
    return mend(place, _now(), _settings(place), dry_run=dry_run, progress=progress)


def _now() -> str:
    return timestamp(time.time())


def _settings(place: str) -> config.Settings:
    return config.load(home_of(place), os.environ).settings
