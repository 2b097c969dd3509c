"""What a person reads of a search: its hits, or what the query means."""

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from knowbase.cli.terminal import Painter, safe, safe_lines
from knowbase.text.snippets import END_MARK, MARK

if TYPE_CHECKING:
    from knowbase.search.answer import Answer, Explanation, Hit
    from knowbase.search.plan import QueryPlan

INDENT = "  "
MOST_COPIES = 5  # of a hit that are shown


def render_answer(paint: Painter, answer: "Answer") -> Iterable[str]:
    if answer.communities is not None:
        from knowbase.cli.render.graph import render_communities

        yield from render_communities(paint, answer.communities)
        yield ""
    for number, hit in enumerate(answer.hits, answer.offset + 1):
        yield from _hit(paint, hit, f"{number}. " if paint.width else "")
        yield ""
    how = " + ".join(answer.search_modes_used) or "newest first"
    yield paint(
        "dim",
        f"returned: {answer.returned} of {answer.total} · {how}"
        f" · {answer.query_time_ms:.0f} ms{_coverage(answer)}{_more(answer)}",
    )
    yield from _facets(paint, answer)
    yield from _problems(paint, answer)
    for notice in answer.notices[len(answer.problems) :]:
        yield paint("red", "note: ") + safe(notice)
    for suggestion in answer.suggestions:
        if any(one.startswith(f"nothing has {suggestion.word!r}:") for one in answer.notices):
            continue  # what was meant is searched already
        near = ", ".join(suggestion.nearest)
        yield f"nothing has {safe(suggestion.word)!r}; did you mean {safe(near)}?"
    yield _verdict(paint, answer)


def _verdict(paint: Painter, answer: "Answer") -> str:
    name, probability, calibrated = answer.verdict
    style = {"strong": "green", "likely": "green"}.get(name, "red")
    said = "" if calibrated or probability in (0, 1) else " · a rough guess until kb calibrate"
    return f"verdict: {paint(style, name)} ({probability:.0%}){paint('dim', said)}"


def _facets(paint: Painter, answer: "Answer") -> Iterable[str]:
    for name, counts in answer.facets.items():
        told = ", ".join(f"{safe(one.value)} {one.documents}" for one in counts)
        yield f"{paint('bold', name)}: {told or 'none'}"


def _more(answer: "Answer") -> str:
    if answer.next_cursor is None:
        return ""
    return f" · more: --offset {answer.offset + answer.returned}"


def _coverage(answer: "Answer") -> str:
    """How much meaning can find, when it is not all."""
    share = answer.semantic_coverage
    if share == 1 or answer.filters["mode"] == "keyword":
        return ""
    return f" · {int(share * 100)} % has a vector (kb embed makes the rest)"


def _problems(paint: Painter, result: "Answer | QueryPlan") -> Iterable[str]:
    for problem in result.problems:
        yield paint("red", "note: ") + safe_lines(problem.point_out(result.query))


def _hit(paint: Painter, hit: "Hit", number: str) -> Iterable[str]:
    """A person at a terminal sees its number, by which kb open knows it."""
    code, title = paint("cyan", safe(hit.code)), paint("bold", safe(hit.title))
    number = paint("dim", number) if number else ""
    yield f"{number}{code}: {title} ({safe(hit.type)})"
    where = f'Match in "{safe(hit.heading)}"' if hit.heading else "Match"
    yield f"  {where}: {_place(paint, hit)}" if hit.path else f"  {where}:"
    yield from _snippet(paint, hit)
    more = f" · {hit.more} more like it" if hit.more else ""
    score = f"Score: {hit.score:.4f} · {' + '.join(hit.sources)} · " if hit.sources else ""
    yield paint("dim", f"  {score}{safe(hit.section)}{more}")
    if hit.is_relaxed:
        yield paint("dim", "  without what the query requires")
    if hit.copies:
        places = ", ".join(one.path or one.code for one in hit.copies[:MOST_COPIES])
        further = " …" if len(hit.copies) > MOST_COPIES else ""
        yield paint("dim", f"  the same text: {safe(places)}{further}")
    if hit.is_superseded:
        by = hit.superseded_by
        when = f" on {by.superseded_at[:10]}" if by is not None and by.superseded_at else ""
        what = f" by {by.code}{when}: {' '.join(by.content.split())}" if by is not None else ""
        yield f"  superseded{safe(what)}"
    if hit.source_session is not None:
        yield paint("dim", f"  from session {safe(hit.source_session.id)}")
    if hit.related_count:
        yield paint("dim", f"  {hit.related_count} related (kb context {safe(hit.code)})")
    if hit.explanation is not None:
        yield from _explanation(hit.explanation)


def _explanation(explanation: "Explanation") -> Iterable[str]:
    """The sum and product as computed."""
    for part in explanation.contributions:
        place = f"rank {part.rank}" if part.rank is not None else ""
        yield (
            f"    {part.leg:<9}{place:<9} raw {part.raw:<9.4f}"
            f" {part.weight:g} × {part.value:.6f} = {part.gain:.6f}"
        )
    line = f"    sum {explanation.sum:.6f}"
    for factor in explanation.factors:
        line += f" × {factor.name} {factor.value:.4g} ({safe(factor.because)})"
    clamped = ", kept within 0 and 1" if explanation.clamped else ""
    yield f"{line} = {explanation.score:.6f}{clamped}"
    for beside in explanation.beside:
        yield f"    has {safe(beside)}"


def _place(paint: Painter, hit: "Hit") -> str:
    at = f" page {hit.page}" if hit.page else f":{hit.line}"
    return paint.link(paint.path(hit.path or "") + at, os.path.join(paint.home, hit.path or ""))


def _snippet(paint: Painter, hit: "Hit") -> Iterable[str]:
    """On one line for a program; for a person, in lines that fit the terminal. A heading that has
    no text of its own is shown already."""
    if not hit.snippet.strip():
        return
    if not paint.width:
        lines = [safe(hit.snippet)]
    else:
        from knowbase.cli.render.layout import code_lines, wrapped

        is_code = "\n" in hit.snippet_lines.strip()
        text = safe_lines(hit.snippet_lines) if is_code else safe(hit.snippet)
        lines = (code_lines if is_code else wrapped)(text, paint.width - len(INDENT))
    yield from (INDENT + _painted(paint, line) for line in lines)


def _painted(paint: Painter, line: str) -> str:
    parts = line.split(MARK)
    painted = [parts[0]]
    for part in parts[1:]:
        marked, _, rest = part.partition(END_MARK)
        painted.append(paint("mark", marked) + rest)
    return "".join(painted)


def render_plan(paint: Painter, plan: "QueryPlan") -> Iterable[str]:
    """The tree, the filter, and what would run."""
    yield safe_lines(plan.tree)
    yield ""
    lines = {
        "legs": " + ".join(plan.legs),
        "words": f"{plan.match} of: {' '.join(plan.words)}" if plan.words else "",
        "meaning": plan.semantic_text if "semantic" in plan.legs else "",
        "filter": plan.filter,
        "keyword leg": plan.keyword_filter if plan.keyword_filter != plan.filter else "",
        "intent": plan.intent,
        "weights": constant(plan.weights),
    }
    yield from (f"{name:<12} {safe(text)}" for name, text in lines.items() if text)
    yield from (f"{'flag':<12} {safe(flag)}" for flag in plan.flags)
    yield from _problems(paint, plan)


def constant(value: Any) -> str:
    """A constant on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {constant(one)}" for key, one in value.items()) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
