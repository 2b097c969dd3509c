"""A base as lines of JSON: what each part of it becomes, and what each line becomes again.

A line that no writer of ours has written is refused: exports come by mail, too.
"""

import base64
import binascii
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from knowbase.errors import BaseDamaged, ReadError
from knowbase.store.versions import unpacked
from knowbase.values.calibration import Calibration
from knowbase.values.changes import SavedSearch
from knowbase.values.copies import ChunkCopy, Copy, Frame, GivenVerdict, SharedParts
from knowbase.values.documents import EDITABLE, Chunk, Document
from knowbase.values.edges import Relation
from knowbase.values.files import FileRecord, Source
from knowbase.values.history import Change, HistoryPart, PastChunk, PastVersion, Touched
from knowbase.values.plain import plain
from knowbase.values.reading import Link
from knowbase.values.sessions import Session, Use
from knowbase.values.vectors import Model, StoredModel, Vector

T = TypeVar("T")
_LINE_ENDS = re.compile("[\x7f-\x9f\u2028\u2029]")
Line = Mapping[str, Any]
SHARED: Mapping[str, type] = {
    "session": Session,
    "use": Use,
    "relation": Relation,
    "file": FileRecord,
    "source": Source,
    "saved": SavedSearch,
}
"""The kinds of lines beside the documents, each a value as it is stored."""
_PLACES = {
    "session": "sessions",
    "use": "uses",
    "relation": "relations",
    "file": "files",
    "source": "sources",
    "saved": "saved",
}


class Page(NamedTuple):
    """The Markdown file of a document, as it was written."""

    name: str  # seen from the folder, with slashes
    sha256: str


