"""The names that a project has in a base which others share.

Codes and sessions of a project begin with its name, so that nobody can tell from a refusal what
others have called theirs. Who is held to the project need not write, and does not see, the name
before a session; a code is shown in full, since everybody can be given it.
"""

from itertools import count

from knowbase.query.conditions import AllOf, AnyOf, Compare, Condition, InSession, Not
from knowbase.store.contract import Store


class OwnNames:
    """The names of one project."""

    def __init__(self, store: Store, project: str) -> None:
        self._store = store
        self._project = project
        self._front = project.replace("%", "%25").replace("/", "%2F") + "/"

    def code(self, code: str) -> str:
        return code if code.startswith(self._front) else self._front + code

    def next_code(self) -> str:
        """By the number of the project's own documents: the base's tells how many others have."""
        own = self._store.count(Compare("project", "=", self._project))
        codes = (self.code(f"KB-{number}") for number in count(own + 1))
        return next(code for code in codes if self._store.find(code) is None)

    def session(self, name: str) -> str:
        """As it is stored. One that the whole base named for the project has no name before it."""
        plain = self._store.sessions((name,)).get(name)
        if plain is not None and plain.project == self._project:
            return name
        return self._front + name

    def shown_session(self, stored: str) -> str:
        return stored.removeprefix(self._front)

    def condition(self, condition: Condition) -> Condition:
        """The same, with sessions as they are stored."""
        if isinstance(condition, InSession):
            return condition._replace(session=self.session(condition.session))
        if isinstance(condition, Not):
            return Not(self.condition(condition.part))
        if isinstance(condition, AllOf | AnyOf):
            return condition._replace(parts=tuple(map(self.condition, condition.parts)))
        return condition
