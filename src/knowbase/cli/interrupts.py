"""Ctrl-C: it ends a command at once, until something is under way that has more to say or to undo.

An exception that is raised while modules load would show our inside, or be swallowed by them.
"""

import _signal  # type: ignore[import-not-found]  # `signal` takes as long to load as all of this
import os
import sys

TYPE_CHECKING = False  # as in knowbase itself
if TYPE_CHECKING:
    from types import TracebackType

INTERRUPTED = 130


def end_at_once() -> None:
    """From now on. Where interrupts are ignored (nohup, a shell's &) they stay so."""
    if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _leave)


def end_in_order() -> None:
    """From now on an interrupt is an exception; one that ends up nowhere ends the command, too."""
    if _signal.getsignal(_signal.SIGINT) is _leave:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        sys.unraisablehook = _unraised
        sys.excepthook = _printed


def comes_of_one(error: BaseException | None) -> bool:
    """Whether an extension that was being loaded made this error of an interrupt."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _unraised(given: "sys.UnraisableHookArgs") -> None:
    """Where Python could raise it nowhere."""
    if given.exc_type is KeyboardInterrupt:
        _leave()
    sys.__unraisablehook__(given)


def _printed(
    kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
) -> None:
    """Where an extension (numpy, while it loads) would print it and go on."""
    if kind is KeyboardInterrupt:
        _leave()
    sys.__excepthook__(kind, error, trace)


def _leave(*_: object) -> None:
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(INTERRUPTED)