def text_of(line: Line) -> str:
    """In one line, also for programs that see the end of one in more characters than one."""
    text = json.dumps(line, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _LINE_ENDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def parsed(raw: bytes | str) -> Line:
    """What a line says."""
    try:
        line = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise _refused("a line is not JSON") from error
    if not isinstance(line, dict) or not isinstance(line.get("kind"), str):
        raise _refused("a line is not an object with a kind")
    return line


def of_frame(frame: Frame) -> Line:
    return {"kind": "frame", **plain(frame)}


def frame_of(line: Line) -> Frame:
    models = tuple(
        StoredModel(named(Model, one.get("model")), *_fitting(one, ("source", str),
                    ("vectors", int), ("active", bool)))
        for one in _objects(line, "models")
    )  # fmt: skip
    following = _fitting(line, ("next_seq", int), ("next_chunk", int))
    return Frame(models, *following)


def of_copy(copy: Copy, models: Sequence[Model], page: Page | None) -> Line:
    """A document with everything that belongs to it; its number first, so that it is found."""
    return {
        "kind": "document",
        "seq": copy.document.seq,
        "page": plain(page),
        "document": plain(copy.document),
        "said": dict(copy.said),
        "links": plain(copy.links),
        "verdicts": plain(copy.verdicts),
        "chunks": [_of_chunk(one, models) for one in copy.chunks],
    }


def _of_chunk(copy: ChunkCopy, models: Sequence[Model]) -> Line:
    own = {"id": copy.id, "position": copy.position, "title": copy.title, "terms": copy.terms}
    return {**own, **plain(copy.chunk), "vectors": _of_vectors(copy.vectors, models)}


def _of_vectors(vectors: Sequence[tuple[Model, Vector]], models: Sequence[Model]) -> Line:
    return {
        str(models.index(model)): base64.b64encode(vector).decode("ascii")
        for model, vector in vectors
    }


def copy_of(line: Line, models: Sequence[Model]) -> Copy:
    said = line.get("said")
    if not isinstance(said, dict) or not set(said) <= set(EDITABLE):
        raise _refused("a document says what no command says")
    return Copy(
        named(Document, line.get("document")),
        dict(sorted(said.items())),
        tuple(named(Link, one) for one in _objects(line, "links")),
        tuple(named(GivenVerdict, one) for one in _objects(line, "verdicts")),
        tuple(_chunk_of(one, models) for one in _objects(line, "chunks")),
    )


def page_of(line: Line) -> Page | None:
    found = line.get("page")
    return None if found is None else named(Page, found)


def _chunk_of(line: Line, models: Sequence[Model]) -> ChunkCopy:
    chunk = named(Chunk, {name: line.get(name) for name in Chunk._fields})
    number, position, title, terms = _fitting(
        line, ("id", int), ("position", int), ("title", str), ("terms", str)
    )
    return ChunkCopy(number, position, chunk, title, terms, _vectors_of(line, models))


def _vectors_of(line: Line, models: Sequence[Model]) -> tuple[tuple[Model, Vector], ...]:
    given = line.get("vectors")
    if not isinstance(given, dict):
        raise _refused("a chunk has no vectors")
    return tuple((model, _vector(given[str(at)], model)) for at, model in enumerate(models)
                 if str(at) in given)  # fmt: skip


def _vector(text: Any, model: Model) -> Vector:
    try:
        vector = base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise _refused("a vector is not base64") from error
    if len(vector) != 4 * model.dimensions:
        raise _refused("a vector is of another size than its model's")
    return vector


def of_change(part: HistoryPart, models: Sequence[Model]) -> Line:
    """A change of the base with all that it replaced; its number and how many versions ended with
    it come first, so that they are found."""
    chunks = [{**plain(one), "vectors": _of_vectors(one.vectors, models)} for one in part.chunks]
    return {
        "kind": "change",
        "number": part.change.number,
        "ended": len(part.versions),
        "change": plain(part.change),
        "versions": plain(part.versions),
        "chunks": chunks,
    }


def change_of(line: Line, models: Sequence[Model]) -> HistoryPart:
    given = line.get("change")
    change = given if isinstance(given, dict) else {}
    touched = tuple(named(Touched, one) for one in _objects(change, "touched"))
    chunks = [
        named(PastChunk, {**one, "vectors": ()})._replace(vectors=_vectors_of(one, models))
        for one in _objects(line, "chunks")
    ]
    return HistoryPart(
        named(Change, {**change, "touched": ()})._replace(touched=touched),
        tuple(_version_of(one) for one in _objects(line, "versions")),
        tuple(chunks),
    )


def _version_of(values: Line) -> PastVersion:
    version = named(PastVersion, values)
    try:
        if version.data is not None:
            unpacked(version.data)
        places = json.loads(version.places or "[]")
    except (BaseDamaged, ValueError, RecursionError) as error:
        raise _refused("a version cannot be read") from error
    if not isinstance(places, list) or not all(_is_place(one) for one in places):
        raise _refused("a version does not say where its text stood")
    return version


def _is_place(one: Any) -> bool:
    return isinstance(one, list) and [type(value) for value in one] in (
        [int, int, int], [int, int, NoneType],
    )  # fmt: skip


def of_shared(shared: SharedParts) -> Iterator[Line]:
    for kind, name in _PLACES.items():
        for one in getattr(shared, name):
            yield {"kind": kind, **plain(one)}
    yield {
        "kind": "similar",
        "pairs": plain(shared.similar),
        "above": shared.similar_above,
        "most": shared.similar_most,
        "unlinked": list(shared.unlinked),
    }
    if shared.calibration is not None:
        yield {"kind": "calibration", **plain(shared.calibration)}


def shared_of(lines: Collection[Line]) -> SharedParts:
    parts: dict[str, list[Any]] = {name: [] for name in _PLACES.values()}
    similar: Line = {"pairs": [], "above": None, "unlinked": []}
    calibration = None
    for line in lines:
        if line["kind"] == "similar":
            similar = line
        elif line["kind"] == "calibration":
            calibration = _calibration_of(line)
        elif line["kind"] in SHARED:
            parts[_PLACES[line["kind"]]].append(named(SHARED[line["kind"]], line))
    pairs = similar.get("pairs")
    if not isinstance(pairs, list) or not all(_is_pair(one) for one in pairs):
        raise _refused("similar documents are not pairs")
    own: dict[str, Any] = {name: tuple(found) for name, found in parts.items()}
    return SharedParts(
        **own,
        similar=tuple((one[0], one[1], one[2]) for one in pairs),
        similar_above=similar.get("above"),
        similar_most=similar.get("most"),
        unlinked=tuple(similar.get("unlinked") or ()),
        calibration=calibration,
    )


def _calibration_of(line: Line) -> Calibration:
    numbers = line.get("numbers")
    if not isinstance(numbers, dict) or not all(_is_number(one) for one in numbers.values()):
        raise _refused("what the base has learnt is not numbers")
    (made_at,) = _fitting(line, ("made_at", str))
    return Calibration(made_at, numbers)


def _is_number(one: Any) -> bool:
    return isinstance(one, int | float) and not isinstance(one, bool)


def _is_pair(one: Any) -> bool:
    return isinstance(one, list) and len(one) == 3 and all(isinstance(n, int | float) for n in one)


def _objects(line: Line, name: str) -> list[Any]:
    found = line.get(name)
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise _refused(f"{name} is not a list of objects")
    return found


def _fitting(line: Line, *wanted: tuple[str, type]) -> list[Any]:
    for name, kind in wanted:
        if not _fits(kind, line.get(name)):
            raise _refused(f"{name} is of another kind")
    return [line[name] for name, _ in wanted]


def named(kind: type[T], values: Any) -> T:
    """A named tuple of values that fit its annotations; what it does not know is left out."""
    if not isinstance(values, dict):
        raise _refused(f"a {kind.__name__} is not an object")
    hints = get_type_hints(kind)
    given: dict[str, Any] = {}
    for name in kind._fields:  # type: ignore[attr-defined]
        if name not in values:
            continue
        value = tuple(values[name]) if isinstance(values[name], list) else values[name]
        if not _fits(hints[name], value):
            raise _refused(f"the {name} of a {kind.__name__} is of another kind")
        given[name] = value
    try:
        return kind(**given)
    except TypeError as error:
        raise _refused(f"a {kind.__name__} lacks a value") from error


def _fits(hint: Any, value: Any) -> bool:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(_fits(part, value) for part in parts)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(parts[0], one) for one in value)
    if origin is not None:
        return isinstance(value, origin)
    if hint in (int, float):
        return isinstance(value, (int, hint)) and not isinstance(value, bool)
    return isinstance(value, hint)


def _refused(what: str) -> ReadError:
    return ReadError(
        f"this is not an export that can be read: {what}", hint="export the base again"
    )
