"""What the system tells about this process, the processes that this one has started, and what
is asked of the disk."""

import os

TYPE_CHECKING = False  # as in knowbase itself
if TYPE_CHECKING:
    from collections.abc import Callable

GARBAGE = 5_000  # values: some megabytes

_closers: "list[Callable[[], None]]" = []


def resident_bytes() -> int:
    """Memory in use; 0 where the system does not tell."""
    return _memory("self", 1)


def address_space_of(process: int) -> int:
    """What a process has asked for; 0 where the system does not tell."""
    return _memory(str(process), 0)


def _memory(process: str, field: int) -> int:
    try:
        descriptor = os.open(f"/proc/{process}/statm", os.O_RDONLY)
    except OSError:
        return 0
    try:
        return int(os.read(descriptor, 200).split()[field]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
    finally:
        os.close(descriptor)


def report_to_nobody() -> None:
    """Before onnxruntime is imported: its wheels send what they run to their makers, and keep an
    id of the device and what is not sent yet in the user's cache."""
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def close_with_a_base(close: "Callable[[], None]") -> None:
    """Whoever keeps processes for later says here how they are ended."""
    _closers.append(close)


def close_idle() -> None:
    """End the processes that wait for work; who needs one again starts it again."""
    for close in _closers:
        close()


def sync_names(folder: str) -> None:
    """A new name in a folder is on the disk only when the folder is; Windows has no such call."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def collect_rarely() -> None:
    """For a process that serves, and one that writes much: a search makes thousands of values,
    nearly all of which go with it, and so does a batch that is copied. To look through them after
    every 700 is a fourteenth of the one's time, and a seventh of the other's."""
    import gc

    gc.freeze()  # what is loaded stays
    gc.set_threshold(GARBAGE, 20, 20)
    gc.enable()
