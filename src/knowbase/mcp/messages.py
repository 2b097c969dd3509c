"""From bytes to a message of JSON-RPC. Whatever cannot be one is answered, never dropped: a client
that asked waits for ever otherwise."""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import mcp_types as types
from mcp_types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from knowbase.operations.wire import NO_TEXT, is_text, texts_of

ENDS = 1_000  # bytes of a line that is not kept, before and behind what makes it long
_MEMBER = rb'\s*"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+|null|true|false)\s*'
_MEMBERS = re.compile(_MEMBER)
_FIRST = re.compile(rb"\s*\{((?:" + _MEMBER + rb",)*)")
_LAST = re.compile(rb"((?:," + _MEMBER + rb")+)\}\s*$")


class NoMessage(Exception):
    """What was sent is no message; `answer` says why, unless nobody waits for one."""

    def __init__(self, code: int, text: str, asked: int | str | None = None) -> None:
        super().__init__(text)
        error = ErrorData(code=code, message=text)
        self.answer: JSONRPCError | None = JSONRPCError(jsonrpc="2.0", id=asked, error=error)


def message_of(data: bytes) -> types.JSONRPCMessage:
    """The message, once it is known to be one."""
    value = _object(data)
    asked = _id(value)
    _refuse_no_text(value, asked)
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        wrong = NoMessage(types.INVALID_REQUEST, "this is no message of JSON-RPC 2.0", asked)
        if "id" not in value and "method" in value:
            wrong.answer = None  # it notifies, and waits for nothing
        if "method" not in value and ("result" in value or "error" in value):
            wrong.answer = None  # it is an answer itself
        raise wrong from None


def too_long(most: int, first: bytes, last: bytes) -> NoMessage:
    """Said of a line that begins and ends so: its id stands before the long part, or behind."""
    told = f"the message is longer than {most >> 10} kB"
    ends = (_FIRST.match(first[:ENDS]), _LAST.search(last[-ENDS:]))
    members = dict(_MEMBERS.findall(b"".join(one[1] for one in ends if one is not None)))
    with suppress(ValueError, NoMessage):
        asked = _id({"id": json.loads(members[b"id"])}) if b"id" in members else None
        return NoMessage(types.INVALID_REQUEST, told, asked)
    return NoMessage(types.INVALID_REQUEST, told)


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data.decode("utf-8"), parse_constant=_no_number)
    except UnicodeDecodeError:
        raise NoMessage(types.PARSE_ERROR, "the message is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "it cannot be read")
        raise NoMessage(types.PARSE_ERROR, f"the message is not JSON: {reason}") from None
    if not isinstance(value, dict):
        raise NoMessage(types.INVALID_REQUEST, "a message is one JSON object")
    return value


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _id(value: Mapping[str, Any]) -> int | str | None:
    """By what the request is answered; None if it is none."""
    asked = value.get("id")
    if isinstance(asked, int) and not isinstance(asked, bool):
        return asked
    if isinstance(asked, str) and is_text(asked):
        return asked
    if "id" in value and "method" in value:
        raise NoMessage(types.INVALID_REQUEST, "id must be a text or a whole number")
    return None


def _refuse_no_text(value: Mapping[str, Any], asked: int | str | None) -> None:
    """Name the argument whose text is none, or else the part of the message."""
    params = value.get("params")
    arguments = params.get("arguments") if isinstance(params, dict) else None
    for part in (arguments, params, value):
        for name, inside in part.items() if isinstance(part, dict) else ():
            if not all(map(is_text, texts_of([name, inside]))):
                told = name if is_text(name) else ascii(name)
                raise NoMessage(types.INVALID_PARAMS, f"{told} is no text ({NO_TEXT})", asked)
