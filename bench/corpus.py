"""Text to measure with: made up, but always the same, with words as frequent as in real prose."""

import random
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from knowbase.base import Base, create
from knowbase.embed.granite import Granite
from knowbase.values.vectors import Vector

if TYPE_CHECKING:
    from knowbase.values.vectors import Model

_FUNCTION_WORDS = (
    "the of and to a in is that for it on with as are this be by or from at an not have was"
    " which when can has if but its will one they all after into before then more other each"
    " only so there we you must should may no than how them these while between"
)
_STEMS = (
    "deploy service release queue server log error file index search document folder config"
    " setting test build branch commit review merge cache token user access password key"
    " network request response client latency timeout retry backup restore disk memory thread"
    " process container image volume cluster node schedule job task worker message event alert"
    " metric dashboard report budget invoice contract customer order payment refund account"
    " tax market price product design draft sketch colour paper print letter office travel"
    " ticket hotel flight meeting note decision lesson plan team manager hire interview train"
    " school teacher student course lecture exam library book author chapter garden plant"
    " tree water river mountain weather storm wind summer winter field harvest kitchen bread"
    " oven recipe salt sugar butter dinner guest music song concert guitar piano theatre film"
    " camera picture museum history king war treaty border city street bridge station engine"
    " wheel road signal battery solar power cable switch sensor robot motor valve pump filter"
    " pressure heat metal glass stone brick roof window door floor wall doctor nurse patient"
    " drug dose vaccine virus cell protein gene brain heart blood bone sleep exercise diet"
    " theory proof number graph matrix vector function limit measure sample model data table"
    " column query schema record lock write read update delete insert migrate rotate revoke"
    " grant approve reject escalate resolve monitor inspect repair replace connect"
)
FUNCTION_WORDS = tuple(_FUNCTION_WORDS.split())
STEMS = tuple(_STEMS.split())
IDENTIFIERS = (
    "getUserName", "max_retries", "kb.toml", "v1.0.21", "HTTP_PROXY", "parseConfig", "error-404",
    "onMessage", "base64", "X-Request-Id", "utf-8", "retry_after_ms",
)  # fmt: skip
PREFIXES = ("", "re", "un", "sub")
SUFFIXES = ("s", "ed", "ing", "er")
ZIPF = 1.1

TAGS = {"tenth": 10, "hundredth": 100, "thousandth": 1000}
"""Every 10th, 100th and 1000th article has the tag of that name."""

CENTRES = 48
SPREAD = 0.5  # of a cluster: two of its vectors have a cosine of about 0.8


class Shape(NamedTuple):
    """How much an article holds: sections, and words a section (half to double of it)."""

    sections: int
    words: int


class Vocabulary(NamedTuple):
    """Words, most frequent first, and the sums of their Zipf frequencies."""

    words: tuple[str, ...]
    sums: tuple[float, ...]

    def draw(self, chance: random.Random, count: int) -> list[str]:
        return chance.choices(self.words, cum_weights=self.sums, k=count)


@cache
def vocabulary() -> Vocabulary:
    """Function words, plain words, then thousands of rarer ones made of them."""
    chance = random.Random(1)
    plain = list(STEMS)
    derived = [
        front + (stem if end == "s" else stem.rstrip("e")) + end
        for stem in plain
        for front in PREFIXES
        for end in SUFFIXES
    ]
    chance.shuffle(plain)
    chance.shuffle(derived)
    words = tuple(dict.fromkeys([*FUNCTION_WORDS, *plain, *derived]))
    sums = accumulate((rank + 2.7) ** -ZIPF for rank in range(1, len(words) + 1))
    return Vocabulary(words, tuple(sums))


def article(number: int, shape: Shape) -> str:
    """A Markdown text about a topic of its own."""
    chance = random.Random(number)
    topic = chance.sample(STEMS, 12)
    tags = [name for name, every in TAGS.items() if number % every == 0]
    parts = [f"---\ntags: [{', '.join(tags)}]\n---\n"] if tags else []
    parts.append(f"# {_heading(chance, topic)} {number}\n")
    for section in range(shape.sections):
        if section:
            parts.append(f"## {_heading(chance, topic)}\n")
        parts += _paragraphs(chance, topic, int(shape.words * 2 ** chance.uniform(-1, 1)))
    return "\n".join(parts)


def queries(count: int) -> list[str]:
    """Different queries of two to seven words, such as people ask."""
    chance = random.Random(2)
    made = [
        chance.sample(STEMS, chance.randint(2, 4)) + vocabulary().draw(chance, chance.randint(0, 3))
        for _ in range(count)
    ]
    return [" ".join(chance.sample(words, len(words))) for words in made]


def _heading(chance: random.Random, topic: Sequence[str]) -> str:
    return " ".join(chance.sample(topic, 3)).capitalize()


def _paragraphs(chance: random.Random, topic: Sequence[str], words: int) -> Iterator[str]:
    while words > 0:
        sentences = [_sentence(chance, topic) for _ in range(chance.randint(2, 5))]
        words -= sum(sentence.count(" ") + 1 for sentence in sentences)
        yield _list(sentences) if chance.random() < 0.15 else " ".join(sentences) + "\n"


def _list(sentences: list[str]) -> str:
    return "".join(f"- {sentence}\n" for sentence in sentences)


def _sentence(chance: random.Random, topic: Sequence[str]) -> str:
    words = vocabulary().draw(chance, chance.randint(6, 18))
    words = [chance.choice(topic) if chance.random() < 0.2 else word for word in words]
    if chance.random() < 0.1:
        words[-1] = f"`{chance.choice(IDENTIFIERS)}`"
    return " ".join(words).capitalize() + "."


def write_tree(folder: Path, count: int, shape: Shape, first: int = 0) -> Path:
    """A folder of `count` articles from number `first` on, fifty in each folder below it."""
    for number in range(first, first + count):
        below = folder / f"part-{number // 50:02}"
        below.mkdir(parents=True, exist_ok=True)
        (below / f"article-{number:04}.md").write_text(article(number, shape), encoding="utf-8")
    return folder


class Clustered:
    """The packaged model with made-up vectors for documents: in clusters, and in no time.

    The centres are real embeddings, so a query's real embedding has real neighbours.
    """

    def __init__(self, granite: Granite) -> None:
        self.model: Model = granite.model
        self.max_tokens = granite.max_tokens
        self.token_spans = granite.token_spans
        self.embed_query = granite.embed_query
        self.embedded: list[str] = []
        self._centres = [granite.embed_query(one) for one in queries(CENTRES)]

    def embed_documents(self, texts: Sequence[str]) -> Iterator[Vector]:
        self.embedded += texts
        return map(self._near_a_centre, texts)

    def _near_a_centre(self, text: str) -> Vector:
        import numpy as np

        seed = zlib.crc32(text.encode())
        noise = np.random.default_rng(seed).standard_normal(self.model.dimensions)
        vector = np.frombuffer(self._centres[seed % CENTRES], "<f4")
        vector = vector + SPREAD * noise / np.linalg.norm(noise)
        packed: bytes = (vector / np.linalg.norm(vector)).astype("<f4").tobytes()
        return packed


def new_base(home: Path, embedder: "Clustered | Granite") -> Base:
    """An empty base in the folder `home`."""
    home.mkdir(parents=True, exist_ok=True)
    create(str(home)).close()
    return Base(str(home / ".kb" / "base.db"), embedder=embedder)
