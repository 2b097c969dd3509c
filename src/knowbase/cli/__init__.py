"""The `kb` command: parse input, run an operation, render what comes back."""

import gc
import os
import sys
from collections.abc import Sequence
from typing import NoReturn


def entry() -> NoReturn:
    """The `kb` script. Taking the interpreter down would cost a tenth of a keyword search."""
    from knowbase.process.warm import answer

    code = answer(sys.argv[1:])
    if code is None:
        code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    # Collecting garbage while modules load would cost a tenth of a keyword search.
    gc.disable()
    from knowbase.cli.run import run

    return run(list(sys.argv[1:] if arguments is None else arguments))
