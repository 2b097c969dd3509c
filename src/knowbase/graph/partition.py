"""Groups of what is linked closely, by modularity: Louvain (Blondel et al. 2008) and Leiden
(Traag et al. 2019). The same links and seed give the same groups."""

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Numbers: TypeAlias = NDArray[np.integer]
Weights: TypeAlias = NDArray[np.floating]
Groups: TypeAlias = list[int]
"""The number of the group of each place."""

LEAST_GAIN = 1e-12  # of the last bits of a sum nothing is decided
LEAST_RISE = 1e-5  # of the modularity by a round of Leiden, or it is the last


class Mesh(NamedTuple):
    """Places and the links between them, each at both of its ends and there once."""

    begins: list[int]  # the links of place p are those from begins[p] to begins[p + 1]
    ends: list[int]
    weights: list[float]
    strengths: list[float]  # of each place, its links and twice what it holds within itself
    total: float  # of all strengths

    def links(self, place: int) -> Iterator[tuple[int, float]]:
        """Where the links of a place lead, and what they weigh."""
        first, last = self.begins[place], self.begins[place + 1]
        return zip(self.ends[first:last], self.weights[first:last], strict=True)


def mesh(size: int, sources: Numbers, targets: Numbers, weights: Weights) -> Mesh:
    """Links in either direction count as one; those of a place with itself as its strength."""
    inner = sources == targets
    strengths = np.bincount(sources, weights, size) + np.bincount(targets, weights, size)
    keys, of_link = np.unique(
        np.concatenate((sources * size + targets, targets * size + sources))[~np.tile(inner, 2)],
        return_inverse=True,
    )
    sums = np.bincount(of_link, np.tile(weights, 2)[~np.tile(inner, 2)], len(keys))
    begins = np.searchsorted(keys, np.arange(size + 1) * size)
    return Mesh(
        begins.tolist(),
        (keys % max(1, size)).tolist(),
        sums.tolist(),
        strengths.tolist(),
        float(strengths.sum()),
    )


def louvain(whole: Mesh, resolution: float, seed: int) -> Groups:
    """Places move to where they gain most; groups become places, and it begins anew."""
    chance = random.Random(seed)  # noqa: S311 - no secret: the same groups each time
    groups, part = list(range(len(whole.strengths))), whole
    while True:
        moved = list(range(len(part.strengths)))
        if not _move(part, moved, resolution, chance):
            return groups
        number = _numbered(moved)
        groups = [number[moved[group]] for group in groups]
        part = _merged(part, [number[group] for group in moved])


def leiden(whole: Mesh, resolution: float, seed: int) -> Groups:
    """As Louvain, but what becomes one place is connected, and groups can come apart again."""
    chance = random.Random(seed)  # noqa: S311 - no secret: the same groups each time
    groups, quality = list(range(len(whole.strengths))), -math.inf
    while True:
        better = _leiden_round(whole, list(groups), resolution, chance)
        reached = modularity(whole, better, resolution)
        if reached < quality + LEAST_RISE:
            return groups
        groups, quality = better, reached


def _leiden_round(whole: Mesh, groups: Groups, resolution: float, chance: random.Random) -> Groups:
    part, place = whole, list(range(len(groups)))  # of each place of the whole, its place in part
    while True:
        _move(part, groups, resolution, chance)
        number = _numbered(groups)
        groups = [number[group] for group in groups]
        refined = _refined(part, groups, resolution, chance)
        into = _numbered(refined)
        if len(into) == len(refined):  # nothing joins any more
            return [groups[at] for at in place]
        above = [0] * len(into)
        for at, one in enumerate(refined):
            above[into[one]] = groups[at]
        place = [into[refined[at]] for at in place]
        part = _merged(part, [into[one] for one in refined])
        groups = above


def modularity(whole: Mesh, groups: Groups, resolution: float = 1.0) -> float:
    """How much more is within the groups than chance would put there (Newman 2004)."""
    if not whole.total:
        return 0.0
    group = np.array(groups)
    is_outside = group[whole.ends] != np.repeat(group, np.diff(whole.begins))
    outside = np.array(whole.weights)[is_outside].sum()
    by_chance = np.square(np.bincount(group, whole.strengths) / whole.total).sum()
    return float(1 - outside / whole.total - resolution * by_chance)


def _numbered(groups: Iterable[int]) -> dict[int, int]:
    """Groups from 0 on, in the order of their first places."""
    number: dict[int, int] = {}
    for group in groups:
        number.setdefault(group, len(number))
    return number


def _sums(part: Mesh, groups: Groups) -> list[float]:
    sums = [0.0] * len(groups)
    for strength, group in zip(part.strengths, groups, strict=True):
        sums[group] += strength
    return sums


