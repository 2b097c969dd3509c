"""The text that a model reads of folders, links, groups, sessions and saved searches."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from knowbase.text.snippets import END_MARK, MARK

Data = Mapping[str, Any]


def worded(verdict: str, probability: float) -> str:
    """Whether the answer is there: what an answer begins with."""
    return f"verdict: {verdict} ({probability:.0%})"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _line(document: Data) -> str:
    """A document: its code, its title, and what else is told of it."""
    told = [document[name] for name in ("type", "path") if name in document]
    more = f" ({', '.join(told)})" if told else ""
    tags = "".join(f" #{tag}" for tag in document.get("tags", ()))
    return f"[{document['code']}] {document['title']}{more}{tags}"


def _left_out(data: Data) -> Iterable[str]:
    if data.get("left_out"):
        yield f"{data['left_out']} more found no room"


def _folder(data: Data) -> Iterable[str]:
    for one in data["folders"]:
        yield f"{one['folder']} {counted(one['documents'], 'document')}"
    yield from map(_line, data["documents"])
    total = counted(data["total"], "document")
    yield f"{len(data['documents'])} of {total} below {data['folder'] or '/'}"
    yield from (f"note: {one}" for one in data.get("notices", ()))
    if "next_cursor" in data:
        yield f'more: cursor="{data["next_cursor"]}"'


def _links(data: Data) -> Iterable[str]:
    yield _line(data["document"])
    for one in data["links"]:
        arrow = "→" if one["direction"] == "to" else "←"
        yield f"{arrow} {one['relation']} {_line(one['document'])}"
    for one in data["unresolved"]:
        yield f"leads nowhere: {one['target']}"
    yield counted(len(data["links"]), "link")
    yield from _left_out(data)


def _map(data: Data) -> Iterable[str]:
    if "communities" in data:
        for one in data["communities"]:
            central = ", ".join(map(_line, one["central"]))
            yield f"{one['label']}: {counted(one['size'], 'document')}, such as {central}"
        yield f"without links: {counted(data['unlinked'], 'document')}"
    for one in data.get("documents", ()):
        links = counted(one["links_to_it"], "link")
        yield f"{one['score']:.4f} {_line(one['document'])}, {links} to it"
    yield from _left_out(data)


def _edit(data: Data) -> Iterable[str]:
    for document in data["documents"]:
        states = [name for name in ("archived", "superseded_by", "expires_at") if name in document]
        yield _line(document) + (f": {', '.join(states)}" if states else "")
    yield counted(len(data["documents"]), "document")
    yield from _left_out(data)


def _session(data: Data) -> Iterable[str]:
    for one in data.get("sessions", ()):
        yield _session_line(one)
    if "id" in data:
        yield _session_line(data)
    if "session" in data:
        yield _session_line(data["session"])
    for use in data.get("used", ()):
        yield f"{use['usage']} {_line(use['document'])}"
    yield from _left_out(data)


def _session_line(session: Data) -> str:
    ended = session.get("ended_at")
    until = f"{ended[:16]}Z" if ended else "now"
    told = [f"{session['started_at'][:16]}Z to {until}", f"{session['uses']} uses"]
    told += [session["project"]] if session.get("project") else []
    summary = f": {session['summary']}" if session.get("summary") else ""
    return f"session {session['id']} ({', '.join(told)}){summary}"


def _saved(data: Data) -> Iterable[str]:
    for one in data.get("saved", ()):
        yield _saved_line(one)
    if "hits" in data:
        yield worded(data["verdict"]["name"], data["verdict"]["probability"])
        for hit in data["hits"]:
            yield f"[{hit['section']}] {hit['title']} ({hit['type']})"
            yield f"  {hit['snippet'].replace(MARK, '').replace(END_MARK, '')}"
        yield f"{len(data['hits'])} of {data['total']} found"
        yield from data["notices"]
    elif "name" in data:
        yield f"saved: {_saved_line(data)}"
    elif not data.get("saved"):
        yield "no search has been saved yet"
    yield from _left_out(data)


def _saved_line(saved: Data) -> str:
    places = f" (fill in: {', '.join(saved['parameters'])})" if saved["parameters"] else ""
    return f"{saved['name']}: {saved['query']}{places}"


MORE: dict[str, Callable[[Data], Iterable[str]]] = {
    "kb_list": _folder,
    "kb_links": _links,
    "kb_map": _map,
    "kb_edit": _edit,
    "kb_session": _session,
    "kb_saved": _saved,
}
