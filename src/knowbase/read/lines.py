"""From the places of words in a picture to lines, in the order in which a person reads them."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

_GAP = 0.4  # heights of a line: what is further apart are cells of a table
_FEWEST = 5  # lines of a column: fewer may be a table
_FULL = 0.55  # of a column that its lines fill: cells of a table do not
_STEPS = 40  # places in the middle of the page where columns may meet


class Piece(NamedTuple):
    """A text, and where it stands; y grows downwards."""

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def height(self) -> float:
        return self.bottom - self.top


def lines_of(pieces: Sequence[Piece]) -> list[str]:
    """Line for line, columns one after the other, cells of a table side by side."""
    gutter = _gutter(pieces)
    if gutter is None:
        return [_joined(row) for row in _rows(pieces)]
    lines: list[str] = []
    for band in _bands(pieces, gutter):
        for side in _sides(band, gutter):
            lines += [_joined(row) for row in _rows(side)]
    return lines


def _rows(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Those that stand at the same height, from the top."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda one: one.middle):
        row = rows[-1] if rows else []
        if row and row[0].top < piece.middle < row[0].bottom:
            row.append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda one: one.left) for row in rows]


def _joined(row: Sequence[Piece]) -> str:
    text = row[0].text
    for before, piece in pairwise(row):
        is_far = piece.left - before.right > _GAP * max(before.height, piece.height)
        text += (" | " if is_far else " ") + piece.text
    return text


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """Where two columns of text meet; None when there is one column, or a table."""
    if len(pieces) < 2 * _FEWEST:
        return None
    left, right = min(one.left for one in pieces), max(one.right for one in pieces)
    places = [left + (right - left) * (0.3 + 0.4 * step / _STEPS) for step in range(_STEPS + 1)]
    crossing = {at: sum(_crosses(one, at) for one in pieces) for at in places}
    best = [at for at in places if crossing[at] == min(crossing.values())]
    at = best[len(best) // 2]
    sides = _sides([one for one in pieces if not _crosses(one, at)], at)
    if crossing[at] * 4 > len(pieces) or any(len(side) < _FEWEST for side in sides):
        return None
    are_full = all(
        median(one.right - one.left for one in side) > _FULL * _width(side) for side in sides
    )
    return at if are_full else None


def _crosses(piece: Piece, at: float) -> bool:
    return piece.left < at < piece.right


def _sides(pieces: Iterable[Piece], at: float) -> tuple[list[Piece], list[Piece]]:
    """Left and right of it; what stands on both is the left's."""
    sides: tuple[list[Piece], list[Piece]] = ([], [])
    for piece in pieces:
        sides[piece.left >= at].append(piece)
    return sides


def _width(pieces: Sequence[Piece]) -> float:
    return max(one.right for one in pieces) - min(one.left for one in pieces)


def _bands(pieces: Sequence[Piece], at: float) -> list[list[Piece]]:
    """A heading over both columns ends what is above it."""
    bands: list[list[Piece]] = [[]]
    for piece in sorted(pieces, key=lambda one: one.middle):
        if _crosses(piece, at):
            bands += [[piece], []]
        else:
            bands[-1].append(piece)
    return [band for band in bands if band]
