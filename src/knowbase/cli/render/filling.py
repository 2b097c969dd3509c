"""What a person reads of what was put in, and of what was removed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from knowbase.cli.terminal import Painter, counted, hashtag, safe
from knowbase.config import DEFAULTS

if TYPE_CHECKING:
    from knowbase.ingest.ignoring import Ignored
    from knowbase.ingest.removal import Removal
    from knowbase.ingest.report import Report
    from knowbase.memory.bulk import WrittenNotes
    from knowbase.operations.filling import Made, SchemaSql
    from knowbase.values.documents import Document

MOST_LISTED = 10
MOST_ALIKE = 2  # files that are named although the same is said of each


def render_made(paint: Painter, made: "Made") -> Iterable[str]:
    yield f"{'base ready' if made.is_new else 'there is a base already'}: {safe(made.base)}"
    if made.cluster is not None:
        shards = counted(made.cluster.shards, "shard")
        workers = counted(len(made.cluster.workers), "worker")
        yield f"distributed by document: {shards} on {workers} of a Citus cluster"
    if made.profile != DEFAULTS.search_profile:
        yield f"ranking: {safe(made.profile)}"
    yield paint("dim", "next: kb add FOLDER")


def render_sql(_: Painter, made: "SchemaSql") -> Iterable[str]:
    yield from made.sql.splitlines()


def render_notes(paint: Painter, written: "WrittenNotes") -> Iterable[str]:
    for one in written.notes:
        yield paint("cyan", safe(one.code))
    for notice in written.notices:
        yield paint("red", "note: ") + safe(notice)


def render_note(paint: Painter, document: "Document") -> Iterable[str]:
    tags = " ".join(hashtag(tag) for tag in document.tags)
    code = paint("cyan", safe(document.code))
    line = f"{code}: {safe(document.title)} ({safe(document.type)})"
    yield f"{line} {tags}".rstrip()
    for notice in getattr(document, "notices", ()):
        yield paint("red", "note: ") + safe(notice)


def render_report(paint: Painter, report: "Report") -> Iterable[str]:
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
        + f" · {counted(report.chunks_embedded, 'chunk')} embedded, {report.chunks_reused} reused"
        + (f", {_waiting(report.chunks_waiting)} for kb embed" if report.chunks_waiting else "")
    )
    if report.versions:
        yield f"{counted(report.versions, 'version')} of files filled in from commits"
    yield from unread(paint, "skipped", report.skipped)
    yield from unread(paint, "failed", report.failed[report.failed_before :])
    before = (("skipped", report.skipped_before), ("failed", report.failed_before))
    known = ", ".join(f"{number} {word}" for word, number in before if number)
    if known:
        yield paint("dim", f"  {known} as before: kb status says why")
    for warning in report.warnings:
        yield paint("red", "warning: ") + safe(warning)
    if report.interrupted:
        then = ", and kb embed for the vectors that wait" if report.chunks_waiting else ""
        yield paint("red", "interrupted: ") + f"what is listed is stored; run it again{then}"


def _waiting(number: int) -> str:
    return f"{number} {'waits' if number == 1 else 'wait'}"


def unread(paint: Painter, word: str, problems: Any, what: str = "files") -> Iterable[str]:
    together, problems = _of_one_reason(problems)
    for reason, number in together.items():
        noun = "folders" if reason.startswith("the folder") else what
        yield f"  {paint('dim', word)} {number} {noun}: {safe(reason)}"
    for problem in problems[:MOST_LISTED]:
        yield f"  {paint('dim', word)} {safe(problem.path)}: {safe(problem.reason)}"
    if len(problems) > MOST_LISTED:
        yield f"  … and {len(problems) - MOST_LISTED} more {word} (--json lists all)"


def _of_one_reason(problems: Any) -> tuple[dict[str, int], list[Any]]:
    """What several files lack is said once, and the files that are left."""
    counts: dict[str, int] = {}
    for problem in problems:
        counts[problem.reason] = counts.get(problem.reason, 0) + 1
    together = {reason: number for reason, number in counts.items() if number > MOST_ALIKE}
    return together, [problem for problem in problems if problem.reason not in together]


def render_ignored(paint: Painter, result: "Ignored") -> Iterable[str]:
    for path in result.examples:
        yield f"  {safe(path)}"
    count = f"{result.documents:,} of {counted(result.of, 'document')}"
    told = f"{safe(result.pattern)} leaves out {count}"
    yield f"{told}, from the next kb sync on"
    verb = "would be" if result.dry_run else "is"
    yield paint("dim", f"the line {verb} in {safe(result.file)}")


def render_removal(paint: Painter, removal: "Removal") -> Iterable[str]:
    verb = "would remove" if removal.dry_run else "removed"
    for source in removal.sources:
        yield f"{verb} source {safe(source)}"
    for document in removal.documents:
        yield f"{verb} {safe(document.code)}: {safe(document.title)}"
    yield paint("dim", f"{verb} {counted(len(removal.documents), 'document')}; files stay on disk")
    for notice in removal.notices:
        yield paint("red", "note: ") + safe(notice)
