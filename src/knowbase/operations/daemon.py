"""Commands about the process that searches leave behind."""

import os
import time
from typing import NamedTuple

from knowbase.operations.declare import NoParameters, Operation
from knowbase.process import warm

LAST_SECONDS = 5.0  # for it to end


class Waiting(NamedTuple):
    """The process of this user and installation, if there is one."""

    running: bool
    socket: str | None  # None: this system has no such thing
    pid: int | None = None
    answered: int = 0  # commands
    seconds: int = 0  # since it began
    idle_seconds: int = 0  # since it was last asked
    ends_after: int = 0  # idle seconds
    stopped: bool = False


def look(_: None, __: NoParameters) -> Waiting:
    return _told(warm.STATUS)


def stop(_: None, __: NoParameters) -> Waiting:
    """End it; what it is answering is answered."""
    found = _told(warm.STOP)
    end = time.monotonic() + LAST_SECONDS
    while found.running and os.path.exists(found.socket or "") and time.monotonic() < end:
        time.sleep(0.01)
    return found._replace(running=False, stopped=found.running)


def _told(what: str) -> Waiting:
    path = warm.socket_path() if warm.has_sockets() else None
    connection = warm.connected()
    if connection is None:
        return Waiting(False, path)
    try:
        warm.send_request(connection, [what])
        if warm.receive(connection, 1) != warm.DONE:
            return Waiting(False, path)
        told = map(int, warm.receive_whole(connection).split())
        return Waiting(True, path, *told)  # type: ignore[arg-type]
    except (OSError, ValueError, TypeError):
        return Waiting(False, path)
    finally:
        connection.close()


COMMANDS = {
    command.name: command
    for command in (
        Operation(
            "daemon status",
            "Show the process that searches leave behind, so that the next one starts faster",
            NoParameters,
            look,
            opens_bases=True,
            local=True,
            examples=("kb daemon status", "kb daemon status --json"),
        ),
        Operation(
            "daemon stop",
            "End the process that searches leave behind",
            NoParameters,
            stop,
            opens_bases=True,
            local=True,
            examples=("kb daemon stop",),
        ),
    )
}
