"""What a person reads of a base's health."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, counted, minute, safe

if TYPE_CHECKING:
    from knowbase.base.doctor import Diagnosis
    from knowbase.base.tasks import TaskLine, TaskList
    from knowbase.operations.daemon import Waiting
    from knowbase.search.log import Searches

_STYLES = {"error": "red", "warning": "mark", "info": "dim"}


def render_diagnosis(paint: Painter, result: "Diagnosis") -> Iterable[str]:
    yield paint("bold", result.summary)
    for one in result.findings:
        detail = f": {safe(one.detail)}" if one.detail else ""
        yield f"{paint(_STYLES[one.severity], f'{one.severity:<8}')} {safe(one.what)}{detail}"
        for example in one.examples:
            yield paint("dim", f"           {safe(example)}")
        if one.command:
            yield f"           → {safe(one.command)}"
    for client in result.clients:
        yield paint("dim", f"agents   {client.client} ({safe(client.path)})")
    if result.disk is not None:
        used, free = result.disk[:2]
        yield paint("dim", f"disk     {used / 1e6:,.1f} MB used, {free / 1e9:,.1f} GB free")
    told = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    yield paint("dim", f"versions {safe(told)}")


def render_waiting(paint: Painter, result: "Waiting") -> Iterable[str]:
    if result.stopped:
        yield f"ended: process {result.pid}"
    elif result.running:
        yield f"process {result.pid} waits, and has answered {counted(result.answered, 'command')}"
        yield paint("dim", f"it ends after {result.ends_after} s without one")
    else:
        yield "no process waits"
    if result.socket is not None:
        yield paint("dim", f"socket {safe(result.socket)}")


def render_searches(paint: Painter, result: "Searches") -> Iterable[str]:
    yield f"{result.count} searches, {result.without_hits} without a hit"
    if result.latency_ms.p50 is not None and result.latency_ms.p95 is not None:
        times = f"half within {result.latency_ms.p50:.0f} ms, 95 % within"
        yield f"{times} {result.latency_ms.p95:.0f} ms"
    if result.semantic_share is not None:
        yield f"by meaning too: {result.semantic_share:.0%}"
    for one in result.last_without_hits:
        yield f"found nothing: {safe(one.query)} {paint('dim', minute(one.at))}"
    for judged in result.feedback:
        asked = paint("dim", f" for {safe(judged.query)}") if judged.query else ""
        yield f"{judged.verdict}: {safe(judged.code)} {safe(judged.title)}{asked}"


def render_task(paint: Painter, task: "TaskLine") -> Iterable[str]:
    share = f" {task.done}/{task.total}" if task.total else ""
    what = " · ".join(filter(None, (safe(task.what), safe(task.result))))
    left = f", {task.left_s:.0f} s left" if task.left_s is not None else ""
    detail = paint("dim", f" {what}") if what else ""
    yield f"{task.id}: {task.task} {task.state}{share}{left}{detail}"


def render_tasks(paint: Painter, result: "TaskList") -> Iterable[str]:
    for task in result.tasks:
        yield from render_task(paint, task)
    if not result.tasks:
        yield paint("dim", "nothing is under way")
