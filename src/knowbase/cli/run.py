"""Running a command: from arguments to an exit code."""

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from knowbase.cli.arguments import Surface, command_of, overview, parse
from knowbase.cli.render import Renderer, plain
from knowbase.cli.terminal import Painter, ProgressBar
from knowbase.errors import InvalidInput, KnowbaseError, ReadError
from knowbase.operations import load
from knowbase.operations.declare import Operation, build

if TYPE_CHECKING:
    from knowbase.base import Base

INTERRUPTED = 130
UNEXPECTED = 1


def run(arguments: list[str]) -> int:
    """Run one command; whatever happens becomes an exit code and at most one line."""
    as_json, debug = "--json" in arguments, "--debug" in arguments
    try:
        return _dispatch(arguments)
    except KnowbaseError as error:
        if debug:
            raise
        _report_error(error, as_json)
        return error.exit_code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        _report_error(
            KnowbaseError(
                f"something went wrong inside knowbase ({type(error).__name__})",
                hint="run it again with --debug to see where",
            ),
            as_json,
        )
        return UNEXPECTED


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if arguments[0] == "--version":
        import knowbase

        print(f"kb {knowbase.__version__}")
        return 0
    if arguments[0] == "completion":
        from knowbase.cli.completion import script

        print(script(arguments[1:]))
        return 0
    name, rest = command_of(arguments)
    operation = load(name)
    values, surface = parse(operation, rest)
    if surface.help:
        from knowbase.cli.help import help_of

        print(help_of(operation))
        return 0
    request = build(operation.request, _with_text(values) if name == "note" else values)
    with _open(name, surface) as base:
        if name == "rm" and not (request.dry_run or surface.yes or surface.json):
            _confirm(base, request)
        output = _Output(base, surface, name)
        if name == "watch":
            return _watch(operation.run(base, request), output)
        result = _run_operation(operation, base, request, surface)
        output.show(result)
        return _exit_code(result)


def _open(name: str, surface: Surface) -> "Base":
    from knowbase.base import create
    from knowbase.base import open as open_base

    return create(surface.base) if name == "init" else open_base(surface.base)


def _run_operation(operation: Operation, base: "Base", request: Any, surface: Surface) -> Any:
    if operation.writes:
        gc.enable()
    if operation.name not in ("add", "sync"):
        return operation.run(base, request)
    bar = ProgressBar(quiet=surface.quiet)
    try:
        return operation.run(base, request, bar)
    finally:
        bar.close()


class _Output:
    """Prints results as JSON or for a person."""

    def __init__(self, base: "Base", surface: Surface, name: str) -> None:
        self._renderer = Renderer(Painter(sys.stdout), base.home)
        self._json = surface.json
        self._name = name

    def show(self, result: Any) -> None:
        if self._json:
            print(_json(plain(result)))
        else:
            print(self._renderer.render(self._name, result))
        sys.stdout.flush()


def _json(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, indent=2)


def _watch(reports: Iterator[Any], output: _Output) -> int:
    for report in reports:
        if report.added or report.changed or report.removed or report.moved or report.failed:
            output.show(report)
    return 0


def _exit_code(result: Any) -> int:
    if getattr(result, "interrupted", False):
        return INTERRUPTED
    return ReadError.exit_code if getattr(result, "failed", ()) else 0


def _report_error(error: KnowbaseError, as_json: bool) -> None:
    if as_json:
        print(_json({"error": error.as_dict()}))
    line = f"kb: {error.message}" + (f" ({error.hint})" if error.hint else "")
    print(line.encode("utf-8", "replace").decode(), file=sys.stderr)


def _confirm(base: "Base", request: Any) -> None:
    """Ask before removing, when there is someone to ask."""
    if not sys.stdin.isatty():
        return
    preview = base.remove(request.references, dry_run=True)
    print(Renderer(Painter(sys.stdout), base.home).render("rm", preview))
    if input("remove? [y/N] ").strip().lower() not in ("y", "yes"):
        raise InvalidInput("nothing was removed")


def _with_text(values: dict[str, Any]) -> dict[str, Any]:
    """A note's text: as given, else from standard input, else from an editor."""
    if values.get("text"):
        return values
    text = _edited() if sys.stdin.isatty() else sys.stdin.read()
    return {**values, "text": text}


def _edited() -> str:
    import shlex
    import subprocess
    import tempfile

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise InvalidInput(
            "a note needs some text", field="text", hint="give it as an argument, or set EDITOR"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "note.md")
        with open(path, "w", encoding="utf-8"):
            pass
        subprocess.run([*shlex.split(editor), path], check=True)
        with open(path, encoding="utf-8") as file:
            return file.read()
