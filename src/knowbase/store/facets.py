"""Counting documents by what they have: the same in every engine, in one statement."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from knowbase.store.compile import Compiled
from knowbase.values.documents import Document

Counted = dict[str, list[tuple[str, int]]]
OLDER = "older"


class Ages(NamedTuple):
    """What is called so when it was changed since that moment; the newest come first."""

    edges: tuple[tuple[str, str], ...]

    def of(self, moment: str) -> str:
        return next((name for name, since in self.edges if moment >= since), OLDER)


def statement(matching: str, wanted: Sequence[str], tags: str, ages: Ages, place: str) -> Compiled:
    """Facet, value and number of each row. `matching` selects the documents; `tags` is the join
    by which an engine gives each of them its tags, as `t.name`."""
    cases = " ".join(f"WHEN m.updated_at >= {place} THEN {place}" for _ in ages.edges)
    parts = {
        "type": "SELECT 'type', m.type, count(*) FROM matching m GROUP BY m.type",
        "tag": f"SELECT 'tag', t.name, count(*) FROM matching m {tags} GROUP BY t.name",
        "project": "SELECT 'project', m.project, count(*) FROM matching m"
        " WHERE m.project IS NOT NULL GROUP BY m.project",
        # Without its last letters that are no slash: the folder of a path.
        "folder": "SELECT 'folder', rtrim(m.path, replace(m.path, '/', '')), count(*)"
        " FROM matching m WHERE m.path IS NOT NULL GROUP BY 2",
        # What follows the last dot; where that is a folder's, counted() leaves it out.
        "ending": "SELECT 'ending', lower(substr(m.path, length(rtrim(m.path,"
        " replace(m.path, '.', ''))) + 1)), count(*) FROM matching m"
        " WHERE replace(m.path, '.', '') <> m.path GROUP BY 2",
        "age": f"SELECT 'age', CASE {cases} ELSE '{OLDER}' END, count(*) FROM matching m"
        " GROUP BY 2",
        "week": "SELECT 'week', substr(m.created_at, 1, 10), count(*) FROM matching m GROUP BY 2",
    }
    values = [value for name, since in ages.edges for value in (since, name)]
    counts = " UNION ALL ".join(parts[name] for name in wanted)
    return Compiled(f"WITH matching AS ({matching}) {counts}", values if "age" in wanted else [])


def counted(rows: Iterable[Sequence[Any]]) -> Counted:
    """The numbers by facet, the largest first; ages in their own order come out so, too."""
    found: Counted = {}
    for facet, value, number in rows:
        if facet == "ending" and ("/" in value or not value):
            continue
        name = (value.rstrip("/") or ".") if facet == "folder" else value
        found.setdefault(facet, []).append((name, int(number)))
    for one in found.values():
        one.sort(key=lambda pair: (-pair[1], pair[0]))
    if "week" in found:
        found["week"] = _by_week(found["week"])
    return found


def _by_week(days: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
    """Weeks are called by their Monday; the newest first."""
    weeks: dict[str, int] = {}
    for day, number in days:
        monday = _monday(day)
        weeks[monday] = weeks.get(monday, 0) + number
    return sorted(weeks.items(), reverse=True)


def _monday(day: str) -> str:
    from datetime import date, timedelta

    found = date.fromisoformat(day)
    return (found - timedelta(min(found.weekday(), found.toordinal() - 1))).isoformat()


def values_of(document: Document, facet: str, ages: Ages) -> tuple[str, ...]:
    """What a document counts as."""
    path = document.path
    return {
        "type": (document.type,),
        "tag": document.tags,
        "project": (document.project,) if document.project is not None else (),
        "folder": (path.rpartition("/")[0] or ".",) if path is not None else (),
        "ending": _ending(path) if path is not None else (),
        "age": (ages.of(document.updated_at),),
        "week": (document.created_at[:10],),
    }[facet]


def _ending(path: str) -> tuple[str, ...]:
    dot, ending = path.rpartition(".")[1:]
    return (ending.lower(),) if dot and ending and "/" not in ending else ()
