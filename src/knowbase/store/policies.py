"""What each method of the store is to somebody with less than full access."""

from collections.abc import Callable
from enum import Enum
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

from knowbase.errors import NotAllowed
from knowbase.query.conditions import EVERYTHING, Condition
from knowbase.store.contract import Store
from knowbase.values.access import Access

Method = TypeVar("Method", bound=Callable[..., Any])


class Policy(Enum):
    """What a method of the store is to somebody with less than full access."""

    SHARED = "the same for everybody"
    PROJECT = "reads what is the project's"
    WRITING = "writes, and only what is the project's"
    WHOLE = "needs the whole base"

    def check(self, access: Access) -> None:
        """Refuse who has too little access."""
        if self is Policy.WRITING and not access.write:
            raise NotAllowed("this access is for reading alone")
        if self is Policy.WHOLE and not access.is_full:
            raise NotAllowed("this needs access to the whole base")


class Scoped(Protocol):
    """A store, and what somebody may do with it."""

    _store: Store
    _access: Access

    def _of_ours(self, condition: Condition) -> Condition:
        """A condition that only what is the project's can meet."""


POLICIES: dict[str, Policy] = {}
"""Of every method of the scoped store, by its name."""


def stated(policy: Policy) -> Callable[[Method], Method]:
    """A method that is run once its policy allows it."""

    def decorate(method: Method) -> Method:
        POLICIES[method.__name__] = policy

        @wraps(method)
        def checked(self: Scoped, *values: Any, **named: Any) -> Any:
            policy.check(self._access)
            return method(self, *values, **named)

        return cast("Method", checked)

    return decorate


def passed_on(policy: Policy, method: Method) -> Method:
    """A method that the store itself answers once its policy allows it."""

    @wraps(method)
    def answered(self: Scoped, *values: Any, **named: Any) -> Any:
        return getattr(self._store, method.__name__)(*values, **named)

    return stated(policy)(cast("Method", answered))


def of_project(method: Method) -> Method:
    """What a project may read; the store itself answers whoever is not held to one."""

    @wraps(method)
    def answered(self: Scoped, *values: Any, **named: Any) -> Any:
        if self._access.project is None:
            return getattr(self._store, method.__name__)(*values, **named)
        return method(self, *values, **named)

    return stated(Policy.PROJECT)(cast("Method", answered))


def narrowed(method: Method) -> Method:
    """A method that the store itself answers, of what is the project's."""

    @wraps(method)
    def answered(
        self: Scoped, condition: Condition = EVERYTHING, *values: Any, **named: Any
    ) -> Any:
        return getattr(self._store, method.__name__)(self._of_ours(condition), *values, **named)

    return of_project(cast("Method", answered))
