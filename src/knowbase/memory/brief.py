"""A brief: what an agent should know before it starts, packed to a number of tokens."""

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from knowbase.memory.judging import is_accepted
from knowbase.memory.sessions import SessionDocuments
from knowbase.query.conditions import AnyOf, Compare, Condition, OneOf, Visible, both
from knowbase.query.moments import ahead
from knowbase.values.documents import Document, Page
from knowbase.values.plain import as_dict
from knowbase.values.sessions import Session
from knowbase.values.times import days_between
from knowbase.values.visible import one_line

DECAY = 0.05  # a day: the rate of the memory profile's recency
SOON = "7d"
MOST_LOOKED_AT = 200  # documents of each kind
MOST_SESSIONS = 5
LONGEST_ITEM = 120  # tokens of one text; the rest is behind its code


class BriefItem(NamedTuple):
    """One thing to know, and where to read on."""

    code: str  # of a document, or a session's name
    id: str
    title: str
    text: str  # its start
    confirmed: int
    at: str  # when it was changed, when it expires, when the session started


class BriefPart(NamedTuple):
    """Things of one kind, the newest and most confirmed first."""

    heading: str
    items: tuple[BriefItem, ...]


class Brief(NamedTuple):
    """What is worth knowing before work starts."""

    project: str | None
    max_tokens: int
    tokens: int  # of the text, as the base's model counts them
    left_out: int  # items that found no room
    parts: tuple[BriefPart, ...]
    text: str
    notices: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """As `kb brief --json` has it."""
        return as_dict(self)


class Briefing:
    """Makes briefs."""

    def __init__(
        self,
        store: SessionDocuments,
        count_tokens: Callable[[str], int],
        now: str,
    ) -> None:
        self.store = store
        self.count_tokens = count_tokens
        self.now = now

    def brief(self, project: str | None, max_tokens: int) -> Brief:
        parts = self._parts(project)
        title = f"# Brief{f' for {project}' if project else ''}\n"
        kept = self._packed(parts, title, max_tokens)
        left_out = sum(len(part.items) for part in parts) - sum(len(part.items) for part in kept)
        text = _text(title, kept, left_out)
        return Brief(project, max_tokens, self.count_tokens(text), left_out, tuple(kept), text)

    def _parts(self, project: str | None) -> list[BriefPart]:
        soon = ahead(SOON, self.now) or self.now
        expiring = both(self._live(project), Compare("expires_at", "<=", soon))
        ending = self.store.documents(expiring, Page(20, order="expires"))
        parts = [
            BriefPart("Decisions", self._ranked(project, "decision")),
            BriefPart("Lessons", self._ranked(project, "lesson")),
            BriefPart("Expiring soon", self._items(ending, "expires_at")),
            BriefPart("Recent sessions", self._sessions(project)),
        ]
        return [part for part in parts if part.items]

    def _live(self, project: str | None) -> Condition:
        """What is shown, of the project or of everybody."""
        if project is None:
            return Visible(self.now)
        ours = AnyOf((Compare("project", "=", project), Compare("scope", "=", "global")))
        return both(Visible(self.now), ours)

    def _ranked(self, project: str | None, kind: str) -> tuple[BriefItem, ...]:
        live = both(self._live(project), OneOf("type", (kind,)))
        found = self.store.documents(live, Page(MOST_LOOKED_AT))
        found.sort(key=lambda document: (-self._strength(document), document.seq))
        return self._items(found, "updated_at")

    def _strength(self, document: Document) -> float:
        """Newest and most confirmed first: decay and confirmation, both computed now."""
        age = max(0.0, days_between(document.updated_at, self.now))
        confirmed = document.confirmed + is_accepted(document)
        return (1 + math.log1p(max(0, confirmed))) * math.exp(-DECAY * age)

    def _items(self, documents: Sequence[Document], clock: str) -> tuple[BriefItem, ...]:
        openings = self.store.openings([document.id for document in documents])
        return tuple(
            BriefItem(
                document.code,
                document.id,
                document.title,
                self._cut(openings.get(document.id, "")),
                document.confirmed,
                getattr(document, clock),
            )
            for document in documents
        )

    def _sessions(self, project: str | None) -> tuple[BriefItem, ...]:
        recent = self.store.recent_sessions(project, Page(MOST_LOOKED_AT * 5))
        told = [session for session in recent if session.summary][:MOST_SESSIONS]
        return tuple(self._session_item(session) for session in told)

    def _session_item(self, session: Session) -> BriefItem:
        name = f"session {session.id}"
        return BriefItem(
            name, session.id, name, self._cut(session.summary or ""), 0, session.started_at
        )

    def _cut(self, text: str) -> str:
        """The start of a text on one line, within LONGEST_ITEM tokens."""
        line = one_line(text)
        cut = line[: LONGEST_ITEM * 8]
        while self.count_tokens(cut) > LONGEST_ITEM:
            shorter = cut[: len(cut) * 3 // 4]
            cut = shorter.rpartition(" ")[0] or shorter
        return line if cut == line else cut.rstrip(" .") + " …"

    def _packed(self, parts: Sequence[BriefPart], title: str, most: int) -> list[BriefPart]:
        """Turn by turn the best of each kind, as long as there is room for it."""
        taken: list[list[BriefItem]] = [[] for _ in parts]
        room = most - self.count_tokens(title)
        for turn in range(max((len(part.items) for part in parts), default=0)):
            for number, part in enumerate(parts):
                if turn >= len(part.items):
                    continue
                heading = f"\n## {part.heading}\n\n" if not taken[number] else ""
                line = with_quotes(_line(part.items[turn]))
                cost = self.count_tokens(heading + line) + 1
                if cost <= room:
                    taken[number].append(part.items[turn])
                    room -= cost
        pairs = zip(parts, taken, strict=True)
        return [part._replace(items=tuple(items)) for part, items in pairs if items]


def _line(item: BriefItem) -> str:
    title = one_line(item.title)
    starts_with_it = item.text.startswith(title.rstrip("…"))
    text = item.text if starts_with_it or item.code == item.title else f"{title}: {item.text}"
    times = f", confirmed {item.confirmed}×" if item.confirmed > 0 else ""
    return f"- [{one_line(item.code)}] ({item.at[:10]}{times}) {text}\n"


_ITEM = re.compile(r"^(- \[.*?\] \(\d{4}-\d\d-\d\d(?:, confirmed \d+×)?\)) (?=.)", re.MULTILINE)


def with_quotes(text: str) -> str:
    """A brief's text for a model: what documents say stands behind `> `. There is room for it."""
    return _ITEM.sub(r"\1 > ", text)


def _text(title: str, parts: Sequence[BriefPart], left_out: int) -> str:
    found = "".join(
        f"\n## {part.heading}\n\n" + "".join(_line(item) for item in part.items) for part in parts
    )
    nothing = "There are no decisions, lessons or summaries of sessions yet."
    if left_out:
        nothing = "Nothing of what is known fits."
    return title + (found or f"\n{nothing}\n")
