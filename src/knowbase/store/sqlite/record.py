"""Writing what is said of documents and how they are used: no text, no vector changes."""

import json
from collections.abc import Iterable

import apsw

from knowbase.store.rows import from_json
from knowbase.store.sqlite.links import note_forgotten, write_codes
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

_SEQ = "(SELECT seq FROM documents WHERE id = ?)"


def record(connection: apsw.Connection, changes: Changes, now: str) -> set[int]:
    """Everything in `changes` that is not the text of documents and files; the numbers of
    documents whose links it may have changed."""
    for edit in changes.edits:
        _edit(connection, edit)
    _write_sessions(connection, changes.sessions)
    _write_uses(connection, changes.uses, now)
    for one in changes.reinforced:
        _reinforce(connection, one, now)
    for verdict in changes.verdicts:
        _judge(connection, verdict, now)
    _write_relations(connection, changes.relations, now)
    connection.executemany(
        f"DELETE FROM relations WHERE source = {_SEQ} AND target = {_SEQ} AND relation = ?",
        [one[:3] for one in changes.dropped_relations],
    )
    ends = (*changes.relations, *changes.dropped_relations)
    touched = {one.document for one in changes.edits} | {one.source for one in ends}
    found = [connection.execute(_SEQ[1:-1], (one,)).get for one in touched]
    found += [write_codes(connection, *one) for one in changes.codes]
    return {seq for seq in found if seq is not None}


def used(connection: apsw.Connection, changes: Changes) -> set[int]:
    """The numbers of the documents that `changes` says were of use, or not."""
    named = {one.document for one in changes.reinforced}
    named |= {one.document for one in changes.verdicts}
    found = [connection.execute(_SEQ[1:-1], (one,)).get for one in named]
    return {seq for seq in found if seq is not None}


def _edit(connection: apsw.Connection, edit: Edit) -> None:
    unknown = set(edit.values) - set(EDITABLE)
    if unknown:
        raise ValueError(f"not editable: {unknown}")
    settings = "".join(f"{column} = ?, " for column in edit.values)
    connection.execute(
        f"UPDATE documents SET {settings}said = json_patch(said, ?) WHERE id = ?",
        (*edit.values.values(), _said(edit), edit.document),
    )
    if "deleted_at" in edit.values:
        note_forgotten(connection, edit.document)


def _said(edit: Edit) -> str:
    """json_patch would drop a null: what was said to be absent is kept as an empty text."""
    return json.dumps({name: "" if value is None else value for name, value in edit.values.items()})


def said_values(connection: apsw.Connection, seq: int) -> dict[str, object]:
    """What was said of a document; its file cannot say otherwise."""
    text = connection.execute("SELECT said FROM documents WHERE seq = ?", (seq,)).get
    values = from_json(text, dict) if text != "{}" else {}
    return {name: None if value == "" else value for name, value in values.items()}


def _write_sessions(connection: apsw.Connection, sessions: Iterable[Session]) -> None:
    connection.executemany(
        "INSERT INTO sessions VALUES (?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
        " project = coalesce(project, excluded.project),"
        " ended_at = coalesce(excluded.ended_at, ended_at),"
        " summary = coalesce(excluded.summary, summary)",
        [session[:5] for session in sessions],
    )


def _write_uses(connection: apsw.Connection, uses: Iterable[Use], now: str) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO uses (session, document, usage, used_at)"
        " SELECT ?, seq, ?, ? FROM documents WHERE id = ?",
        [(use.session, use.usage, use.used_at or now, use.document) for use in uses],
    )


def _reinforce(connection: apsw.Connection, one: Reinforcement, now: str) -> None:
    salience = connection.execute(
        "SELECT salience FROM documents WHERE id = ?", (one.document,)
    ).get
    if salience is not None:
        connection.execute(
            "UPDATE documents SET salience = ?, access_count = access_count + 1,"
            " last_accessed_at = ? WHERE id = ?",
            (moved(salience, one.amount), now, one.document),
        )


def _judge(connection: apsw.Connection, verdict: Verdict, now: str) -> None:
    """A verdict counts once an occasion; another one of the same occasion takes its place."""
    key = (verdict.document, verdict.occasion)
    old = connection.execute(
        f"SELECT good FROM verdicts WHERE document = {_SEQ} AND occasion = ?", key
    ).get
    known = connection.execute("SELECT 1 FROM documents WHERE id = ?", (verdict.document,)).get
    if known is None or (old is not None and bool(old) == verdict.good):
        return
    connection.execute(
        "INSERT OR REPLACE INTO verdicts SELECT seq, ?, ?, ? FROM documents WHERE id = ?",
        (verdict.occasion, verdict.good, now, verdict.document),
    )
    connection.execute(
        "UPDATE documents SET confirmed = (SELECT coalesce(sum(2 * good - 1), 0) FROM verdicts"
        " WHERE document = documents.seq) WHERE id = ?",
        (verdict.document,),
    )
    salience = connection.execute(
        "SELECT salience FROM documents WHERE id = ?", (verdict.document,)
    ).get
    used = int(verdict.counts and old is None)
    connection.execute(
        "UPDATE documents SET salience = ?, access_count = access_count + ?,"
        " last_accessed_at = iif(?, ?, last_accessed_at) WHERE id = ?",
        (
            after_verdict(salience, verdict, None if old is None else bool(old)),
            *(used, used, now, verdict.document),
        ),
    )


def _write_relations(connection: apsw.Connection, relations: Iterable[Relation], now: str) -> None:
    connection.executemany(
        "INSERT OR IGNORE INTO relations SELECT s.seq, t.seq, ?, ?, ? FROM documents s,"
        " documents t WHERE s.id = ? AND t.id = ?",
        [(r.relation, r.origin, r.created_at or now, r.source, r.target) for r in relations],
    )
