"""Operations on long work that a server does: tasks, task start, task stop; and on what it
leaves out: ignore."""

from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.base.tasks import KINDS, Evaluation, TaskLine, TaskList, tasks_of
from knowbase.errors import InvalidInput, NotAllowed
from knowbase.operations.declare import NoParameters, Operation
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from knowbase.base import Base
    from knowbase.evaluate.found import Found
    from knowbase.ingest.ignoring import Ignored
    from knowbase.ingest.report import Progress


def show_tasks(base: "Base", _: NoParameters) -> TaskList:
    from knowbase.base.evaluations import kept

    return TaskList(tasks_of(base).all(), kept(base))


class StartRequest(NamedTuple):
    task: Annotated[
        str, Param("what to do", positional=True, single=True, choices=KINDS, metavar="TASK")
    ]
    paths: Annotated[
        tuple[str, ...],
        Param(
            "of add: files and folders where the server runs; of watch: sources, or all",
            metavar="PATH",
            keeps_commas=True,
        ),
    ] = ()
    tags: Annotated[tuple[str, ...], Param("of add: give these tags", metavar="TAG,TAG")] = ()
    model: Annotated[str | None, Param("of embed: the model to change to")] = None
    make: Annotated[
        int, Param("of eval: questions made of the base", least=4, most=1_000, metavar="N")
    ] = 100


def start(base: "Base", request: StartRequest) -> TaskLine:
    tasks = tasks_of(base)
    if request.task == "watch":
        return start_watch(base, request.paths)
    if (request.task == "add") != bool(request.paths):
        raise InvalidInput("add takes paths, and only watch does too", field="paths")
    if request.task == "add":
        check_reader(base)
        given = list(request.paths)
        _check_files(given)
        return tasks.start("add", lambda step: base.add(given, tags=request.tags, progress=step))
    if request.task == "sync":
        return tasks.start("sync", lambda step: base.sync(pages=False, progress=step))
    if request.task == "eval":
        return tasks.start("eval", lambda step: _evaluated(base, request.make, step))
    return tasks.start("embed", lambda step: base.embed(request.model, progress=step))


def start_watch(base: "Base", sources: "Sequence[str]") -> TaskLine:
    """Keep these sources in step with the disk until somebody stops it."""
    from knowbase.ingest.report import Progress

    def work(step: "Callable[[Progress], None]") -> None:
        looking = Progress(0, 0, 0, "", "watching")
        for _ in base.watch(tuple(sources), each=lambda: step(looking)):
            step(looking)

    return tasks_of(base).start("watch", work)


def _evaluated(base: "Base", number: int, step: "Callable[[Progress], None]") -> "Found":
    from knowbase.base.evaluations import keep
    from knowbase.evaluate.found import ask_itself

    found = ask_itself(base, number, step)
    keep(base, Evaluation(base.now(), *found))
    return found


def check_reader(base: "Base") -> None:
    """A server reads what its user may read: without a token, anybody on the machine could have
    it read something for them."""
    from knowbase.values.access import NOBODY, speaker

    if tasks_of(base).is_served and speaker.get() == NOBODY:
        raise NotAllowed("naming files over HTTP needs a token", hint="kb token new")


def _check_files(named: list[str]) -> None:
    """Nobody has a server ask others from where it stands."""
    from knowbase.ingest.places import is_address

    if any(is_address(one) for one in named):
        raise NotAllowed(
            "a server fetches no pages", field="paths", hint="kb add, where the base is"
        )


class IgnoreRequest(NamedTuple):
    pattern: Annotated[
        str,
        Param(
            "as in a .gitignore: build/, *.min.js", positional=True, single=True, metavar="PATTERN"
        ),
    ]
    folder: Annotated[
        str | None,
        Param("a folder that was added, or one in it; else the base's home", metavar="FOLDER"),
    ] = None
    dry_run: Annotated[bool, Param("only show what it would leave out")] = False


def ignore(base: "Base", request: IgnoreRequest) -> "Ignored":
    return base.ignore(request.pattern, request.folder, dry_run=request.dry_run)


class StopRequest(NamedTuple):
    id: Annotated[str, Param("as kb tasks shows it", positional=True, single=True, metavar="ID")]


def stop(base: "Base", request: StopRequest) -> TaskLine:
    return tasks_of(base).stop(request.id)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "tasks",
            "Show what a server works on, and what came of it",
            NoParameters,
            show_tasks,
            near=True,
            whole=True,
            examples=("kb tasks --base http://127.0.0.1:8620",),
        ),
        Operation(
            "task start",
            "Let a server add, sync, embed, eval or watch; it can be seen and stopped",
            StartRequest,
            start,
            writes=True,
            near=True,
            whole=True,
            examples=("kb task start sync --base http://127.0.0.1:8620",),
        ),
        Operation(
            "ignore",
            "Leave files out of the base from the next sync on: a line in a .kbignore",
            IgnoreRequest,
            ignore,
            writes=True,
            near=True,
            whole=True,
            examples=("kb ignore '*.min.js' --dry-run", "kb ignore build/ --folder docs"),
        ),
        Operation(
            "task stop",
            "Stop what a server works on; what is stored stays",
            StopRequest,
            stop,
            writes=True,
            near=True,
            whole=True,
            examples=("kb task stop T1 --base http://127.0.0.1:8620",),
        ),
    )
}
