"""Prompts that a person can choose: recall what is known before acting, and a session's brief."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import mcp_types as types

from knowbase.errors import InvalidInput
from knowbase.mcp.answering import answer
from knowbase.mcp.tools import call_of, tools
from knowbase.memory.brief import with_quotes
from knowbase.operations.declare import held_to

if TYPE_CHECKING:
    from knowbase.base import Base

RECALL = """\
Before you act on the task below, use what the knowledge base knows. Results of a first search \
follow; search again with kb_search where they leave a gap, read with kb_get what you rely on, \
name its code, and say where the base and the task contradict each other. When you have decided \
or learned something that later work needs, keep it with kb_remember.

Task: {task}

{found}"""
BRIEF = """\
This is what the knowledge base holds for the session that starts. Keep to its decisions, or say \
why not. Codes in brackets can be read with kb_get.

{brief}"""


class _Prompt(NamedTuple):
    description: str
    arguments: Mapping[str, str]
    required: tuple[str, ...]
    write: "Callable[[Base, Mapping[str, str]], str]"


def _recall(base: "Base", given: Mapping[str, str]) -> str:
    task = given["task"]
    call = call_of(tools()["kb_search"], {"query": task, "limit": 5}, base.access)
    return RECALL.format(task=task, found=answer(call, base).text)


def _brief(base: "Base", given: Mapping[str, str]) -> str:
    asked = {"project": given.get("project") or None}
    held = held_to(base.access.project, tools()["kb_brief"].operation.request, asked)
    return BRIEF.format(brief=with_quotes(base.brief(held["project"]).text))


_PROMPTS = {
    "recall": _Prompt(
        "Look up what is known before acting on a task",
        {"task": "what is to be done"},
        ("task",),
        _recall,
    ),
    "session_brief": _Prompt(
        "Start a session with decisions, lessons and what expires soon",
        {"project": "of this project and of everybody; else of all"},
        (),
        _brief,
    ),
}


def listing() -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=name,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(
                        name=one, description=text, required=one in prompt.required
                    )
                    for one, text in prompt.arguments.items()
                ],
            )
            for name, prompt in _PROMPTS.items()
        ]
    )


def get(base: "Base", name: str, arguments: Mapping[str, str]) -> types.GetPromptResult:
    """The prompt with what the base knows filled in."""
    prompt = _PROMPTS.get(name)
    if prompt is None:
        raise InvalidInput(
            f"there is no prompt {name!r}", field="name", hint="one of " + ", ".join(_PROMPTS)
        )
    for one in arguments:
        if one not in prompt.arguments:
            hint = "one of " + ", ".join(prompt.arguments)
            raise InvalidInput(f"unknown argument {one!r}", field=one, hint=hint)
    for one in prompt.required:
        if not arguments.get(one, "").strip():
            raise InvalidInput(f"{one} is missing", field=one, hint=prompt.arguments[one])
    text = types.TextContent(text=prompt.write(base, arguments))
    return types.GetPromptResult(
        description=prompt.description,
        messages=[types.PromptMessage(role="user", content=text)],
    )
