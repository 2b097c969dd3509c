"""What a person reads of documents, tags, the base and its settings."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import (
    Painter,
    counted,
    ending,
    hashtag,
    minute,
    safe,
    safe_lines,
    states_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from knowbase.base.settings_file import SettingChange
    from knowbase.base.status import Status
    from knowbase.operations.finding import Tags
    from knowbase.operations.settings import Config
    from knowbase.text.sections import Content
    from knowbase.values.documents import Listing
    from knowbase.values.folders import Folder


MOST_LINES = 12  # of files that were not read


def render_content(_: Painter, content: "Content") -> Iterable[str]:
    yield safe_lines(content.text)


def _hidden(numbers: "Mapping[str, int]") -> str:
    """Of documents that are hidden, how many by which state, and how they are shown."""
    told = ", ".join(f"{number} {state}" for state, number in numbers.items())
    return f"{told}: --include {','.join(numbers)}"


def render_listing(paint: Painter, listing: "Listing") -> Iterable[str]:
    width = max((len(document.code) for document in listing.documents), default=0)
    for document in listing.documents:
        line = f"{paint('cyan', safe(document.code).ljust(width))}  {safe(document.title)}"
        more = [hashtag(tag) for tag in document.tags]
        more += [f"expires {document.expires_at[:10]}"] if document.expires_at else []
        more += states_of(document)
        dim = paint("dim", " ".join(more))
        yield f"{line} ({safe(document.type)})" + (f" {dim}" if more else "")
    shown = f"{len(listing.documents)} of {counted(listing.total, 'document')}"
    yield paint("dim", shown + (f"; {_hidden(listing.hidden)}" if listing.hidden else ""))
    for notice in listing.notices:
        yield paint("red", "note: ") + safe(notice)


def render_folder(paint: Painter, result: "Folder") -> Iterable[str]:
    from knowbase.values.documents import Listing

    for one in result.folders:
        yield f"{one.documents:6}  {paint('cyan', safe(one.folder))}"
    yield from render_listing(paint, Listing(result.documents, result.total, result.notices))


def render_tags(paint: Painter, tags: "Tags") -> Iterable[str]:
    for line in tags.tags:
        yield f"{line.documents:6}  {safe(line.tag)}"
    yield paint("dim", f"{len(tags.tags)} tag{ending(len(tags.tags))}")


def render_status(paint: Painter, status: "Status") -> Iterable[str]:
    model = status.model
    size = "" if status.size_bytes is None else f" ({status.size_bytes / 1e6:.1f} MB)"
    yield f"base       {safe(status.base)}{size}"
    if status.copy_of is not None:
        yield paint("red", "unfinished ") + safe(
            f"copy of {status.copy_of}: kb move or kb import goes on with it"
        )
    if status.lost_writes:
        yield paint("red", "incomplete ") + "its journal was deleted: kb sync reads the files again"
    yield from _documents(status)
    yield f"chunks     {status.chunks}, {status.embedded} with a vector"
    yield f"tags       {status.tags}"
    yield f"model      {safe(f'{model.name} ({model.revision})') if model else 'none used yet'}"
    yield from _index(status)
    yield from _replicas(status)
    yield from _cluster(status)
    if newer := status.newer_model:
        yield f"newer      {safe(f'{newer.name} ({newer.revision})')}, more precise: kb embed"
    for other in status.models:
        if not other.active:
            name = safe(f"{other.model.name} ({other.model.revision})")
            of = f"{other.vectors} of {counted(status.chunks, 'chunk')}"
            yield f"beside     {name}, {of}, not in use"
    for source in status.sources:
        tags = "".join(f" {hashtag(tag)}" for tag in source.tags)
        synced = f", synced {minute(source.synced_at)}" if source.synced_at else ""
        watched = ", watched" if source.is_watched else ""
        yield f"source     {safe(source.path)}{tags}{synced}{watched}"
    if status.out_of_step:
        were = "document was" if status.out_of_step == 1 else "documents were"
        said = f"{status.out_of_step} {were} split by other settings or an older version"
        yield f"other      {said}: kb sync"
    yield from _not_read(status)
    for problem in status.problems:
        yield paint("red", f"failed     {safe(problem.path)}: {safe(problem.problem or '')}")


def _documents(status: "Status") -> Iterable[str]:
    kinds = ", ".join(f"{number} {safe(name)}" for name, number in status.types.items())
    yield f"documents  {status.documents}" + (f" ({kinds})" if kinds else "")
    if status.hidden:
        yield f"hidden     {_hidden(status.hidden)}"
    if status.forgotten:
        yield f"forgotten  {status.forgotten} (kb restore lists them)"


def _index(status: "Status") -> Iterable[str]:
    if index := status.vector_index:
        behind = f", {index.behind} behind" if index.behind else ""
        told = f"of {index.vectors} vectors{behind}" if index.vectors else "to be made anew"
        yield f"index      {told}"


def _replicas(status: "Status") -> Iterable[str]:
    for one in status.replicas:
        lag = "" if one.behind_seconds is None else f", {one.behind_seconds:g} s behind"
        why = f": {one.reason}" if one.reason else ""
        yield f"replica    {safe(one.base)} {one.state}{lag}{safe(why)}"


def _cluster(status: "Status") -> Iterable[str]:
    if cluster := status.cluster:
        workers = counted(len(cluster.workers), "worker")
        yield f"cluster    {counted(cluster.shards, 'shard')} on {workers}"
        for one in cluster.workers:
            held = f"{counted(one.shards, 'shard')}, "
            size = "does not answer" if one.size_bytes is None else f"{one.size_bytes / 1e6:.1f} MB"
            yield f"worker     {safe(one.server)}: {held}{size}"


def _not_read(status: "Status") -> Iterable[str]:
    """What was left out and why, and what perhaps should have been."""
    for left in status.unread[:MOST_LINES]:
        kind = f" {safe(left.extension)}" if left.extension else ""
        files = f"{left.files}{kind} file{'s' * (left.files != 1)}"
        yield f"not read   {files}: {safe(left.reason)} (such as {safe(left.example)})"
    if len(status.unread) > MOST_LINES:
        yield f"not read   … and {len(status.unread) - MOST_LINES} more kinds (--json lists all)"
    for suspect in status.suspects[:MOST_LINES]:
        word, told = ("large", "") if suspect.large else ("perhaps", " (kb rm takes it out)")
        yield f"{word:<10} {safe(suspect.path)}: {safe(suspect.reason)}{told}"
    if len(status.suspects) > MOST_LINES:
        yield f"perhaps    … and {len(status.suspects) - MOST_LINES} more (--json lists all)"


def render_config(paint: Painter, config: "Config") -> Iterable[str]:
    yield paint("dim", f"base {safe(config.base)}")
    width = max(len(line.key) for line in config.settings)
    for line in config.settings:
        value = ",".join(line.value) if isinstance(line.value, tuple) else line.value
        yield (
            f"{line.key:<{width}}  {safe(str(value)):<8} {line.origin:<12}"
            f" {paint('dim', line.about)}"
        )


def render_setting(paint: Painter, change: "SettingChange") -> Iterable[str]:
    would = "would be " if change.dry_run else ""
    yield f"{change.key} {would}{safe(str(change.value))} ({change.origin}), was {change.before!r}"
    for line in change.diff:
        yield paint("dim", f"  {safe(line)}")
