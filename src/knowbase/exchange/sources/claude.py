"""Claude's data export: conversations, projects with their documents, and memories."""

from collections.abc import Iterator, Mapping
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.conversation import (
    Message,
    below_headings,
    conversation,
    line_of,
    piece_of_work,
)
from knowbase.exchange.sources.opening import elements, json_files, moment, objects_in, text_in
from knowbase.ingest.foreign import Foreign, Left, id_of

WHAT = "Claude export"
_SPEAKERS = {"human": "User", "assistant": "Claude"}


def items(path: str) -> Iterator[Foreign | Left]:
    found = False
    for stem, make in (("projects", _project), ("conversations", _one), ("memories", _memories)):
        for _, pieces in json_files(path, stem, WHAT):
            found = True
            for entry in elements(pieces, WHAT):
                if isinstance(entry, Left):
                    yield entry
                elif isinstance(entry, dict):
                    yield from make(entry)
                else:
                    yield Left("an entry", "it is not an object")
    if not found:
        raise ReadError("there is no conversations.json in it", hint="see docs/in-and-out.md")


def _one(entry: Mapping[str, Any]) -> Iterator[Foreign | Left]:
    identity, title = text_in(entry.get("uuid")), line_of(text_in(entry.get("name")), "Untitled")
    if not identity or not isinstance(entry.get("chat_messages"), list):
        yield Left(title, "it is not a conversation of Claude")
        return
    project = entry.get("project")
    within = text_in(project.get("uuid")) if isinstance(project, dict) else ""
    within = within or text_in(entry.get("project_uuid"))
    metadata: dict[str, Any] = {
        "address": f"https://claude.ai/chat/{identity}",
        "authors": ["User", "Claude"],
        "summary": text_in(entry.get("summary")) or None,
        "part_of": [f"[[{id_of(_project_key(within))}]]"] if within else None,
    }
    stated = {**_dates(entry), "metadata": {k: v for k, v in metadata.items() if v}}
    messages = (_message(one) for one in objects_in(entry["chat_messages"]))
    yield conversation(f"claude:{identity}", title, messages, stated)


def _message(message: Mapping[str, Any]) -> Message:
    """Its text as it was shown, and what was made; what else a tool was asked and what it thought
    is left out. Without blocks the text is all; with them it says of others that they are not
    supported."""
    blocks = objects_in(message.get("content"))
    parts = [_shown(one) for one in blocks] or [text_in(message.get("text"))]
    for one in objects_in(message.get("attachments")):
        name, held = line_of(text_in(one.get("file_name")), "a file"), one.get("extracted_content")
        parts.append(piece_of_work(name, text_in(held)) or f"({name})")
    names = [text_in(one.get("file_name")) for one in objects_in(message.get("files"))]
    parts += [f"({name})" for name in names if name]
    speaker = _SPEAKERS.get(text_in(message.get("sender")), "User")
    return Message(speaker, moment(message.get("created_at")), "\n\n".join(filter(None, parts)))


def _shown(block: Mapping[str, Any]) -> str:
    """A text, or an artifact or file that was written whole."""
    if block.get("type") == "text":
        return text_in(block.get("text"))
    given = block.get("input")
    if block.get("type") != "tool_use" or not isinstance(given, dict):
        return ""
    if block.get("name") == "artifacts" and given.get("command") in ("create", "rewrite"):
        is_prose = given.get("type") == "text/markdown"
        name = line_of(text_in(given.get("title")), "Artifact")
        language = None if is_prose else text_in(given.get("language"))
        return piece_of_work(name, text_in(given.get("content")), language)
    if block.get("name") == "create_file":
        name = line_of(text_in(given.get("path")).rpartition("/")[2], "File")
        ending = name.lower().rpartition(".")[2]
        language = None if ending in ("md", "txt") else ending
        return piece_of_work(name, text_in(given.get("file_text")), language)
    return ""


def _project(entry: Mapping[str, Any]) -> Iterator[Foreign | Left]:
    """A project, and each of its documents below it."""
    identity, name = text_in(entry.get("uuid")), line_of(text_in(entry.get("name")), "Untitled")
    if not identity:
        yield Left(name, "it is not a project of Claude")
        return
    creator = entry.get("creator")
    author = text_in(creator.get("full_name")) if isinstance(creator, dict) else ""
    told = [text_in(entry.get("description")), text_in(entry.get("prompt_template"))]
    text = "\n\n".join([f"# {name}", *(below_headings(one) for one in told if one)])
    metadata = {"address": f"https://claude.ai/project/{identity}", "author": author or None}
    stated = {**_dates(entry), "metadata": {k: v for k, v in metadata.items() if v}}
    yield Foreign(_project_key(identity), "note", name, text, stated, tagged=False)
    for one in objects_in(entry.get("docs")):
        key, title = text_in(one.get("uuid")), line_of(text_in(one.get("filename")), "Untitled")
        content = text_in(one.get("content"))
        if not key or not content:
            yield Left(title, "it has no text", wrong=False)
            continue
        more = {"parent": id_of(_project_key(identity))}
        if author:
            more["metadata"] = {"author": author}  # type: ignore[assignment]
        yield Foreign(
            f"claude:doc:{key}", "note", title, f"# {title}\n\n{content}", {**_dates(one), **more},
            tagged=False,
        )  # fmt: skip


def _memories(entry: Mapping[str, Any]) -> Iterator[Foreign | Left]:
    account = text_in(entry.get("account_uuid"))
    about = text_in(entry.get("conversations_memory"))
    if about:
        text = f"# What Claude remembers\n\n{below_headings(about)}"
        yield Foreign(f"claude:memory:{account}", "summary", "What Claude remembers", text,
                      tagged=False)  # fmt: skip
    projects = entry.get("project_memories")
    for project, memory in projects.items() if isinstance(projects, dict) else ():
        if text_in(memory):
            title = "What Claude remembers of a project"
            yield Foreign(
                f"claude:memory:{account}:{project}", "summary", title,
                f"# {title}\n\n{below_headings(text_in(memory))}",
                {"parent": id_of(_project_key(str(project)))}, tagged=False,
            )  # fmt: skip


def _project_key(identity: str) -> str:
    return f"claude:project:{identity}"


def _dates(entry: Mapping[str, Any]) -> dict[str, str | None]:
    created = moment(entry.get("created_at"))
    return {"created_at": created, "updated_at": moment(entry.get("updated_at")) or created}
