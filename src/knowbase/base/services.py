"""What a base is made of: its store, as much of it as may be used, its settings and services."""

import os
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Self

from knowbase import config
from knowbase.base.references import References
from knowbase.errors import Conflict, InvalidInput
from knowbase.process import close_idle
from knowbase.ranking.profile import PROFILES, Profile
from knowbase.store.location import home_of, is_url, shown
from knowbase.store.opening import open_store
from knowbase.values.arguments import checks_arguments
from knowbase.values.documents import DOCUMENT_TYPES, Document
from knowbase.values.times import timestamp

if TYPE_CHECKING:
    import re

    from knowbase.base.embedders import Embedders
    from knowbase.base.models import Models
    from knowbase.embed import Embedder
    from knowbase.graph import Graph
    from knowbase.ingest.services import IngestServices
    from knowbase.memory.history import Moment
    from knowbase.memory.lifecycle import Lifecycle
    from knowbase.memory.sessions import Sessions
    from knowbase.memory.undoing import History
    from knowbase.memory.use import Recorder
    from knowbase.ranking.custom import Custom
    from knowbase.search.log import SearchLog
    from knowbase.store.contract import Store
    from knowbase.values.access import Access


class Opened(NamedTuple):
    """A store that is open already, how much of it may be used, and the embedders to share."""

    store: "Store"
    access: "Access | None" = None  # None: all of it
    embedders: "Embedders | None" = None
    moment: "Moment | None" = None  # when it is looked at; None: now


