"""Running a command: from arguments to an exit code."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any

from knowbase.cli.arguments import (
    SPECIAL,
    Surface,
    command_of,
    parse,
    plain_words,
)
from knowbase.cli.commands import COMPLETION, NAMES, SURFACES, load
from knowbase.cli.interrupts import INTERRUPTED, comes_of_one, end_in_order
from knowbase.cli.terminal import Painter, ProgressBar, safe, written
from knowbase.errors import BaseMissing, InvalidInput, KnowbaseError, ReadError
from knowbase.logs import listen
from knowbase.operations.declare import Operation, Place
from knowbase.process import collect_rarely, warm
from knowbase.values.characters import clean
from knowbase.values.parameters import build
from knowbase.values.visible import escaped

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.client import Client

_IGNORED = ("--json", "--debug", "--quiet")  # by completion
UNEXPECTED = 1
_LOST_WRITES = (
    "kb: warning: the base's journal (-wal) was deleted, and with it what was written last;"
    " kb sync reads the files again, notes of that time may be lost"
)


def run(arguments: list[str]) -> int:
    """Run one command; whatever happens becomes an exit code and at most one line."""
    as_json, debug = "--json" in arguments, "--debug" in arguments
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a letter shows a ?
    try:
        return _dispatch([clean(argument) for argument in arguments])
    except KnowbaseError as error:
        if comes_of_one(error):
            return _interrupted()
        _report_error(error, as_json, debug)
        return error.exit_code
    except KeyboardInterrupt:
        return _interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if comes_of_one(error):
            return _interrupted()
        unexpected = KnowbaseError(
            f"something went wrong inside knowbase ({type(error).__name__})",
            hint="run it again with --debug to see where",
        )
        _report_error(unexpected, as_json, debug)
        return UNEXPECTED


def _interrupted() -> int:
    print("interrupted", file=sys.stderr)
    return INTERRUPTED


def _dispatch(arguments: list[str]) -> int:
    name, rest = command_of(arguments) if arguments else ("", [])
    if not name or name in SPECIAL:
        print(_special(name, rest))
        return 0
    _stand_somewhere()
    operation = load(name)
    instead = operation.terminal.instead
    if instead is not None:
        operation = load(instead(plain_words(rest)) or name)
    values, surface = parse(operation, rest)
    if surface.help:
        from knowbase.cli.help import help_of

        print(help_of(operation))
        return 0
    if operation.makes_garbage:
        end_in_order()
    if _is_served(surface):
        _refuse_local(operation, name)
    _keep_threads_few()
    given = _with_input(operation.terminal.input_field, values)
    request = build(operation.request, given, called=lambda one: one.param.metavar or one.name)
    _hear_announcements(surface)
    with _open(operation, surface, request) as base:
        _begin(operation, base)
        if base is not None and not surface.yes:
            _confirm(operation, base, request)
        output = _Output(base, surface, operation)
        if operation.makes_garbage:
            collect_rarely()
        if operation.streams:
            opening = operation.terminal.opening
            _leave_a_process(operation, base)
            said = opening(base) if opening is not None and not surface.quiet else ""
            if said:
                print(safe(said), file=sys.stderr, flush=True)
            _say_surface()
            return _stream(operation.run(base, request), output)
        with _saying(operation):
            result = _run_operation(operation, base, request, surface)
        output.show(result)
        _keep_hits(operation, base, result)
        _leave_a_process(operation, base)
        return _exit_code(result)


def _stand_somewhere() -> None:
    try:
        os.getcwd()
    except FileNotFoundError as error:
        raise InvalidInput(
            "the folder that you are in is not there any more", hint="cd to another one"
        ) from error


def _keep_threads_few() -> None:
    """Else numpy starts a thread for every core, which takes as long as all else of a search, and
    takes turns with the threads of a server. Beside those that embed they spend more than they
    gain: of adding files without embedding, a fifth."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _hear_announcements(surface: Surface) -> None:
    if not surface.quiet:
        listen(lambda text: print(safe(f"note: {text}"), file=sys.stderr))


def _keep_hits(operation: Operation, base: "Base | Client | None", result: Any) -> None:
    """For `kb open`, which knows them by their numbers."""
    if operation.terminal.formats and hasattr(result, "hits"):
        from knowbase.operations.last import keep

        keep(base, result)


def _leave_a_process(operation: Operation, base: "Base | Client | None") -> None:
    """What looked for one and found none, and took the time to load a model, leaves one."""
    if not warm.is_absent or not (operation.streams or "knowbase.embed.choice" in sys.modules):
        return
    settings = getattr(base, "settings", None)
    if settings is not None and warm.is_wanted(settings.search_daemon):
        sys.stdout.flush()
        warm.start(settings.search_daemon_idle, warm.file_of(base))


