"""Who wrote a document, as far as the base knows."""

from knowbase.errors import InvalidInput
from knowbase.query.conditions import Compare, Condition, InSession, Not

_FILE = Compare("path", "present")
_IN_A_SESSION = InSession("", made=True)
_CONDITIONS: dict[str, tuple[Condition, ...]] = {
    "file": (_FILE,),
    "agent": (Not(_FILE), _IN_A_SESSION),
    "person": (Not(_FILE), Not(_IN_A_SESSION)),
}
WRITERS = tuple(_CONDITIONS)


def written_by(writer: str | None) -> tuple[Condition, ...]:
    """What such a one wrote: an agent works in sessions, a person writes notes without one."""
    if writer is None:
        return ()
    if writer not in _CONDITIONS:
        hint = "one of " + ", ".join(WRITERS)
        raise InvalidInput(f"writer cannot be {writer!r}", field="writer", hint=hint)
    return _CONDITIONS[writer]
