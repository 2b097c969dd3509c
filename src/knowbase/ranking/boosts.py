"""What a document itself adds to a score, or multiplies it by."""

import math
from typing import NamedTuple

from knowbase.ranking.fusion import Contribution
from knowbase.ranking.kinds import USES, kind_of, names_code
from knowbase.ranking.profile import Profile
from knowbase.ranking.titles import Titles
from knowbase.values.documents import Document, is_in
from knowbase.values.times import days_between


class Factor(NamedTuple):
    """One multiplier of a score."""

    name: str
    value: float
    because: str


def signals(document: Document, profile: Profile, now: str) -> tuple[Contribution, ...]:
    """Addends that do not depend on the query: salience and recency."""
    found = []
    if "salience" in profile.weights:
        found.append(_signal("salience", document.salience, document.salience, profile))
    if "recency" in profile.weights:
        age = max(0.0, days_between(getattr(document, profile.recency_clock), now))
        value = math.exp(-profile.recency_rate * age)  # S2-12
        found.append(_signal("recency", age, value, profile))
    return tuple(found)


def _signal(name: str, raw: float, value: float, profile: Profile) -> Contribution:
    weight = profile.weights[name]
    return Contribution(name, None, raw, value, weight, weight * value)


class Fit:
    """How well documents fit a query by what they are and what they are called."""

    def __init__(self, text: str, profile: Profile) -> None:
        self._profile = profile
        self._titles = Titles(text) if text and profile.title_boost else None
        self._names_code = bool(profile.kind_weights) and names_code(text)
        self._known: dict[int, tuple[Factor, ...]] = {}  # by seq: a document has many chunks

    def factors(self, document: Document) -> tuple[Factor, ...]:
        known = self._known.get(document.seq)
        if known is None:
            known = self._known[document.seq] = self._factors(document)
        return known

    def _factors(self, document: Document) -> tuple[Factor, ...]:
        found = []
        kind = kind_of(document) if self._profile.kind_weights else None
        if kind and (kind in USES or not self._names_code):
            found.append(Factor("kind", self._profile.kind_weights.get(kind, 1.0), kind))
        match = self._titles.match(document) if self._titles else 0.0
        if match:
            boost = 1 + self._profile.title_boost * match
            found.append(Factor("title", boost, f"called {document.title}"))
        return tuple(factor for factor in found if factor.value != 1.0)


def factors(document: Document, profile: Profile, now: str) -> tuple[Factor, ...]:
    """Multipliers, in the order in which they are applied; a factor of one is left out."""
    found = []
    if profile.type_weights:
        weight = profile.type_weights.get(document.type, 1.0)  # S0-15
        found.append(Factor("type", weight, document.type))
    if profile.access_boost:
        boost = 1 + math.log(1 + document.access_count)  # S0-16
        found.append(Factor("access", boost, f"used {document.access_count} times"))
    if profile.sector_weights:
        weight = profile.sector_weights.get(document.sector or "", 1.0)  # S2-10
        found.append(Factor("sector", weight, document.sector or "no sector"))
    if is_in(document, "superseded", now):
        found.append(Factor("superseded", profile.superseded_factor, "superseded"))  # S2-13
    return tuple(factor for factor in found if factor.value != 1.0) if found else ()