def _special(name: str, rest: list[str]) -> str:
    if not name:
        from knowbase.cli.overview import short_overview

        return short_overview()
    if name == COMPLETION:
        from knowbase.cli.completion import script

        given = rest if "values" in rest else [w for w in rest if w not in _IGNORED]
        return script(given)
    if name in ("--version", "-V"):
        import knowbase

        return f"kb {knowbase.__version__}"
    return _help(" ".join(word for word in rest if not word.startswith("-")))


def _help(asked: str) -> str:
    """All commands, a command, a page; of a name that both have, the command and then the page."""
    from knowbase.cli.overview import overview
    from knowbase.cli.pages import page_of

    page = page_of(asked.lower().removesuffix(".md"))
    found = [page] if page is not None else []
    if asked in NAMES:
        from knowbase.cli.help import help_of

        found.insert(0, help_of(load(asked)))
    elif asked.lower() in NAMES:
        return _help(asked.lower())
    elif not asked or any(one.startswith(asked + " ") for one in NAMES):
        found.insert(0, overview(asked))
    if not found:
        raise InvalidInput(
            f"there is no command {asked!r}, nor a page", field="command", hint="kb help lists them"
        )
    return "\n\n".join(found)


def _is_served(surface: Surface) -> bool:
    """Whether the base is one that a server serves."""
    named = surface.base or os.environ.get("KB_BASE") or ""
    return named[:8].lower().startswith(("http://", "https://"))


def _refuse_local(operation: Operation, name: str) -> None:
    if operation.local or operation.by_place or name in SURFACES:
        raise InvalidInput(
            f"kb {operation.name} works on a base of this machine, not through a server",
            field="base",
            hint="run it where the base is, or name a file or a database",
        )


def _begin(operation: Operation, base: "Base | Client | None") -> None:
    if warm.when_opened is not None:
        warm.when_opened(base)
    if _has_lost_writes(operation, base):
        print(_LOST_WRITES, file=sys.stderr)


def _has_lost_writes(operation: Operation, base: "Base | Client | None") -> bool:
    if base is None or operation.by_place or not hasattr(base, "store"):
        return False
    return base.store.has_lost_writes()


def _open(
    operation: Operation, surface: Surface, request: Any
) -> "AbstractContextManager[Base | Client | None]":
    from knowbase.base import create
    from knowbase.base import open as open_base
    from knowbase.store.location import place_of

    if operation.opens_bases:
        if surface.base is not None:
            raise InvalidInput(f"kb {operation.name} takes no --base", field="base")
        return nullcontext()
    if _is_served(surface):
        from knowbase.client import connect

        return connect(surface.base or os.environ["KB_BASE"])
    if operation.by_place:
        return nullcontext(Place(place_of(surface.base)))  # type: ignore[arg-type]
    if operation.creates_base:
        place = _new_place(surface.base, request.folder)
        if request.print_sql:
            return nullcontext(Place(place_of(place)))  # type: ignore[arg-type]
        if request.writer or request.reader:
            raise InvalidInput("roles are for --print-sql", field="writer", hint="--print-sql")
        return create(place, profile=request.profile)
    try:
        return open_base(surface.base)
    except BaseMissing:
        if not operation.base_optional or surface.base is not None:
            raise
        return nullcontext()


def _new_place(base: str | None, folder: str | None) -> str | None:
    if folder is None:
        return base
    if base is not None:
        raise InvalidInput("a folder and --base say the same twice", field="folder")
    return folder if os.path.splitext(folder)[1] else os.path.join(folder, "")


def _run_operation(
    operation: Operation, base: "Base | Client | None", request: Any, surface: Surface
) -> Any:
    if base is not None and _is_served(surface):
        return base.run(operation, request)  # type: ignore[union-attr]
    if not operation.progress:
        return operation.run(base, request)
    bar = ProgressBar(quiet=surface.quiet)
    try:
        return operation.run(base, request, bar)
    finally:
        bar.close()


def _say_surface() -> None:
    """Each round of a stream is a command of its own."""
    from knowbase.values.history import surface

    surface.set("cli")


def _saying(operation: Operation) -> AbstractContextManager[None]:
    """What is written is written down as this command's."""
    if not operation.makes_garbage:
        return nullcontext()
    from knowbase.store.acting import acting

    return acting("cli", operation.name)


def _home_of(base: "Base | Client | None") -> str:
    """Where stored paths start from; nowhere when they are another machine's."""
    return os.getcwd() if base is None else getattr(base, "home", "")


