"""Writing what is said of documents and how they are used: no text, no vector changes."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from knowbase.store.rows import from_json
from knowbase.values.changes import (
    Changes,
    Edit,
    Reinforcement,
    Verdict,
    after_verdict,
    moved,
)
from knowbase.values.documents import EDITABLE
from knowbase.values.edges import Relation
from knowbase.values.sessions import Session, Use


class Recording:
    """One transaction's writing, in one base."""

    def __init__(self, connection: Connection, base: int, now: str) -> None:
        self._connection = connection
        self._base = base
        self._now = now

    def record(self, changes: Changes) -> None:
        """Everything in `changes` that is not the text of documents and files."""
        for edit in changes.edits:
            self._edit(edit)
        self._sessions(changes.sessions)
        self._uses(changes.uses)
        for one in changes.reinforced:
            self._reinforce(one)
        for verdict in changes.verdicts:
            self._judge(verdict)
        self._relations(changes.relations)
        self._many(
            "DELETE FROM relations r USING documents s, documents t WHERE r.base_id = %s"
            " AND s.base_id = r.base_id AND s.seq = r.source AND s.id = %s"
            " AND t.base_id = r.base_id AND t.seq = r.target AND t.id = %s AND r.relation = %s",
            [one[:3] for one in changes.dropped_relations],
        )

    def _edit(self, edit: Edit) -> None:
        unknown = set(edit.values) - set(EDITABLE)
        if unknown:
            raise ValueError(f"not editable: {unknown}")
        said = self.said(edit.document)
        if said is None:
            return
        said |= edit.values
        settings = SQL("").join(SQL("{} = %s, ").format(Identifier(name)) for name in edit.values)
        self._connection.execute(
            SQL("UPDATE documents SET {}said = %s WHERE base_id = %s AND id = %s").format(settings),
            (*edit.values.values(), json.dumps(said), self._base, edit.document),
        )

    def said(self, document: str) -> dict[str, Any] | None:
        """What was said of a document; its file cannot say otherwise. None: there is none."""
        row = self._connection.execute(
            "SELECT said FROM documents WHERE base_id = %s AND id = %s", (self._base, document)
        ).fetchone()
        return from_json(row[0], dict) if row else None

    def _sessions(self, sessions: Iterable[Session]) -> None:
        self._many(
            "INSERT INTO sessions (base_id, id, project, started_at, ended_at, summary)"
            " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT (base_id, id) DO UPDATE SET"
            " project = coalesce(sessions.project, excluded.project),"
            " ended_at = coalesce(excluded.ended_at, sessions.ended_at),"
            " summary = coalesce(excluded.summary, sessions.summary)",
            [session[:5] for session in sessions],
        )

    def _uses(self, uses: Iterable[Use]) -> None:
        self._many(
            "INSERT INTO uses (base_id, session, document, usage, used_at)"
            " SELECT base_id, %s, seq, %s, %s FROM documents WHERE base_id = %s AND id = %s"
            " ON CONFLICT DO NOTHING",
            [
                (use.session, use.usage, use.used_at or self._now, self._base, use.document)
                for use in uses
            ],
            lead=False,
        )

    def _reinforce(self, one: Reinforcement) -> None:
        row = self._connection.execute(
            "SELECT salience FROM documents WHERE base_id = %s AND id = %s",
            (self._base, one.document),
        ).fetchone()
        if row is not None:
            self._connection.execute(
                "UPDATE documents SET salience = %s, access_count = access_count + 1,"
                " last_accessed_at = %s WHERE base_id = %s AND id = %s",
                (moved(row[0], one.amount), self._now, self._base, one.document),
            )

    def _judge(self, verdict: Verdict) -> None:
        """A verdict counts once an occasion; another one of the same occasion takes its place."""
        row = self._connection.execute(
            "SELECT d.seq, d.salience, v.good FROM documents d LEFT JOIN verdicts v"
            " ON v.base_id = d.base_id AND v.document = d.seq AND v.occasion = %s"
            " WHERE d.base_id = %s AND d.id = %s",
            (verdict.occasion, self._base, verdict.document),
        ).fetchone()
        if row is None or row[2] == verdict.good:
            return
        seq, salience, old = row
        self._connection.execute(
            "INSERT INTO verdicts (base_id, document, occasion, good, given_at)"
            " VALUES (%s, %s, %s, %s, %s) ON CONFLICT (base_id, document, occasion)"
            " DO UPDATE SET good = excluded.good, given_at = excluded.given_at",
            (self._base, seq, verdict.occasion, verdict.good, self._now),
        )
        self._connection.execute(
            "UPDATE documents d SET confirmed = (SELECT sum(CASE WHEN v.good THEN 1 ELSE -1 END)"
            " FROM verdicts v WHERE v.base_id = d.base_id AND v.document = d.seq)"
            " WHERE d.base_id = %s AND d.seq = %s",
            (self._base, seq),
        )
        used = verdict.counts and old is None
        self._connection.execute(
            "UPDATE documents SET salience = %s, access_count = access_count + %s,"
            " last_accessed_at = CASE WHEN %s THEN %s ELSE last_accessed_at END"
            " WHERE base_id = %s AND seq = %s",
            (
                after_verdict(salience, verdict, old),
                *(int(used), used, self._now, self._base, seq),
            ),
        )

    def _relations(self, relations: Iterable[Relation]) -> None:
        self._many(
            "INSERT INTO relations (base_id, source, target, relation, origin, created_at)"
            " SELECT s.base_id, s.seq, t.seq, %s, %s, %s FROM documents s JOIN documents t"
            " ON t.base_id = s.base_id WHERE s.base_id = %s AND s.id = %s AND t.id = %s"
            " ON CONFLICT DO NOTHING",
            [
                (r.relation, r.origin, r.created_at or self._now, self._base, r.source, r.target)
                for r in relations
            ],
            lead=False,
        )

    def _many(self, statement: str, lines: Sequence[Sequence[Any]], *, lead: bool = True) -> None:
        """Run it for each line, the base's id first; all lines in one round trip."""
        if lines:
            given = [(self._base, *line) for line in lines] if lead else lines
            self._connection.cursor().executemany(SQL(statement), given)
