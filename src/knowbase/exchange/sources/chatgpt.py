"""ChatGPT's data export: conversations.json, in its archive or alone.

A conversation is a tree of messages, since questions are asked again and answers made again; what
is taken is the branch that was shown last.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.conversation import Message, conversation, line_of, piece_of_work
from knowbase.exchange.sources.opening import elements, json_files, moment, objects_in, text_in
from knowbase.ingest.foreign import Foreign, Left

WHAT = "ChatGPT export"
_SPEAKERS = {"user": "User", "assistant": "ChatGPT"}
_LONGEST = 100_000  # messages of one conversation
_CANVAS = "canmore."  # what stands beside the conversation is written as if by a tool
_WHOLE = ".*"  # of an update that writes all of it anew
_REFERENCE = re.compile(  # the marks of a source: of today, and of before
    "\ue200[^\ue201]{0,2000}\ue201|[\ue200-\ue206]|【\\d[^】\n]{0,100}†[^】\n]{0,200}】"
)


def items(path: str) -> Iterator[Foreign | Left]:
    found = False
    for _, pieces in json_files(path, "conversations", WHAT):
        found = True
        for entry in elements(pieces, WHAT):
            if isinstance(entry, Left):
                yield entry
            elif isinstance(entry, dict) and isinstance(entry.get("mapping"), dict):
                yield _conversation(entry)
            else:
                yield Left("an entry", "it is not a conversation of ChatGPT")
    if not found:
        raise ReadError("there is no conversations.json in it", hint="see docs/in-and-out.md")


def _conversation(entry: Mapping[str, Any]) -> Foreign | Left:
    identity = text_in(entry.get("conversation_id")) or text_in(entry.get("id"))
    title = line_of(text_in(entry.get("title")), "Untitled conversation")
    if not identity:
        return Left(title, "it has no id")
    shown = _branch(entry)
    models = {text_in(_in(one, "metadata").get("model_slug")) for one in shown}
    metadata = {
        "address": f"https://chatgpt.com/c/{identity}",
        "authors": ["User", "ChatGPT"],
        "models": sorted(models - {""}),
        "archived_there": True if entry.get("is_archived") is True else None,
        "assistant": text_in(entry.get("gizmo_id")) or None,
    }
    stated = {
        "created_at": moment(entry.get("create_time")),
        "updated_at": moment(entry.get("update_time")) or moment(entry.get("create_time")),
        "metadata": {name: value for name, value in metadata.items() if value},
    }
    messages = (_message(one) for one in shown)
    return conversation(
        f"chatgpt:{identity}", title, (one for one in messages if one is not None), stated
    )


def _branch(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages from the first to the one that was shown last."""
    nodes = entry["mapping"]
    at = entry.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = _newest_leaf(nodes)
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen and len(seen) < _LONGEST:
        seen.add(at)
        node = nodes.get(at)
        if not isinstance(node, dict):
            break
        if isinstance(node.get("message"), dict):
            found.append(node["message"])
        at = node.get("parent")
    return found[::-1]


def _newest_leaf(nodes: Mapping[str, Any]) -> str | None:
    """An export of before `current_node`."""
    ends = [
        (_created(node), name)
        for name, node in nodes.items()
        if isinstance(node, dict) and not node.get("children")
    ]
    return max(ends)[1] if ends else None


def _created(node: Mapping[str, Any]) -> float:
    at = _in(node, "message").get("create_time")
    return float(at) if isinstance(at, int | float) else 0.0


def _message(message: Mapping[str, Any]) -> Message | None:
    """What a person sees of it: neither instructions nor what tools were told."""
    role = _in(message, "author").get("role")
    hidden = _in(message, "metadata").get("is_visually_hidden_from_conversation")
    to, content = message.get("recipient"), _in(message, "content")
    if role not in _SPEAKERS or hidden is True:
        return None
    if to in (None, "all"):
        text = _with_sources(_text(content), message)
    else:
        text = _in_canvas(content) if text_in(to).startswith(_CANVAS) else ""
    return Message(_SPEAKERS[role], moment(message.get("create_time")), text) if text else None


def _in_canvas(content: Mapping[str, Any]) -> str:
    """A text that was written beside the conversation, or written anew; not its small changes."""
    parts = content.get("parts")
    told = content.get("text") or (parts[0] if isinstance(parts, list) and parts else None)
    try:
        made = json.loads(told) if isinstance(told, str) else told
    except (ValueError, RecursionError):
        return ""
    if not isinstance(made, dict):
        return ""
    anew = [one for one in objects_in(made.get("updates")) if one.get("pattern") == _WHOLE]
    text = text_in(made.get("content")) or (text_in(anew[-1].get("replacement")) if anew else "")
    kind, _, language = text_in(made.get("type")).partition("/")
    name = line_of(text_in(made.get("name")), "Canvas")
    return piece_of_work(name, text, language if kind == "code" else None)


def _with_sources(text: str, message: Mapping[str, Any]) -> str:
    """The marks in an answer are links where the export says to what, else nothing."""
    for one in objects_in(_in(message, "metadata").get("content_references")):
        mark = one.get("matched_text")
        if isinstance(mark, str) and _REFERENCE.match(mark):
            link = one.get("alt")
            text = text.replace(mark, link if isinstance(link, str) else "")
    return _REFERENCE.sub("", text).strip()


def _text(content: Mapping[str, Any]) -> str:
    kind = content.get("content_type")
    if kind in (None, "text", "multimodal_text"):  # none in the first exports
        parts = content.get("parts")
        return "\n\n".join(_part(one) for one in (parts if isinstance(parts, list) else ())).strip()
    if kind == "code":
        return f"```\n{text_in(content.get('text'))}\n```"
    return ""  # what it thought, and what else nobody was shown


def _part(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        if part.get("content_type") == "audio_transcription":
            return text_in(part.get("text"))
        return "(a picture or file)" if part.get("asset_pointer") else ""
    return ""


def _in(value: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}
