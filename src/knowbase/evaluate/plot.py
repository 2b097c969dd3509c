"""An evaluation as a picture: each system's metrics as bars, a plain SVG file."""

from collections.abc import Iterator
from html import escape

from knowbase.evaluate.evaluation import Evaluation
from knowbase.evaluate.markdown import about
from knowbase.evaluate.metrics import LABELS, METRICS

_COLOURS = ("#2b6cb0", "#dd6b20", "#2f855a", "#805ad5", "#b83280", "#718096")
_BAR, _GAP, _HEIGHT = 22, 30, 240
_LEFT, _TOP, _BOTTOM = 48, 64, 40


def plot(evaluation: Evaluation) -> str:
    """Bars from 0 to 1, a group for each metric, a colour for each system."""
    group = _BAR * len(evaluation.systems) + _GAP
    width = max(_LEFT + group * len(METRICS) + _GAP, 480)
    height = _TOP + _HEIGHT + _BOTTOM
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
            f' viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
            f'<rect width="{width}" height="{height}" fill="white"/>',
            f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">'
            f"{escape(evaluation.target)}</text>",
            f'<text x="{width - 12}" y="20" text-anchor="end" fill="#555">'
            f"{escape(about(evaluation))}</text>",
            *_legend(evaluation),
            *_axis(width),
            *_bars(evaluation, group),
            "</svg>\n",
        )
    )


def _legend(evaluation: Evaluation) -> Iterator[str]:
    x = _LEFT
    for place, system in enumerate(evaluation.systems):
        yield f'<rect x="{x}" y="34" width="12" height="12" fill="{_colour(place)}"/>'
        yield f'<text x="{x + 17}" y="44">{escape(system.name)}</text>'
        x += 35 + 7 * len(system.name)


def _axis(width: int) -> Iterator[str]:
    for step in range(6):
        y = _TOP + _HEIGHT - _HEIGHT * step / 5
        yield f'<line x1="{_LEFT}" x2="{width - 12}" y1="{y:g}" y2="{y:g}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{y + 4:g}" text-anchor="end">{step / 5:.1f}</text>'


def _bars(evaluation: Evaluation, group: int) -> Iterator[str]:
    for column, metric in enumerate(METRICS):
        left = _LEFT + _GAP // 2 + column * group
        for place, system in enumerate(evaluation.systems):
            tall = _HEIGHT * system.metrics[metric]
            x, y = left + place * _BAR, _TOP + _HEIGHT - tall
            yield (
                f'<rect x="{x}" y="{y:.1f}" width="{_BAR - 3}" height="{tall:.1f}"'
                f' fill="{_colour(place)}"><title>{escape(system.name)} {LABELS[metric]}'
                f" {system.metrics[metric]:.3f}</title></rect>"
            )
            yield (
                f'<text x="{x + (_BAR - 3) / 2:g}" y="{y - 3:.1f}" font-size="8"'
                f' text-anchor="middle">{system.metrics[metric]:.2f}</text>'
            )
        middle = left + (group - _GAP) / 2
        yield (
            f'<text x="{middle:g}" y="{_TOP + _HEIGHT + 20}" text-anchor="middle">'
            f"{LABELS[metric]}</text>"
        )


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]
