"""The short text that a model reads, made from the answer's JSON."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from knowbase.mcp.quoting import quoted
from knowbase.mcp.worded import MORE, counted, worded
from knowbase.memory.brief import with_quotes
from knowbase.text.snippets import END_MARK, MARK

Data = Mapping[str, Any]

QUOTED = ("kb_brief",)
"""Tools whose text is made of many documents, and quoted line by line."""
NOTHING_FITS = "nothing fits: ask again with a larger max_tokens"


def text_of(tool: str, data: Data) -> str:
    """The text of a tool's answer."""
    return "\n".join(_TEXTS[tool](quoted(data) if tool not in QUOTED else data))


def found_text(answer: Data) -> str:
    """What a search of the query language found."""
    answer = quoted(answer)
    hits = [
        f"- [{hit['section']}] {hit['title']} ({hit['type']}): {_unmarked(hit['snippet'])}"
        for hit in answer["hits"]
    ]
    sure = worded(answer["verdict"]["name"], answer["verdict"]["probability"])
    count = f"{len(hits)} of {answer['total']}"
    return "\n".join((f"# {answer['query']}", "", sure, "", *hits, "", count))


def _search(data: Data) -> Iterable[str]:
    metadata, results = data["metadata"], data["results"]
    yield worded(metadata["verdict"], metadata["probability"])
    for entry in results:
        yield from _entry(entry)
    at_least = "" if metadata["total_is_exact"] else "at least "
    how = " + ".join(metadata["search_modes_used"])
    counted = f"{len(results)} of {at_least}{metadata['total']} found"
    yield counted + (f" ({how})" if how else "") + f"; {metadata['matching']} have the words"
    yield from _more(data)
    yield from metadata["notices"]
    if metadata["suggestions"]:
        yield "try: " + ", ".join(metadata["suggestions"])
    elif not results and not metadata["total"]:
        yield "try other words, or fewer filters"


def _entry(entry: Data) -> Iterable[str]:
    """A line for what it is, one for where it is, and what there is of its text."""
    why = f" {entry['score']:.4f}" if entry.get("score") is not None else _relation(entry)
    if "entry_type" not in entry:
        yield f"[{entry['code']}] {entry['title']}" + _relation(entry)
        return
    yield _head(entry, entry["entry_type"]) + why
    where = _where(entry, entry.get("path"))
    if where:
        yield f"  {where}"
    if entry.get("content") is not None:
        yield f"  {entry['content'].strip()}"
    else:
        yield f"  {_unmarked(entry['snippet'])}"
    if "content_cursor" in entry:
        cursor = entry["content_cursor"]
        yield f'  … cut; it goes on with kb_get {entry["code"]}, cursor="{cursor}"'
    if entry.get("is_relaxed"):
        yield "  without what the query requires"
    if entry.get("copies"):
        yield "  the same text: " + ", ".join(map(_copy, entry["copies"]))
    if entry.get("explanation"):
        yield "  " + ", ".join(map(_contribution, entry["explanation"]["contributions"]))


def _contribution(part: Data) -> str:
    """What a leg adds, or something that has no rank: the word itself, a link, a second look."""
    rank = f" rank {part['rank']}" if part.get("rank") is not None else ""
    return f"{part['leg']}{rank}: {part['gain']:.4f}"


def _head(document: Data, kind: str) -> str:
    tags = "".join(f" #{tag}" for tag in document.get("tags") or ())
    project = document.get("project")
    whose = f"{kind} of {project}" if project else kind
    return f"[{document['code']}] {document['title']} ({whose}, {_dates(document)}){tags}"


def _dates(document: Data) -> str:
    """The day of the last change, and that of the making if it is another."""
    made, changed = (str(document.get(name, ""))[:10] for name in ("created_at", "updated_at"))
    return changed if made in ("", changed) else f"{made}, changed {changed}"


def _where(place: Data, path: str | None) -> str:
    """File and line, page and heading, and the section as kb_get takes it; nothing for the
    opening of what has no file."""
    is_opening = place["section"].endswith(":_preamble")
    parts = [f"{path}:{place['line']}"] if path else []
    parts += [f"page {place['page']}"] if place.get("page") else []
    if not is_opening:
        heading = place.get("heading")
        parts.append(f"{heading} ({place['section']})" if heading else place["section"])
    return ", ".join(parts)


