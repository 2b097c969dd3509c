"""What is given to a method in Python: a value of another kind than it says is an error that
names it, not one from somewhere inside."""

from collections.abc import Callable, Collection, Sequence
from functools import wraps
from types import FunctionType
from typing import Any, TypeVar

from knowbase.errors import InvalidInput
from knowbase.values.documents import Page
from knowbase.values.parameters import listed

T = TypeVar("T")


def checks_arguments(kind: type[T]) -> type[T]:
    """A class whose public methods look at what they are given, by their annotations."""
    for name, method in list(vars(kind).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(kind, name, _checking(method))
    return kind


def _checking(method: FunctionType) -> Callable[..., Any]:
    checks: dict[str, Check] | None = None  # made when first needed
    places = method.__code__.co_varnames[: method.__code__.co_argcount]

    @wraps(method)
    def checked(*values: Any, **named: Any) -> Any:
        nonlocal checks
        checks = _checks_of(method) if checks is None else checks
        given = [_fit(checks, name, one) for name, one in zip(places, values, strict=False)]
        own = {name: _fit(checks, name, one) for name, one in named.items()}
        return method(*given, *values[len(given) :], **own)

    return checked


def _fit(checks: "dict[str, Check]", name: str, value: Any) -> Any:
    return checks[name](name, value) if name in checks else value


def wrong(name: str, value: Any, hint: str) -> InvalidInput:
    """The error for a value of another kind."""
    kind = "None" if value is None else f"a value of the type {type(value).__name__}"
    return InvalidInput(f"{name} cannot be {kind}", field=name, hint=hint)


def texts(name: str, value: Any) -> tuple[str, ...]:
    """A list of texts; a text alone is not taken for one, nor for the list of its letters."""
    items = listed(name, value)
    if not isinstance(items, tuple) or not all(isinstance(one, str) for one in items):
        raise wrong(name, value, "it must be a list of texts")
    return items


Check = Callable[[str, Any], Any]


def _of(kinds: tuple[type, ...], hint: str) -> Check:
    def check(name: str, value: Any) -> Any:
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise wrong(name, value, f"it must be {hint}")
        return value

    return check


def _page(name: str, value: Any) -> Page:
    if not isinstance(value, Page):
        raise wrong(name, value, "a Page, such as Page(limit=50, offset=100)")
    for part in ("limit", "offset"):
        _of((int,), "a whole number")(part, getattr(value, part))
    return value


def _callable(name: str, value: Any) -> Any:
    if not callable(value):
        raise wrong(name, value, "it must be a function")
    return value


_CHECKS: dict[str, Check] = {
    "str": _of((str,), "text"),
    "str | None": _of((str, type(None)), "text"),
    "int": _of((int,), "a whole number"),
    "int | None": _of((int, type(None)), "a whole number"),
    "float": _of((int, float), "a number"),
    "bool": _of((bool,), "True or False"),
    "Sequence[str]": texts,
    "Collection[str]": texts,
    "Texts": texts,
    "Page": _page,
}


def _checks_of(method: FunctionType) -> dict[str, Check]:
    """What each parameter must be, as far as its annotation says something simple."""
    hints = {name: _written(hint) for name, hint in method.__annotations__.items()}
    simple = {name: _CHECKS[hint] for name, hint in hints.items() if hint in _CHECKS}
    functions = {name: _callable for name, hint in hints.items() if hint.startswith("Callable[")}
    return {**simple, **functions}


def _written(hint: Any) -> str:
    if isinstance(hint, str):
        return hint
    if hint in (Sequence[str], Collection[str]):
        return "Sequence[str]"
    return hint.__name__ if isinstance(hint, type) else str(hint)
