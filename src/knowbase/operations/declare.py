"""How an operation is declared: a request with described, bounded fields, and what runs it."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from knowbase.errors import NotAllowed
from knowbase.values.parameters import parameters

Run = TypeVar("Run", bound=Callable[[Any, Any], Any])

TEXT_KB, REFERENCES_KB = 1 << 20, 1024
"""`most_kb` of what takes a text of any length (a server has its own bound), or many references."""


class NoParameters(NamedTuple):
    """The request of what takes nothing."""


class Place(NamedTuple):
    """Where a base is, or is to be; whether it can be opened is another matter."""

    path: str

    @property
    def home(self) -> str:
        from knowbase.store.location import home_of

        return home_of(self.path)

    @property
    def shown(self) -> str:
        from knowbase.store.location import shown

        return shown(self.path)


def as_it_was(run: Run) -> Run:
    """What is asked of the base, or of the base as it was when its request says `as_of`."""

    @wraps(run)
    def answered(base: Any, request: Any) -> Any:
        if request.as_of is None:
            return run(base, request)
        with base.as_of(request.as_of) as then:
            return run(then, request._replace(as_of=None))

    return cast("Run", answered)


class Terminal(NamedTuple):
    """What an operation asks of whoever sits at a terminal, and what a pipe gets of it."""

    input_field: str | None = None  # standard input or an editor gives it when nothing else does
    removes: Callable[[Any, Any], Sequence[str]] | None = None  # of a base; it is asked first
    asks: Callable[[Any, Any], Any] | None = None  # what is shown before it is asked; None: go on
    instead: Callable[[Sequence[str]], str | None] | None = None  # what these words mean
    raw: Callable[[Any], str] | None = None  # a result as a pipe gets it, to the byte
    aside: Callable[[Any], str] | None = None  # what is said beside a result, on standard error
    opening: Callable[[Any], str] | None = None  # of a base; what a stream says when it starts
    formats: tuple[str, ...] = ()  # other ways to print its results: --format
    reports: bool = False  # what it prints is a report alone: --quiet leaves it out
    json_lines: bool = False  # --json prints each result on one line


class Operation(NamedTuple):
    """A name, what it does, what it takes, and what runs it."""

    name: str
    summary: str
    request: type
    run: Callable[..., Any]
    writes: bool = False
    writes_if: str | None = None  # it writes when this parameter is given, and only reads else
    examples: tuple[str, ...] = ()
    base_optional: bool = False  # it can run without a base, and then gets None
    by_place: bool = False  # it gets the place of the base, which may be damaged or missing
    opens_bases: bool = False  # it opens what it works on itself, and always gets None
    local: bool = False  # it reads or writes this machine's files: never served to others
    near: bool = False  # it is served to this machine alone, to who may do everything
    whole: bool = False  # it concerns the whole base: not for those held to one project
    switch: str | None = None  # served to others only when this setting is on
    creates_base: bool = False  # the base is made if there is none
    streams: bool = False  # it gives one result after the other until it is stopped
    progress: bool = False  # what runs it takes a third argument, and calls it with each step
    terminal: Terminal = Terminal()
    most_kb: int = 64  # of what is sent for it over a network, with all its values

    @property
    def makes_garbage(self) -> bool:
        """Whether it works for so long that garbage is worth collecting."""
        return bool(self.writes or self.writes_if or self.streams or self.progress)

    def is_writing(self, asked: Any) -> bool:
        """Whether it writes when it is asked so."""
        return self.writes or bool(self.writes_if and getattr(asked, self.writes_if))


def held_to(project: str | None, request: type, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values for somebody who is held to a project: whatever they ask for is about that."""
    if project is None or "project" not in {one.name for one in parameters(request)}:
        return values
    if values.get("project") not in (None, project):
        raise NotAllowed(
            "this access is for another project", field="project", hint="leave the project out"
        )
    return {**values, "project": project}