class _Output:
    """Prints results as JSON or for a person."""

    def __init__(
        self, base: "Base | Client | None", surface: Surface, operation: Operation
    ) -> None:
        self._paint = Painter(sys.stdout, _home_of(base))
        self._json = surface.json
        self._quiet = surface.quiet
        self._format = surface.format
        self._terminal = operation.terminal

    def show(self, result: Any) -> None:
        with written():
            self._print(result)
            sys.stdout.flush()
        aside = self._terminal.aside
        if aside is not None and not self._json and not self._quiet and aside(result):
            print(safe(aside(result)), file=sys.stderr)

    def _print(self, result: Any) -> None:
        raw = self._terminal.raw
        if self._json:
            from knowbase.operations.results import plain

            print(_json(plain(result), indent=None if self._terminal.json_lines else 2))
        elif self._format is not None and hasattr(result, "hits"):
            from knowbase.cli.render.formats import formatted

            sys.stdout.write(formatted(self._format, self._paint, result))
            for notice in result.notices:
                print(safe(f"note: {notice}"), file=sys.stderr)
        elif raw is not None and not sys.stdout.isatty():
            sys.stdout.write(raw(result))
        elif not self._quiet or not self._terminal.reports:
            _print_rendered(self._paint, result)
        elif getattr(result, "failed", ()):  # what went wrong is said all the same
            _print_rendered(Painter(sys.stderr, self._paint.home), result, sys.stderr)


def _print_rendered(paint: Painter, result: Any, file: Any = None) -> None:
    from knowbase.cli.render import render

    print(render(paint, result), file=file or sys.stdout)


def _json(value: Any, indent: int | None = 2) -> str:
    import json

    # Exact data all the same: what cannot be seen, or steers a terminal, is written as \\u….
    return escaped(json.dumps(value, ensure_ascii=False, indent=indent))


def _stream(reports: Iterator[Any], output: _Output) -> int:
    for report in reports:
        if getattr(report, "is_news", True):
            output.show(report)
        if getattr(report, "interrupted", False):
            return INTERRUPTED
    return 0


def _exit_code(result: Any) -> int:
    if getattr(result, "interrupted", False):
        return INTERRUPTED
    if getattr(result, "failed", ()):
        return ReadError.exit_code
    return int(getattr(result, "exit_code", 0))


def _report_error(error: KnowbaseError, as_json: bool, debug: bool) -> None:
    """One line for a person, an object for a program, and the traceback when it is asked for."""
    if debug:
        import traceback

        traceback.print_exc()
    if as_json:
        with suppress(OSError):  # that the answer could not be written may be what is said
            print(_json({"error": error.as_dict()}), flush=True)
    line = f"kb: {error.message}" + (f" ({error.hint})" if error.hint else "")
    print(safe(line), file=sys.stderr)


def _confirm(operation: Operation, base: "Base | Client", request: Any) -> None:
    """Ask before removing or replacing; without anybody to ask, nothing is."""
    removes, asks = operation.terminal.removes, operation.terminal.asks
    if asks is not None:
        _ask(base, asks(base, request), "replace", "replaced")
    references = removes(base, request) if removes is not None else ()
    if references:
        _ask(base, base.remove(tuple(references), dry_run=True), "remove", "removed")


def _ask(base: "Base | Client", preview: Any, verb: str, done: str) -> None:
    if preview is None:
        return
    if not sys.stdin.isatty():
        raise InvalidInput(
            f"nothing was {done}: there is nobody to ask", field="yes", hint="say --yes"
        )
    _print_rendered(Painter(sys.stdout, _home_of(base)), preview)
    try:
        answer = input(f"{verb}? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise InvalidInput(f"nothing was {done}")


def _with_input(name: str | None, values: dict[str, Any]) -> dict[str, Any]:
    """The parameter of that name: as given, else from standard input, else from an editor."""
    if name is None or values.get(name) not in (None, "", "-"):
        return values
    if sys.stdin.isatty() and values.get(name) != "-":
        return {**values, name: _edited(name)}
    return {**values, name: sys.stdin.buffer.read().decode("utf-8", "replace")}


def _edited(name: str) -> str:
    import shlex
    import subprocess
    import tempfile

    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise InvalidInput(
            "there is no text", field=name, hint="give it as an argument, or set EDITOR"
        )
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "note.md")
        with open(path, "w", encoding="utf-8"):
            pass
        try:
            subprocess.run([*shlex.split(editor), path], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise InvalidInput(
                f"the editor {editor!r} failed; nothing was written",
                field=name,
                hint="set EDITOR",
            ) from error
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
