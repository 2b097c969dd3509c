"""ChatGPT's data export: conversations.json, in its archive or alone.

A conversation is a tree of messages, since questions are asked again and answers made again; what
is taken is the branch that was shown last.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from knowbase.errors import ReadError
from knowbase.exchange.sources.conversation import Message, conversation, line_of
from knowbase.exchange.sources.opening import elements, json_files, moment, text_in
from knowbase.ingest.foreign import Foreign, Left

WHAT = "ChatGPT export"
_SPEAKERS = {"user": "User", "assistant": "ChatGPT"}
_LONGEST = 100_000  # messages of one conversation


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
    to = message.get("recipient")
    if role not in _SPEAKERS or hidden is True or to not in (None, "all"):
        return None
    text = _text(_in(message, "content"))
    return Message(_SPEAKERS[role], moment(message.get("create_time")), text) if text else None


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