def _merged(part: Mesh, groups: Groups) -> Mesh:
    """Each group as one place."""
    sizes = np.diff(np.array(part.begins))
    group = np.array(groups)
    size = max(groups) + 1
    sources, targets = np.repeat(group, sizes), group[np.array(part.ends, dtype=np.int64)]
    across = sources < targets  # each link is there twice
    merged = mesh(size, sources[across], targets[across], np.array(part.weights)[across])
    strengths = np.bincount(group, np.array(part.strengths), size)
    return merged._replace(strengths=strengths.tolist(), total=part.total)


def _move(part: Mesh, groups: Groups, resolution: float, chance: random.Random) -> bool:
    """Bring each place to the group where it gains most, until none gains; whether any did."""
    if not part.total:
        return False
    sums = _sums(part, groups)
    order = list(range(len(groups)))
    chance.shuffle(order)
    waiting, is_waiting = deque(order), bytearray(b"\1" * len(groups))
    is_moved = False
    while waiting:
        place = waiting.popleft()
        is_waiting[place] = 0
        own, best = groups[place], _best_group(part, groups, sums, place, resolution)
        if best == own:
            continue
        is_moved = True
        groups[place] = best
        sums[own] -= part.strengths[place]
        sums[best] += part.strengths[place]
        for end in part.ends[part.begins[place] : part.begins[place + 1]]:
            if not is_waiting[end] and groups[end] != best:
                is_waiting[end] = 1
                waiting.append(end)
    return is_moved


def _best_group(
    part: Mesh, groups: Groups, sums: list[float], place: int, resolution: float
) -> int:
    """Where a place gains most; where it is, when nothing is better."""
    toward = _toward(part, groups, place)
    own, strength = groups[place], part.strengths[place]
    share = resolution * strength / part.total
    best = own
    most = toward.pop(own, 0.0) - share * (sums[own] - strength) + LEAST_GAIN
    for group, weight in toward.items():
        if weight > most:  # no group has a sum below nothing: most need not be looked at further
            gain = weight - share * sums[group]
            if gain > most:
                best, most = group, gain
    return best


def _toward(part: Mesh, groups: Groups, place: int) -> dict[int, float]:
    """How much links a place with each group."""
    toward: dict[int, float] = {}
    first, last = part.begins[place], part.begins[place + 1]
    of_ends = map(groups.__getitem__, part.ends[first:last])
    for group, weight in zip(of_ends, part.weights[first:last], strict=True):
        if group in toward:
            toward[group] += weight
        else:
            toward[group] = weight
    return toward


class _Refining:
    """Groups within groups: places that are linked well enough with their group join what they
    gain most by. Each begins alone, and who has company stays."""

    def __init__(self, part: Mesh, groups: Groups, resolution: float) -> None:
        self._part, self._groups = part, groups
        self._share = resolution / (part.total or 1)
        self._whole = _sums(part, groups)
        self._sums = list(part.strengths)
        self._across = [_toward(part, groups, at).get(own, 0.0) for at, own in enumerate(groups)]
        self._is_alone = bytearray(b"\1" * len(groups))
        self.refined = list(range(len(groups)))

    def visit(self, place: int) -> None:
        if not self._is_alone[place] or not self._is_well_linked(place):
            return
        toward = self._toward(place)
        share = self._share * self._part.strengths[place]
        gains = {
            group: gain
            for group, weight in toward.items()
            if (gain := weight - share * self._sums[group]) >= 0 and self._is_well_linked(group)
        }
        if gains:
            best = max(gains, key=gains.__getitem__)
            self._across[best] += self._across[place] - 2 * toward[best]
            self._sums[best] += self._part.strengths[place]
            self._is_alone[place] = self._is_alone[best] = 0
            self.refined[place] = best

    def _is_well_linked(self, group: int) -> bool:
        """A group is called as the place that it began with."""
        size = self._sums[group]
        rest = self._whole[self._groups[group]] - size
        return self._across[group] >= self._share * size * rest

    def _toward(self, place: int) -> dict[int, float]:
        own = self._groups[place]
        toward: dict[int, float] = {}
        for end, weight in self._part.links(place):
            if self._groups[end] == own:
                group = self.refined[end]
                toward[group] = toward.get(group, 0.0) + weight
        return toward


def _refined(part: Mesh, groups: Groups, resolution: float, chance: random.Random) -> Groups:
    order = list(range(len(groups)))
    chance.shuffle(order)
    refining = _Refining(part, groups, resolution)
    for place in order:
        refining.visit(place)
    return refining.refined
