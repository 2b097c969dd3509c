"""What a person reads of an evaluation."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe
from knowbase.evaluate.markdown import about, gate_lines
from knowbase.evaluate.metrics import LABELS, METRICS

if TYPE_CHECKING:
    from knowbase.evaluate.evaluation import Evaluation


def render_evaluation(paint: Painter, evaluation: "Evaluation") -> Iterable[str]:
    """Metrics and latencies, differences with their intervals, parts, the gate's word."""
    yield f"{paint('bold', safe(evaluation.target))} · {about(evaluation)}"
    yield ""
    yield from _metrics(paint, evaluation)
    yield ""
    yield from _differences(paint, evaluation)
    yield from _groups(paint, evaluation)
    yield from _hard(paint, evaluation)
    yield from _telling(paint, evaluation)
    if evaluation.gate is not None:
        style = "red" if evaluation.gate.falls else "dim"
        yield ""
        yield f"against {safe(evaluation.gate.baseline)}:"
        yield from (paint(style, "  " + safe(line)) for line in gate_lines(evaluation))
    for notice in evaluation.notices:
        yield paint("red", "note: ") + safe(notice)
    for path in evaluation.written:
        yield paint("dim", f"wrote {safe(path)}")


def _width(evaluation: "Evaluation") -> int:
    names = [system.name for system in evaluation.systems]
    return max(len(name) for name in (*names, *(group.name for group in evaluation.groups)))


def _metrics(paint: Painter, evaluation: "Evaluation") -> Iterable[str]:
    width, none = _width(evaluation), bool(evaluation.unanswerable)
    head = "".join(f"{label:>12}" for label in (*LABELS.values(), "p50 ms", "p95 ms"))
    yield paint("dim", " " * width + head + "   no answer" * none)
    for system in evaluation.systems:
        cells = "".join(f"{system.metrics[metric]:12.3f}" for metric in METRICS)
        times = f"{system.p50_ms:12.1f}{system.p95_ms:12.1f}"
        detail = "" if system.no_answer is None else f"{system.no_answer:12.3f}"
        yield paint("cyan", safe(system.name).ljust(width)) + cells + times + detail


def _differences(paint: Painter, evaluation: "Evaluation") -> Iterable[str]:
    if not evaluation.differences:
        return
    yield paint("dim", "difference, its 95 % interval (paired bootstrap); * is significant (Holm)")
    before = None
    width = max(len(f"{one.system} − {one.against}") for one in evaluation.differences)
    for one in evaluation.differences:
        pair = f"{one.system} − {one.against}"
        shown = "" if pair == before else pair
        before = pair
        mark = " *" if one.significant else ""
        yield (
            f"{safe(shown):<{width}}  {LABELS[one.metric]:<10}"
            f" {one.mean:+.3f}  {one.low:+.3f} … {one.high:+.3f}{mark}"
        )


def _groups(paint: Painter, evaluation: "Evaluation") -> Iterable[str]:
    if not evaluation.groups:
        return
    names = [system.name for system in evaluation.systems]
    width = _width(evaluation)
    yield ""
    head = "".join(f"{safe(name):>12}" for name in names)
    yield paint("dim", "nDCG@10".ljust(width) + "   questions" + head)
    for group in evaluation.groups:
        cells = "".join(f"{group.ndcg[name]:12.3f}" for name in names)
        yield f"{safe(group.name):<{width}}{group.questions:12}{cells}"


def _hard(paint: Painter, evaluation: "Evaluation") -> Iterable[str]:
    if not evaluation.hard:
        return
    yield ""
    yield paint("dim", "nDCG@10 lost beside the better leg, largest first")
    for one in evaluation.hard:
        loss = f"{one.ndcg - one.better_ndcg:+.3f}"
        yield f"{paint('red', loss)}  {safe(one.question)}"
        yield f"        {one.system} {one.ndcg:.3f}, {one.better} {one.better_ndcg:.3f}"
        if one.why is not None:
            yield paint("dim", f"        {safe(one.why.code)}: {safe(one.why.reason)}")


def _telling(paint: Painter, evaluation: "Evaluation") -> Iterable[str]:
    if not evaluation.telling:
        return
    yield ""
    head = ("questions", "AUROC", "pass at 95 %", "kept", "passed")
    yield paint("dim", "foreign set ".ljust(12) + "".join(f"{name:>14}" for name in head))
    for one in evaluation.telling:
        cells = (one.auroc, one.passing, one.kept, one.passed)
        yield f"{one.others:<12}{one.number:14}" + "".join(f"{cell:14.3f}" for cell in cells)
