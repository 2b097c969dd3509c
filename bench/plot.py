"""Lines of a few numbers as an SVG, both axes by powers of ten. No library draws it."""

from collections.abc import Sequence
from math import ceil, floor, log10
from typing import NamedTuple
from xml.sax.saxutils import escape

WIDE, HIGH = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 60, 150, 40, 40
COLOURS = ("#c0392b", "#2c3e50", "#2980b9", "#8e44ad", "#16a085", "#d35400", "#7f8c8d")
APART = 14  # between two names, at least


class Line(NamedTuple):
    """A name, and numbers (x, y) from left to right."""

    name: str
    points: Sequence[tuple[float, float]]


class _Scale(NamedTuple):
    """From a number to a place, by its logarithm."""

    low: float
    high: float
    start: float
    end: float

    def place(self, value: float) -> float:
        share = (log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def powers(self) -> list[float]:
        return [10.0**power for power in range(ceil(self.low), floor(self.high) + 1)]


def drawn(lines: Sequence[Line], title: str) -> str:
    """The picture."""
    across = [x for line in lines for x, _ in line.points]
    up = [y for line in lines for _, y in line.points]
    x = _Scale(log10(min(across)), log10(max(across)), LEFT, WIDE - RIGHT)
    y = _Scale(floor(log10(min(up))), ceil(log10(max(up))), HIGH - BOTTOM, TOP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {HIGH}" font-size="12"'
        ' font-family="sans-serif">',
        f'<rect width="{WIDE}" height="{HIGH}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{escape(title)}</text>',
    ]
    for value in y.powers():
        at = y.place(value)
        parts.append(f'<path d="M{LEFT} {at:.1f}H{WIDE - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')
    for value in sorted(set(across)):
        at = x.place(value)
        parts.append(
            f'<text x="{at:.1f}" y="{HIGH - BOTTOM + 18}" text-anchor="middle">{value:,.0f}'
            " chunks</text>"
        )
    names = _apart([(y.place(line.points[-1][1]), line.name) for line in lines])
    for line, colour in zip(lines, COLOURS, strict=False):
        path = "L".join(f"{x.place(one):.1f} {y.place(two):.1f}" for one, two in line.points)
        parts.append(f'<path d="M{path}" stroke="{colour}" stroke-width="2" fill="none"/>')
        parts.append(
            f'<text x="{WIDE - RIGHT + 8}" y="{names[line.name] + 4:.1f}" fill="{colour}">'
            f"{escape(line.name)} {line.points[-1][1]:.1f}</text>"
        )
    return "\n".join([*parts, "</svg>", ""])


def _apart(places: Sequence[tuple[float, str]]) -> dict[str, float]:
    """Where names stand beside the ends of their lines, none on another."""
    found: dict[str, float] = {}
    lowest = 0.0
    for place, name in sorted(places):
        lowest = max(place, lowest + APART)
        found[name] = lowest
    return found
