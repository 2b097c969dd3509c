"""Profiles: ranking recipes as data. Each shipped one has the constants of its document."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from knowbase.ranking.fusion import RRF_K

LEGS = ("keyword", "semantic", "graph")
SIGNALS = (*LEGS, "salience", "recency")


TYPE_WEIGHTS: Mapping[str, float] = MappingProxyType(
    {"decision": 2.0, "lesson": 2.0, "summary": 0.5, "temp_note": 0.3}
)
"""S0-15; every other type counts 1."""


class Profile(NamedTuple):
    """What a search does with its words and its candidates."""

    name: str
    about: str
    source: str = ""  # the document whose constants it has
    match: str = "any"
    keyword: str = "bm25"
    fusion: str = "rrf"
    rrf_k: float = RRF_K
    weights: Mapping[str, float] = {"keyword": 1.0, "semantic": 1.0}
    intents: Mapping[str, Mapping[str, float]] = {}
    depth: int = 3
    depth_least: int = 0
    depth_fixed: int = 0
    min_similarity: float = -1.0
    fluent_at: float = 0.0
    foreign_at: float = 0.0
    word_first: bool = False
    field_weights: Mapping[str, float] = {"title": 1.0, "heading": 1.0, "text": 1.0, "terms": 1.0}
    keyword_full_at: float = 10.0
    recency_rate: float = 0.0
    recency_clock: str = "created_at"
    type_weights: Mapping[str, float] = {}
    sector_weights: Mapping[str, float] = {}
    access_boost: bool = False
    superseded_factor: float = 1.0
    kind_weights: Mapping[str, float] = {}
    title_boost: float = 0.0
    leads_on: float = 0.0
    further_factor: float = 1.0
    clamp: bool = False
    unit: str = "chunk"
    copies: str = "apart"
    tags_match: str = "all"
    default_top: int = 10
    max_top: int = 1000
    record_use: str = "off"
    fills_up: bool = False
    rerank: float = 0.0
    diverse: float = 0.0

    def candidates(self, top: int) -> int:
        """How many chunks each leg proposes."""
        return self.depth_fixed or max(self.depth * top, self.depth_least)

    def weights_for(self, intent: str) -> Mapping[str, float]:
        """The legs' weights, which may depend on what the query asks for."""
        return self.intents.get(intent, self.weights)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(
            "kb",
            "files and notes; both legs count alike",
            source="S1",
            record_use="confirmed",
        ),
        Profile(
            "typed",
            "decisions and lessons first, what is used often higher",
            source="S0",
            match="all",
            type_weights=TYPE_WEIGHTS,
            access_boost=True,
            unit="document",
            record_use="confirmed",
        ),
        Profile(
            "memory",
            "an agent's memories: meaning, words, salience and recency",
            source="S2",
            match="any_prefix",
            fusion="linear",
            weights={"semantic": 0.4, "keyword": 0.25, "salience": 0.2, "recency": 0.15},
            depth=2,
            recency_rate=0.05,
            sector_weights={
                "reflective": 1.2,
                "semantic": 1.1,
                "procedural": 1.0,
                "emotional": 0.9,
                "episodic": 0.8,
            },
            superseded_factor=0.5,
            clamp=True,
            unit="document",
            record_use="returned",
        ),
        Profile(
            "work",
            "work documents: weights follow what the query asks for",
            source="S3",
            match="boolean",
            fusion="minmax",
            weights={"keyword": 0.7, "semantic": 0.2, "graph": 0.1},
            intents={
                "keyword": {"keyword": 0.7, "semantic": 0.2, "graph": 0.1},
                "semantic": {"keyword": 0.2, "semantic": 0.7, "graph": 0.1},
                "graph": {"keyword": 0.1, "semantic": 0.3, "graph": 0.6},
            },
            depth=1,
            min_similarity=0.5,
            unit="document",
            default_top=15,
            record_use="confirmed",
        ),
        Profile(
            "entries",
            "a team's entries for agents: meaning before words",
            source="S4",
            match="all",
            weights={"semantic": 0.7, "keyword": 0.3},
            depth_fixed=100,
            min_similarity=0.3,
            unit="document",
            tags_match="any",
            max_top=50,
            record_use="confirmed",
        ),
        Profile(
            "best",
            "what measurement says: each leg counts by how much it tells apart",
            source="docs/ranking.md",
            fusion="lift",
            weights={"keyword": 1.0, "semantic": 1.5},
            depth_least=100,
            fluent_at=0.3,
            foreign_at=0.6,
            fills_up=True,
            copies="together",
            kind_weights={"code": 0.85, "data": 0.85, "test": 0.7, "example": 0.7},
            title_boost=0.4,
            leads_on=0.65,
            further_factor=0.85,
            word_first=True,
            record_use="confirmed",
            rerank=0.5,
        ),
    )
}