def _copy(copy: Data) -> str:
    where = copy.get("path") or copy.get("project")
    return f"[{copy['code']}]" + (f" {where}" if where else "")


def _relation(entry: Data) -> str:
    if not entry.get("relation"):
        return ""
    shared = f", {entry['shared_tags']} shared tags" if entry.get("shared_tags") else ""
    return f": {entry['relation']}{shared}"


def _document(document: Data) -> str:
    if "type" not in document:
        return f"[{document['code']}] {document['title']}"
    ended = document.get("superseded_by")
    return _head(document, document["type"]) + (" superseded" if ended else "")


def _unmarked(text: str) -> str:
    return text.replace(MARK, "").replace(END_MARK, "")


def _more(data: Data) -> Iterable[str]:
    for name, counts in (data["metadata"].get("facets") or {}).items():
        yield f"{name}: " + ", ".join(f"{one['value']} {one['documents']}" for one in counts)
    if "next_cursor" in data:
        yield f'more: cursor="{data["next_cursor"]}"' if data["results"] else NOTHING_FITS


def _related(data: Data) -> Iterable[str]:
    for one in data["results"]:
        yield from _entry(one)
    yield f"{len(data['results'])} of {data['metadata']['total']} related"
    yield from _more(data)


def _get(data: Data) -> Iterable[str]:
    current = data.get("current")
    yield _document(data["document"]) + (f" by [{current}]" if current else "")
    where = _where(data["sections"][0], data["document"].get("path")) if data["sections"] else ""
    if where:
        yield where
    yield ""
    yield data["text"]
    if "next_cursor" in data:
        cut = f'… cut; it goes on with cursor="{data["next_cursor"]}"'
        yield cut if data["text"] else NOTHING_FITS


def _remember(data: Data) -> Iterable[str]:
    document = data["document"]
    told = "remembered" if data["created"] else "known already"
    yield f"{told}: {_document(document)}"
    if "superseded" in data:
        yield f"it takes the place of {_document(data['superseded'])}"
    for one in data.get("similar", ()):
        opening, code = " ".join(one["opening"].split()), one["document"]["code"]
        how = f"{one['similarity']:.2f}" + (f", {one['differs']}" if one.get("differs") else "")
        what = "may contradict" if one.get("contradicts") else "similar"
        yield f"{what} ({how}): [{code}] {opening}"
    if data.get("similar") and "superseded" not in data:
        yield "if this takes the place of one: remember it again with supersede=CODE"
    yield from data.get("notices", ())


def _timeline(data: Data) -> Iterable[str]:
    for mark, documents in (("", data["before"]), ("→ ", [data["anchor"]]), ("", data["after"])):
        for document in documents:
            made = document.get("created_at", "")
            when = f"{made[:16]}Z " if made else ""
            yield f"{mark}{when}{_document(document)}"
    if "left_out" in data:
        yield f"{data['left_out']} left out: ask again with one of the outer ones as the anchor"


def _brief(data: Data) -> Iterable[str]:
    yield with_quotes(data["text"].rstrip())


def _feedback(data: Data) -> Iterable[str]:
    counted = "counted" if data["counted"] else "said before, not counted again"
    yield f"[{data['document']['code']}] {data['verdict']}: {counted}"


def _status(data: Data) -> Iterable[str]:
    kinds = ", ".join(f"{number} {kind}" for kind, number in data["types"].items())
    yield counted(data["documents"], "document") + (f" ({kinds})" if kinds else "")
    chunks, tags = counted(data["chunks"], "chunk"), counted(data["tags"], "tag")
    yield f"{chunks}, {data['embedded']} with vectors; {tags}"
    yield f"model: {data['model']['name']}" if data["model"] else "no vectors yet: words alone find"
    for problem in data["problems"]:
        yield f"could not read {problem['path']}: {problem['problem']}"


_TEXTS: dict[str, Callable[[Data], Iterable[str]]] = {
    "kb_search": _search,
    "kb_get_related": _related,
    "kb_get": _get,
    "kb_remember": _remember,
    "kb_timeline": _timeline,
    "kb_brief": _brief,
    "kb_feedback": _feedback,
    "kb_status": _status,
    **MORE,
}
