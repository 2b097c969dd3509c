"""What a person reads, one function an operation."""

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from knowbase.cli.terminal import Painter, safe, safe_lines, states_of
from knowbase.text.snippets import END_MARK, MARK

if TYPE_CHECKING:
    from knowbase.base.status import Status
    from knowbase.evaluate.evaluation import Evaluation
    from knowbase.ingest.removal import Removal
    from knowbase.ingest.sync import Report
    from knowbase.operations.filling import Made
    from knowbase.operations.finding import Config, Tags
    from knowbase.operations.ranking import Profiles
    from knowbase.search.answer import Answer, Explanation, Hit
    from knowbase.search.plan import QueryPlan
    from knowbase.search.whynot import WhyNot
    from knowbase.text.sections import Content
    from knowbase.values.documents import Document, Listing

MOST_LISTED = 10
_GRAPH = (
    "links", "related", "path", "communities", "rank", "graph export", "graph query",
    "graph show", "graph rebuild",
)  # fmt: skip
_BY_TYPE = {"Answer": "search", "QueryPlan": "query", "Listing": "list", "Removal": "rm"}
"""Results that look the same whatever was asked."""


class Renderer:
    """Renders results for a person; `home` is where stored paths start from."""

    def __init__(self, paint: Painter, home: str) -> None:
        self._paint = paint
        self._home = home

    def render(self, name: str, result: Any) -> str:
        """The text for the result of the operation of that name."""
        renderers: dict[str, Callable[[Any], Iterable[str]]] = {
            "init": self._made,
            "add": self._report,
            "sync": self._report,
            "watch": self._report,
            "note": self._noted,
            "search": self._answer,
            "get": self._content,
            "list": self._listing,
            "tags": self._tags,
            "rm": self._removal,
            "status": self._status,
            "config": self._config,
            "profiles": self._profiles,
            "why-not": self._why_not,
            "query": self._plan,
            "eval": self._evaluation,
        }
        if type(result).__name__ in _BY_TYPE:
            name = _BY_TYPE[type(result).__name__]
        if name in renderers:
            return "\n".join(renderers[name](result))
        if name in ("models", "embed"):
            from knowbase.cli.models import lines
        elif name.startswith("saved "):
            from knowbase.cli.saved import lines
        elif name == "move":
            from knowbase.cli.move import lines
        elif name in _GRAPH:
            from knowbase.cli.graph import lines
        elif name in ("serve", "token new", "tokens", "token revoke"):
            from knowbase.cli.serving import lines
        elif name in ("mcp", "mcp install"):
            from knowbase.cli.agents import lines
        else:
            from knowbase.cli.memory import lines
        return "\n".join(lines(self._paint, name, result))

    # finding

    def _answer(self, answer: "Answer") -> Iterable[str]:
        for hit in answer.hits:
            yield from self._hit(hit)
            yield ""
        how = " + ".join(answer.search_modes_used) or "newest first"
        yield self._paint(
            "dim",
            f"returned: {answer.returned} of {answer.total} · {how}"
            f" · {answer.query_time_ms:.0f} ms{_coverage(answer)}",
        )
        yield from self._problems_of(answer)
        for notice in answer.notices[len(answer.problems) :]:
            yield self._paint("red", "note: ") + safe(notice)
        for suggestion in answer.suggestions:
            near = ", ".join(suggestion.nearest)
            yield f"nothing has {safe(suggestion.word)!r}; did you mean {safe(near)}?"

    def _problems_of(self, result: "Answer | QueryPlan") -> Iterable[str]:
        for problem in result.problems:
            yield self._paint("red", "note: ") + safe_lines(problem.told(result.query))

    def _plan(self, plan: "QueryPlan") -> Iterable[str]:
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
            "weights": _value(plan.weights),
        }
        yield from (f"{name:<12} {safe(text)}" for name, text in lines.items() if text)
        yield from (f"{'flag':<12} {safe(flag)}" for flag in plan.flags)
        yield from self._problems_of(plan)

    def _hit(self, hit: "Hit") -> Iterable[str]:
        paint = self._paint
        title = paint("bold", safe(hit.title))
        yield f"{paint('cyan', safe(hit.code))}: {title} ({safe(hit.type)})"
        where = f'Match in "{safe(hit.heading)}"' if hit.heading else "Match"
        yield f"  {where}: {self._place(hit)}" if hit.path else f"  {where}:"
        yield "  " + self._snippet(hit.snippet)
        more = f" · {hit.more} more like it" if hit.more else ""
        score = f"Score: {hit.score:.4f} · {' + '.join(hit.sources)} · " if hit.sources else ""
        yield paint("dim", f"  {score}{safe(hit.section)}{more}")
        if hit.is_superseded:
            by = hit.superseded_by
            when = f" on {by.superseded_at[:10]}" if by is not None and by.superseded_at else ""
            told = f" by {by.code}{when}: {' '.join(by.content.split())}" if by is not None else ""
            yield f"  superseded{safe(told)}"
        if hit.source_session is not None:
            yield self._paint("dim", f"  from session {safe(hit.source_session.id)}")
        if hit.related_count:
            yield self._paint("dim", f"  {hit.related_count} related (kb context {safe(hit.code)})")
        if hit.explanation is not None:
            yield from self._explanation(hit.explanation)

    def _explanation(self, explanation: "Explanation") -> Iterable[str]:
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

    def _place(self, hit: "Hit") -> str:
        path = os.path.join(self._home, hit.path or "")
        shown = os.path.relpath(path)
        shown = path if shown.startswith("../../..") else shown
        at = f" page {hit.page}" if hit.page else f":{hit.line}"
        return self._paint.link(safe(shown) + at, path)

    def _snippet(self, snippet: str) -> str:
        parts = safe(snippet).split(MARK)
        painted = [parts[0]]
        for part in parts[1:]:
            marked, _, rest = part.partition(END_MARK)
            painted.append(self._paint("mark", marked) + rest)
        return "".join(painted)

    def _content(self, content: "Content") -> Iterable[str]:
        yield safe_lines(content.text)

    def _listing(self, listing: "Listing") -> Iterable[str]:
        width = max((len(document.code) for document in listing.documents), default=0)
        for document in listing.documents:
            line = (
                f"{self._paint('cyan', safe(document.code).ljust(width))}  {safe(document.title)}"
            )
            more = [f"#{safe(tag)}" for tag in document.tags]
            more += [f"expires {document.expires_at[:10]}"] if document.expires_at else []
            more += states_of(document)
            dim = self._paint("dim", " ".join(more))
            yield f"{line} ({safe(document.type)})" + (f" {dim}" if more else "")
        yield self._paint("dim", f"{len(listing.documents)} of {listing.total} documents")

    def _tags(self, tags: "Tags") -> Iterable[str]:
        for line in tags.tags:
            yield f"{line.documents:6}  {safe(line.tag)}"
        yield self._paint("dim", f"{len(tags.tags)} tags")

    def _status(self, status: "Status") -> Iterable[str]:
        model = status.model
        size = "" if status.size_bytes is None else f" ({status.size_bytes / 1e6:.1f} MB)"
        yield f"base       {safe(status.base)}{size}"
        kinds = ", ".join(f"{number} {safe(name)}" for name, number in status.types.items())
        if status.copy_of is not None:
            yield self._paint("red", "unfinished ") + safe(
                f"copy of {status.copy_of}: kb move goes on with it"
            )
        yield f"documents  {status.documents}" + (f" ({kinds})" if kinds else "")
        if status.forgotten:
            yield f"forgotten  {status.forgotten} (kb restore lists them)"
        yield f"chunks     {status.chunks}, {status.embedded} with a vector"
        yield f"tags       {status.tags}"
        yield f"model      {safe(f'{model.name} ({model.revision})') if model else 'none used yet'}"
        for other in status.models:
            if not other.active:
                name = safe(f"{other.model.name} ({other.model.revision})")
                yield f"beside     {name}, {other.vectors} of {status.chunks} chunks, not in use"
        for source in status.sources:
            tags = " ".join(f"#{tag}" for tag in source.tags)
            yield f"source     {safe(source.path)} {safe(tags)}".rstrip()
        for problem in status.problems:
            yield self._paint(
                "red", f"failed     {safe(problem.path)}: {safe(problem.problem or '')}"
            )

    def _config(self, config: "Config") -> Iterable[str]:
        yield self._paint("dim", f"base {config.base}")
        width = max(len(line.key) for line in config.settings)
        for line in config.settings:
            value = ",".join(line.value) if isinstance(line.value, tuple) else line.value
            yield (
                f"{line.key:<{width}}  {safe(str(value)):<8} {line.origin:<12}"
                f" {self._paint('dim', line.about)}"
            )

    def _profiles(self, profiles: "Profiles") -> Iterable[str]:
        for line in profiles.profiles:
            mark = " (default)" if line.default else ""
            yield f"{self._paint('cyan', safe(line.name))}{mark}: {safe(line.about)}"
            for field in line.fields:
                yield (
                    f"  {field.field:<18} {safe(_value(field.value)):<24} {field.origin:<8}"
                    f" {self._paint('dim', field.about)}"
                )

    def _why_not(self, why: "WhyNot") -> Iterable[str]:
        yield f"{self._paint('cyan', safe(why.code))}: {self._paint('bold', safe(why.title))}"
        yield f"  {self._paint('bold', why.stage)}: {safe(why.reason)}"
        for leg in why.legs:
            place = f"rank {leg.rank}, raw {leg.raw:.4f}" if leg.rank else "does not find it"
            yield f"  {leg.leg:<9} {place} (the first {leg.depth} are candidates)"
        if why.score is not None:
            needed = f", needed {why.needed:.6f}" if why.needed is not None else ""
            margin = f", short by {why.margin:.6f}" if why.margin is not None else ""
            yield f"  score {why.score:.6f}{needed}{margin}"

    def _evaluation(self, evaluation: "Evaluation") -> Iterable[str]:
        from knowbase.cli.scores import scores

        return scores(evaluation, self._paint)

    # filling

    def _made(self, made: "Made") -> Iterable[str]:
        yield f"{'base ready' if made.is_new else 'there is a base already'}: {made.base}"
        yield self._paint("dim", "next: kb add FOLDER")

    def _noted(self, document: "Document") -> Iterable[str]:
        tags = " ".join(f"#{tag}" for tag in document.tags)
        code = self._paint("cyan", safe(document.code))
        line = f"{code}: {safe(document.title)} ({safe(document.type)})"
        yield f"{line} {safe(tags)}".rstrip()

    def _report(self, report: "Report") -> Iterable[str]:
        counts = (
            ("added", len(report.added)),
            ("changed", len(report.changed)),
            ("moved", len(report.moved)),
            ("unchanged", report.unchanged),
            ("removed", len(report.removed)),
            ("skipped", len(report.skipped)),
            ("failed", len(report.failed)),
        )
        shown = [f"{number} {word}" for word, number in counts if number or word == "added"]
        yield (
            ", ".join(shown)
            + f" · {report.chunks_embedded} chunks embedded, {report.chunks_reused} reused"
            + (f", {report.chunks_waiting} wait for kb embed" if report.chunks_waiting else "")
        )
        yield from self._problems("skipped", report.skipped)
        yield from self._problems("failed", report.failed)
        for warning in report.warnings:
            yield self._paint("red", "warning: ") + safe(warning)
        if report.interrupted:
            yield self._paint("red", "interrupted: ") + "what is listed is stored; run it again"

    def _problems(self, word: str, problems: Any) -> Iterable[str]:
        for problem in problems[:MOST_LISTED]:
            yield f"  {self._paint('dim', word)} {safe(problem.path)}: {safe(problem.reason)}"
        if len(problems) > MOST_LISTED:
            yield f"  … and {len(problems) - MOST_LISTED} more {word} (--json lists all)"

    def _removal(self, removal: "Removal") -> Iterable[str]:
        verb = "would remove" if removal.dry_run else "removed"
        for source in removal.sources:
            yield f"{verb} source {safe(source)}"
        for document in removal.documents:
            yield f"{verb} {safe(document.code)}: {safe(document.title)}"
        yield self._paint("dim", f"{verb} {len(removal.documents)} documents; files stay on disk")


def _coverage(answer: "Answer") -> str:
    """How much meaning can find, when it is not all."""
    share = answer.semantic_coverage
    if share == 1 or answer.filters["mode"] == "keyword":
        return ""
    return f" · {int(share * 100)} % has a vector (kb embed makes the rest)"


def _value(value: Any) -> str:
    """A constant on one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_value(one)}" for key, one in value.items()) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
