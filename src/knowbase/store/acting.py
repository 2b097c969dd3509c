"""Saying through what a base is written to, for as long as it is."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

from knowbase.values.history import Command, command, surface

Method = TypeVar("Method", bound=Callable[..., Any])


@contextmanager
def acting(through: str, name: str) -> Iterator[None]:
    """All that is written within is one command's; one that another runs is not its own."""
    if command.get() is not None:
        yield
        return
    token = command.set(Command(through, name, os.urandom(6).hex()))
    try:
        yield
    finally:
        command.reset(token)


def as_one(method: Method) -> Method:
    """What a method writes, in however many transactions, is undone as one."""

    @wraps(method)
    def run(*values: Any, **named: Any) -> Any:
        with acting(surface.get(), method.__name__):
            return method(*values, **named)

    return cast("Method", run)