@checks_arguments
class BaseServices:
    """A base without what can be asked of it. Its services know the store that it was built on
    and no other, so that what is built on a part of a store reaches no further."""

    is_new = False  # made just now

    def __init__(
        self,
        path: str,
        *,
        embedder: "Embedder | None" = None,
        clock: Callable[[], float] = time.time,
        configuration: config.Configuration | None = None,
        opened: Opened | None = None,
    ) -> None:
        self.path = path
        self.home = home_of(path)
        self.configuration = configuration or config.load(self.home, os.environ)
        self.settings = self.configuration.settings
        self.profile(self.settings.search_profile)  # a mistake is said at once, whatever is asked
        if opened is None:
            english = any(
                isinstance(one, dict) and one.get("keyword") == "ts_rank_cd"
                for one in self.configuration.profiles.values()
            )
            opened = Opened(open_store(path, self.settings, english=english))
            if self.settings.history_keep != config.DEFAULTS.history_keep:
                opened.store.keeps = self._keeps()
        self._opened_store = opened.store
        self.moment = opened.moment
        self.store = _within(opened.store, opened.access)
        if self.moment is not None:
            self.store = self.store.as_of(self.moment.number)
        self._access = opened.access
        self._embedder = embedder
        self._shared_embedders = opened.embedders
        self._clock = clock
        self._views: dict[Access, Self] = {}
        self._searched: SearchLog | None = None  # nothing is counted until somebody asks for it

    @cached_property
    def access(self) -> "Access":
        """What may be done with it."""
        from knowbase.values.access import Access

        return self._access or Access()

    def within(self, access: "Access") -> Self:
        """The same base as somebody sees it who may do less; whoever opened it closes it. It is
        made once: there are as many as kinds of callers, and what they used waits in it."""
        access = access.within(self.access)
        if access == self.access:
            return self
        if access not in self._views:
            view = type(self)(
                self.path,
                clock=self._clock,
                configuration=self.configuration,
                opened=Opened(self.store, access, self._embedders),
            )
            view._searched, view.moment = self._searched, self.moment
            self._views.setdefault(access, view)
        return self._views[access]

    def as_of(self, when: str) -> Self:
        """The same base as it was at a moment: a date, `last friday`, a session, `#12`. It is for
        reading, and `now` is then: `with base.as_of("2026-03-01") as then: then.search("…")`."""
        moment = self._moment_named(when)
        return type(self)(
            self.path,
            clock=self._clock,
            configuration=self.configuration,
            opened=Opened(self._opened_store, self._access, self._embedders, moment),
        )

    def _moment_named(self, when: str) -> "Moment":
        """Any text may be a session's name: that it is none is known to the base alone."""
        try:
            return self.history.moment(when)
        except InvalidInput as error:
            raise Conflict(error.message, field="as_of", hint=error.hint) from None

    @property
    def shown(self) -> str:
        """Where the base is, without a password."""
        return shown(self.path)

    def close(self) -> None:
        if self.moment is not None:
            self.store.close()
            return
        for view in self._views.values():
            view.flush()
        self.flush()
        self.store.close()
        close_idle()

    def flush(self) -> None:
        """Write down what waits to be."""
        if "recorder" in vars(self):
            self.recorder.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def profile_for(self, name: str | None = None) -> Profile:
        """The ranking recipe of that name, or the base's own, with as many hits as are set."""
        profile = self.profile(name or self.settings.search_profile)
        if self.settings.search_default_top:
            profile = profile._replace(default_top=self.settings.search_default_top)
        return profile

    def profile(self, name: str) -> Profile:
        """A ranking recipe: shipped, or as kb.toml and the environment have it."""
        if name in PROFILES and not self.configuration.profiles and not _has_variables():
            return PROFILES[name]
        known = self.profiles()
        if name not in known:
            raise InvalidInput(
                f"unknown profile {name!r}", field="profile", hint="one of " + ", ".join(known)
            )
        return known[name].profile

    def profiles(self) -> "dict[str, Custom]":
        """Every profile, and where each of its values comes from."""
        from knowbase.ranking.custom import profiles

        return profiles(self.configuration.profiles, os.environ)

    @cached_property
    def lifecycle(self) -> "Lifecycle":
        """Supersede, forget, archive, restore, and what is due to expire."""
        from knowbase.memory.lifecycle import Lifecycle

        return Lifecycle(self.store, self.references.find_any, self.whole, self.now)

    @cached_property
    def sessions(self) -> "Sessions":
        """Start, end and look at sessions; timelines."""
        from knowbase.memory.sessions import Sessions

        return Sessions(self.store, self.named, self.now)

    @cached_property
    def recorder(self) -> "Recorder":
        """Writes down use, after the answers."""
        from knowbase.memory.use import Recorder

        return Recorder(self.store, self.now)

    @cached_property
    def models(self) -> "Models":
        """The embedding models that this base can use."""
        from knowbase.base.models import Models

        return Models(self.store, self.settings, self.home, self._embedders)

    @cached_property
    def _embedders(self) -> "Embedders":
        from knowbase.base.embedders import Embedders

        return self._shared_embedders or Embedders(self.settings, self._embedder)

    @property
    def embedder(self) -> "Embedder":
        """The model of the base's vectors, loaded when something first needs it."""
        return self.models.active().embedder

    @property
    def types(self) -> tuple[str, ...]:
        """The document types that this base knows: ours, those of its settings, and whatever its
        documents call themselves."""
        return KnownTypes((*DOCUMENT_TYPES, *self.settings.index_types), self._has_type)

    def _has_type(self, name: str) -> bool:
        from knowbase.query.conditions import FORGOTTEN, Compare, Not, both

        return self.store.count(both(Not(FORGOTTEN), Compare("type", "=", name))) > 0

    def now(self) -> str:
        return timestamp(self._clock()) if self.moment is None else self.moment.at

    def ingest_services(self, *, defer: bool = False) -> "IngestServices":
        """What adding and writing work with."""
        from knowbase.ingest.pending import Disk
        from knowbase.ingest.places import Home
        from knowbase.ingest.services import IngestServices
        from knowbase.ingest.walk import WalkRules

        settings = self.settings
        rules = WalkRules(
            settings.index_hidden, settings.index_max_file_mb << 20, self.home, self.path
        )
        drafter = self.models.drafter(self.code_pattern)
        return IngestServices(
            self.store,
            drafter,
            Disk(Home(self.home), rules, drafter.reader.scanner.is_on, is_url(self.path)),
            self.now,
            settings,
            defer=defer,
        )

    @cached_property
    def code_pattern(self) -> "re.Pattern[str]":
        """What looks like a code in a text."""
        import re

        try:
            return re.compile(self.settings.graph_code_pattern)
        except re.error as error:
            raise InvalidInput(
                f"graph.code_pattern is not a regular expression: {error}",
                field="graph.code_pattern",
                hint=r"such as PROJ-[A-Z]-\d{4}",
            ) from error

    def _keeps(self) -> Callable[[Document], bool]:
        from knowbase.memory.keep import keeps, rules_of

        rules = rules_of(self.settings.history_keep)  # a mistake is said at once
        return lambda document: keeps(rules, document)

    @cached_property
    def history(self) -> "History":
        """What the base was: who changed what, documents at a moment, going back."""
        from knowbase.memory.keep import rules_of
        from knowbase.memory.undoing import History

        return History(
            self.store,
            lambda reference: self.references.find_any(reference),
            self.named,
            self.now,
            lambda: rules_of(self.settings.history_keep),
            self.ingest_services,
        )

    @cached_property
    def graph(self) -> "Graph":
        """Links between documents: related work, paths, communities, importance."""
        from knowbase.graph import Graph

        return Graph(self.store, self.named, self.now, self.settings, lambda: self.code_pattern)

    @property
    def references(self) -> References:
        """Documents by what people call them."""
        return References(self.store, self.home)

    def whole(self, reference: str) -> Document:
        """The document that a reference names; a section does not stand for its document."""
        return self.references.whole(reference)

    def named(self, reference: str) -> Document:
        """The same, and a file's name will do if one file alone has it: for reading."""
        return self.references.whole(reference, by_name=True)

    def check_types(self, types: Sequence[str]) -> None:
        """Refuse a type that this base does not know."""
        for name in types:
            if name not in self.types and name.lower() not in self.types:
                known = dict.fromkeys((*self.types, *self.store.counts().types))
                raise InvalidInput(
                    f"unknown type {name!r}", field="type", hint="one of " + ", ".join(known)
                )


class KnownTypes(tuple[str, ...]):
    """Types by name; one that is not among them is looked for in the base."""

    _is_stored: Callable[[str], bool]

    def __new__(cls, names: Sequence[str], is_stored: Callable[[str], bool]) -> Self:
        made = super().__new__(cls, names)
        made._is_stored = is_stored
        return made

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or (isinstance(name, str) and self._is_stored(name))


def _within(store: "Store", access: "Access | None") -> "Store":
    """As much of the store as may be used."""
    if access is None or access.is_full:
        return store
    from knowbase.store.scoped import ScopedStore

    return ScopedStore(store, access)


def _has_variables() -> bool:
    return any(name.startswith(("KB_RRF_", "KB_SEARCH_", "KB_SEMANTIC_")) for name in os.environ)
