"""What a person reads of memories that wait for a verdict."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.memory.inbox import Inbox, LikeIt
    from knowbase.memory.judging import Judged

LONGEST = 300  # letters of a text
_SIGNS = {"=": "{}", "-": "[-{}-]", "+": "{{+{}+}}"}


def render_inbox(paint: Painter, result: "Inbox") -> Iterable[str]:
    for item in result.items:
        document = item.document
        facts = [safe(document.type), *(name.replace("_", " ") for name in item.groups)]
        facts += [f"session {safe(item.session)}"] if item.session else []
        facts += [f"confidence {item.confidence:g}"] if item.confidence is not None else []
        facts += [f"put off by {safe(item.verdict.by)}"] if item.verdict else []
        told = paint("dim", f" · {' · '.join(facts)}")
        yield f"{paint('cyan', safe(document.code))}: {safe(document.title)}{told}"
        yield f"  {_short(safe(item.text))}"
        if item.like is not None:
            yield from _like(paint, item.like)
    groups = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in result.groups.items() if n)
    told = f"{len(result.items)} of {result.total}" + (f" · {groups}" if groups else "")
    if result.compared < result.total:
        told += f" · {result.compared} compared with others"
    yield paint("dim", told)


def _like(paint: Painter, like: "LikeIt") -> Iterable[str]:
    code = paint("cyan", safe(like.code))
    yield f"  like {code} ({like.similarity:.2f}): {safe(like.title)}"
    diff = "".join(_SIGNS[sign].format(safe(text)) for sign, text in like.diff)
    yield f"  {paint('dim', _short(diff))}"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def render_judged(paint: Painter, result: "Judged") -> Iterable[str]:
    code = paint("cyan", safe(result.document.code))
    if result.undone:
        yield f"{code}: {result.undone} is undone"
        return
    other = f" {safe(result.other.code)}" if result.other else ""
    merged = f" as {paint('cyan', safe(result.merged.code))}" if result.merged else ""
    yield f"{code}: {result.verdict}{other}{merged}, by {safe(result.by)}"
