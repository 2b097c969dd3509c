"""The command that serves: declared as operations are, run on this machine."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.config import Settings
from knowbase.logs import FORMATS, LEVELS, LogStyle
from knowbase.operations.declare import Operation
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Iterator

    from knowbase.base import Base
    from knowbase.http.server import Serving


LOG_LEVEL = Param("what the log has; info and debug: each part of a search", choices=LEVELS)
LOG_FORMAT = Param("the form of the log, on standard error", choices=FORMATS)


class Serve(NamedTuple):
    host: Annotated[
        str | None, Param("the address; other than loopback, it wants a token", metavar="ADDRESS")
    ] = None
    port: Annotated[int | None, Param("the port; 0: any that is free", least=0, most=65535)] = None
    log_level: Annotated[str | None, LOG_LEVEL] = None
    log_format: Annotated[str | None, LOG_FORMAT] = None
    workers: Annotated[
        int | None, Param("processes that search; 1: the server's own", least=1, most=64)
    ] = None
    open: Annotated[bool, Param("open the page in the browser")] = False


def log_style(settings: Settings, level: str | None, form: str | None) -> LogStyle:
    """How the log is shown: as the flags say, else as the settings do."""
    return LogStyle(level or settings.serve_log_level, form or settings.serve_log)


def serve(base: "Base", request: Serve) -> "Iterator[Serving]":
    from knowbase.http.server import Place
    from knowbase.http.server import serve as run

    settings = base.settings
    host = settings.serve_host if request.host is None else request.host
    port = settings.serve_port if request.port is None else request.port
    style = log_style(settings, request.log_level, request.log_format)
    processes = settings.serve_processes if request.workers is None else request.workers
    return run(base, Place(host, port, log=style, processes=processes, opens=request.open))


def web(base: "Base", request: Serve) -> "Iterator[Serving]":
    return serve(base, request._replace(open=True))


COMMANDS = {
    command.name: command
    for command in (
        Operation(
            "serve",
            "Serve the base over HTTP: a page at /, /api, /mcp, /openapi.json, /health, /metrics",
            Serve,
            serve,
            writes=True,
            local=True,
            streams=True,
            examples=(
                "kb serve",
                "kb serve --open",
                "kb serve --workers 4",
                "KB_TOKEN=… kb serve --host 0.0.0.0 --port 8620",
            ),
        ),
        Operation(
            "web",
            "Serve the base and open its page in the browser: kb serve --open",
            Serve,
            web,
            writes=True,
            local=True,
            streams=True,
            examples=("kb web", "kb web --port 0"),
        ),
    )
}
