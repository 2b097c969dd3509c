"""The `kb` command: parse input, run an operation, render what comes back."""

import gc
import os
import sys

from knowbase.cli.interrupts import end_at_once

TYPE_CHECKING = False  # as in knowbase itself
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def entry() -> "NoReturn":
    """The `kb` script. Taking the interpreter down would cost a tenth of a keyword search."""
    end_at_once()
    gc.disable()  # while modules load, collecting garbage would cost a tenth of a keyword search
    from knowbase.process.warm import answer

    _have_streams()
    code = answer(sys.argv[1:])
    if code is None:
        code = main()
    os._exit(_flushed(code))


def _have_streams() -> None:
    """Who closed a stream (`kb search … >&-`) wants to see nothing of it; and no file that is
    opened later must be taken for it."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - for life


def _flushed(code: int) -> int:
    """The exit code, once all is written: it says so when that could not be."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # nobody reads any more
    except OSError as error:
        if not code:
            print(f"kb: the answer could not be written: {error.strerror}", file=sys.stderr)
        code = code or 1
    sys.stderr.flush()
    return code


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run the command line and return its exit code."""
    gc.disable()
    from knowbase.cli.run import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
