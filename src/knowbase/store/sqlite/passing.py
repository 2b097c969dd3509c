"""Which chunks a condition lets through: for both legs of a search, and kept until somebody writes.

The lifecycle is looked at apart: it depends on the moment, and concerns few documents. Of the rest,
each part is a list of documents, from which the index of words knows the chunks: SQL lists a fifth
of what it would have to list of chunks, and reads no row where an index has the answer.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from knowbase.query.conditions import (
    AllOf,
    Condition,
    Not,
    has_text,
    is_everything,
    is_lifecycle,
)
from knowbase.store.compile import Compiled
from knowbase.store.sqlite import schema
from knowbase.store.sqlite.compile import compile_condition, compile_for_chunks, listing
from knowbase.store.sqlite.connection import translated
from knowbase.store.sqlite.vectors import WithIndex

if TYPE_CHECKING:
    from knowbase.store.sqlite.scan import Among, Integers
    from knowbase.store.sqlite.word_index import InStep as WordsInStep

FEW, RARE = 1000, 200  # documents that are listed as failing, as passing


class WithPassing(WithIndex):
    """Who passes, as each leg can use it."""

    def _among_them(self, condition: Condition) -> "Among | None":
        """Which chunks pass; None when all of them do."""
        if self._all_pass(condition):
            return None
        if not has_text(condition) and (words := self._words()) is not None:
            return self._among_documents(condition, words)
        sql, values = self._for_chunks(condition)
        return self._kept(("chunks", sql, *values), lambda: self._among_chunks(sql, values))

    def _among_documents(self, condition: Condition, words: "WordsInStep") -> "Among":
        parts = flattened(condition)
        timeless = [listing(part) for part in parts if not is_lifecycle(part)]
        hidden = self._hidden(AllOf(tuple(part for part in parts if is_lifecycle(part))))
        named = tuple((sql, *values) for sql, values in timeless)
        kept, key = self._connections.found, ("documents", named, hidden.tobytes())
        among: Among | None = kept.get(key)
        if among is None:
            lists = [self._listed(one) for one in timeless]
            among = kept.keep(key, self._among_listed(lists, hidden, words))
        return among

    def _among_listed(
        self, lists: "Sequence[Integers]", hidden: "Integers", words: "WordsInStep"
    ) -> "Among":
        """The chunks of documents that are in every list, and not hidden."""
        import numpy as np

        if not lists:
            return words.among(hidden).others()
        documents = lists[0]
        for other in lists[1:]:
            documents = np.intersect1d(documents, other, assume_unique=True)
        if len(hidden):
            documents = np.setdiff1d(documents, hidden, assume_unique=True)
        return words.among(documents)

    def _listed(self, listed: Compiled) -> "Integers":
        """The documents that a part of a condition lets through."""
        from knowbase.store.sqlite.scan import numbers_in

        sql = f"SELECT group_concat(seq) FROM ({listed.sql})"
        kept, key = self._connections.found, (sql, *listed.values)
        found: Integers | None = kept.get(key)
        if found is None:
            found = kept.keep(key, numbers_in(self._read(sql, listed.values)[0][0]))
        return found

    def _hidden(self, lifecycle: Condition) -> "Integers":
        """The documents that the lifecycle hides."""
        from knowbase.store.sqlite.scan import numbers_in

        sql, values = compile_condition(Not(lifecycle))
        found = self._read(
            "SELECT group_concat(d.seq) FROM documents d"
            f" WHERE ({schema.HAS_A_LIFECYCLE}) AND {sql}",
            values,
        )
        return numbers_in(found[0][0])

    def _among_chunks(self, sql: str, values: Sequence[Any]) -> "Among":
        from knowbase.store.sqlite.scan import among_listed

        query = f"SELECT group_concat(c.id) FROM chunks c WHERE {sql}"
        listed: Any = self._connections.get().execute(query, values).get
        return among_listed(listed)

    def _passing(self, column: str, condition: Condition) -> Compiled:
        """`AND column IN` the chunks that pass, or not those that fail, when they are few."""
        if self._all_pass(condition):
            return Compiled("", [])
        test, (sql, values) = self._by_documents(condition) or ("IN", self._for_chunks(condition))
        return Compiled(f" AND {column} {test} (SELECT c.id FROM chunks c WHERE {sql})", values)

    def _by_documents(self, condition: Condition) -> tuple[str, Compiled] | None:
        """The chunks of the documents that pass, or of those that fail, when those are few: they
        are listed sooner than what all others have."""
        if has_text(condition):
            return None
        for test, one, most in (("IN", condition, RARE), ("NOT IN", Not(condition), FEW)):
            found = self._first_documents(one, most + 1)
            if len(found) <= most:
                listed = "[" + ",".join(map(str, found)) + "]"
                sql = "c.document IN (SELECT value FROM json_each(?))"
                return test, Compiled(sql, [listed])
        return None

    def _first_documents(self, condition: Condition, number: int) -> list[int]:
        """Of those that a condition lets through."""
        sql, values = compile_condition(condition)
        query = f"SELECT d.seq FROM documents d WHERE {sql} LIMIT ?"
        with translated():
            found: Any = self._connections.get().execute(query, (*values, number))
            return [one for (one,) in found]

    def _for_chunks(self, condition: Condition) -> Compiled:
        """The condition over `chunks AS c`."""
        return compile_for_chunks(condition)

    def _all_pass(self, condition: Condition) -> bool:
        return is_lifecycle(condition) and (is_everything(condition) or not self._has_lifecycle())

    def _has_lifecycle(self) -> bool:
        """Whether any document could be hidden: one look at a partial index."""
        return bool(self._read(f"SELECT 1 FROM documents WHERE {schema.HAS_A_LIFECYCLE} LIMIT 1"))


def flattened(condition: Condition) -> list[Condition]:
    """The parts of which all are to hold."""
    if isinstance(condition, AllOf):
        return [one for part in condition.parts for one in flattened(part)]
    return [condition]
