"""When something last happened with a base on this machine, and which sources are being watched:
kept in the user's cache, since neither is a fact of the base."""

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import sha256

from knowbase.embed.cache import folder

MOST_KEPT = 1_000  # names of a kind, the latest


def moments(base: str, kind: str) -> dict[str, str]:
    """When it was, by name; empty where nothing is known."""
    try:
        with open(_file(base, f"{kind}.json"), encoding="utf-8") as file:
            found = json.load(file)
        return {str(name): str(at) for name, at in found.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def keep_moment(base: str, kind: str, names: Iterable[str], at: str) -> None:
    """It happened to these at this moment; where nothing can be written, nobody knows."""
    path = _file(base, f"{kind}.json")
    with suppress(OSError):
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        known = {**moments(base, kind), **dict.fromkeys(names, at)}
        latest = sorted(known, key=known.__getitem__)[-MOST_KEPT:]
        new = f"{path}.{os.getpid()}"
        with open(new, "w", encoding="utf-8") as file:
            json.dump({name: known[name] for name in latest}, file, ensure_ascii=False)
        os.replace(new, path)


@contextmanager
def watching(base: str, sources: Iterable[str]) -> Iterator[None]:
    """Others see that these are watched, for as long as this process does; a second watch of the
    same is none of anybody's concern."""
    from knowbase.process import filing

    with ExitStack() as held:
        for source in sources:
            with suppress(OSError):
                held.enter_context(filing.locked(_watched(base, source), 0.1))
        yield


def is_watched(base: str, source: str) -> bool:
    """Whether some process of this user watches it."""
    from knowbase.process import filing

    path = _watched(base, source)
    if not os.path.exists(f"{path}.lock"):
        return False
    try:
        with filing.locked(path, 0):
            return False
    except OSError:
        return True


def _watched(base: str, source: str) -> str:
    return _file(base, f"watched-{sha256(source.encode()).hexdigest()[:16]}")


def _file(base: str, name: str) -> str:
    below = sha256(base.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return os.path.join(folder(os.environ), "bases", below, name)
