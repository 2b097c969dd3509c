"""An evaluation as a Markdown page."""

from collections.abc import Iterator, Sequence

from knowbase.evaluate.evaluation import Evaluation
from knowbase.evaluate.metrics import LABELS, METRICS


def markdown(evaluation: Evaluation) -> str:
    return "\n".join(_lines(evaluation)) + "\n"


def _lines(evaluation: Evaluation) -> Iterator[str]:
    yield f"# {evaluation.target}"
    yield ""
    yield about(evaluation)
    yield ""
    yield from _scores(evaluation)
    yield from _differences(evaluation)
    yield from _groups(evaluation)
    yield from _hard(evaluation)
    yield from _telling(evaluation)
    if evaluation.gate is not None:
        yield from ("", f"Against {evaluation.gate.baseline}:", "")
        yield from (f"- {line}" for line in gate_lines(evaluation))


def about(evaluation: Evaluation) -> str:
    """How much was asked of how much."""
    none = f" and {evaluation.unanswerable} without an answer" if evaluation.unanswerable else ""
    return f"{evaluation.questions} questions{none} · {evaluation.documents} documents"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(row) + " |"


def _scores(evaluation: Evaluation) -> Iterator[str]:
    unanswerable = bool(evaluation.unanswerable)
    head = ["", *LABELS.values(), "p50 ms", "p95 ms", *["no answer"] * unanswerable]
    rows = [
        [
            system.name,
            *(f"{system.metrics[metric]:.3f}" for metric in METRICS),
            f"{system.p50_ms:.1f}",
            f"{system.p95_ms:.1f}",
            *([] if system.no_answer is None else [f"{system.no_answer:.3f}"]),
        ]
        for system in evaluation.systems
    ]
    yield from _table(head, rows)


def _differences(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.differences:
        return
    yield ""
    yield (
        "Differences with their 95 % intervals (paired bootstrap); bold: significant among all"
        " comparisons of its metric (Holm)."
    )
    yield ""
    pairs: dict[tuple[str, str], dict[str, str]] = {}
    for one in evaluation.differences:
        cell = f"{one.mean:+.3f} ({one.low:+.3f} … {one.high:+.3f})"
        cells = pairs.setdefault((one.system, one.against), {})
        cells[one.metric] = f"**{cell}**" if one.significant else cell
    yield from _table(
        ["", *LABELS.values()],
        [
            [f"{system} − {against}", *(cells[metric] for metric in METRICS)]
            for (system, against), cells in pairs.items()
        ],
    )


def _groups(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.groups:
        return
    names = [system.name for system in evaluation.systems]
    yield from ("", "nDCG@10 by part:", "")
    yield from _table(
        ["", "questions", *names],
        [
            [group.name, str(group.questions), *(f"{group.ndcg[name]:.3f}" for name in names)]
            for group in evaluation.groups
        ],
    )


def _hard(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.hard:
        return
    yield from ("", "Questions that a leg alone answers better, by nDCG@10 lost:", "")
    rows = [
        [
            _cell(one.question),
            f"{one.system} {one.ndcg:.3f}",
            f"{one.better} {one.better_ndcg:.3f}",
            _cell(f"{one.why.code}: {one.why.reason}") if one.why else "",
        ]
        for one in evaluation.hard
    ]
    yield from _table(["question", "reached", "the better leg", "the relevant document"], rows)


def _telling(evaluation: Evaluation) -> Iterator[str]:
    if not evaluation.telling:
        return
    yield from ("", "Whether the verdict tells questions that have no answer here:", "")
    yield from _table(
        ["", "questions", "AUROC", "pass at 95 % kept", "kept as it is", "passed as it is"],
        [
            [
                one.others,
                str(one.number),
                *(f"{cell:.3f}" for cell in (one.auroc, one.passing, one.kept, one.passed)),
            ]
            for one in evaluation.telling
        ],
    )


def _cell(text: str) -> str:
    """Text of others in a table."""
    return " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")


def gate_lines(evaluation: Evaluation) -> Iterator[str]:
    """What the gate says, a line a fall."""
    gate = evaluation.gate
    if gate is None:
        return
    if not gate.falls:
        yield (
            f"nothing fell: {', '.join(gate.systems)} on {gate.questions} questions"
            " are not significantly under the stored values"
        )
    for fall in gate.falls:
        yield (
            f"{fall.system}: {LABELS[fall.metric]} fell from {fall.stored:.3f} to {fall.now:.3f}"
            f" ({fall.low:+.3f} … {fall.high:+.3f})"
        )
