"""Mistyped words: how many a search mends, how many of them rightly, and how many real words that a
base has not are taken for mistakes.

    python bench/slips.py BASE … --words FOLDER … [--most N]

Slips are made of words that two chunks of the base have, N of each kind, by chance with a fixed
seed. Real words are those of the questions of judged FOLDERs that no text of the base has in any
form; a few of them are mistyped themselves. By words alone, so no model is run.
"""

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from knowbase.base import Base
from knowbase.evaluate.judged import read_folders
from knowbase.query.conditions import EVERYTHING
from knowbase.search.request import SearchRequest
from knowbase.text.analysis import Word, stem_of
from knowbase.text.spelling import _neighbours
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.documents import Page

WORD = re.compile(r"\b[a-z]{5,14}\b")
MENDED = re.compile(r"^nothing has '.*?': '(.*?)' is searched too$")

Slip = Callable[[str, int, random.Random], str]


def _beside(key: str, chance: random.Random) -> str:
    return chance.choice(sorted(_neighbours()[key]))


SLIPS: Mapping[str, Slip] = {
    "two letters changed places": lambda w, at, _: w[:at] + w[at + 1] + w[at] + w[at + 2 :],
    "one is missing": lambda w, at, _: w[:at] + w[at + 1 :],
    "one is doubled": lambda w, at, _: w[:at] + w[at] + w[at:],
    "the key beside it": lambda w, at, chance: w[:at] + _beside(w[at], chance) + w[at + 1 :],
    "the first letter: the key beside it": lambda w, _, chance: _beside(w[0], chance) + w[1:],
    "the first two changed places": lambda w, *_: w[1] + w[0] + w[2:],
    "a space within": lambda w, at, _: w[: at + 1] + " " + w[at + 1 :],
}


class Instead(NamedTuple):
    """What was searched beside words that nothing has, and what was suggested."""

    searched: list[str]
    suggested: list[str]


def instead_of(base: Base, text: str) -> Instead:
    answer = base.search(SearchRequest(text, top=1, mode="keyword"))
    return Instead(
        [found[1].rstrip("…") for one in answer.notices if (found := MENDED.match(one))],
        [word for one in answer.suggestions for word in one.nearest],
    )


def kind_of(word: str, instead: Instead) -> str:
    stem = stem_of(word)
    if instead.searched:
        return "right" if stem in map(stem_of, instead.searched) else "wrong"
    return "suggested" if stem in map(stem_of, instead.suggested) else "left"


def asked(base: Base, words: Sequence[str], slip: Slip, most: int) -> Counter[str]:
    chance = random.Random(0)
    found: Counter[str] = Counter()
    for word in chance.sample(words, most):
        typed = slip(word, chance.randrange(1, len(word) - 1), chance)
        if all(not base.store.unknown_words([Word(one)]) for one in typed.split()):
            found["known"] += 1  # another word of the base, or one with the same stem
            continue
        found[kind_of(word, instead_of(base, typed))] += 1
    return found


def words_of(base: Base) -> list[str]:
    """Those that two chunks have."""
    count: Counter[str] = Counter()
    for document in base.store.documents(EVERYTHING, Page(limit=base.store.counts().documents)):
        for passage in base.store.chunks(document.id):
            count.update(set(WORD.findall(passage.chunk.text)) - STOP_WORDS)
    return sorted(word for word, number in count.items() if number > 1)


def foreign_to(base: Base, folders: Sequence[str], most: int) -> list[str]:
    texts = (
        one.text for path in folders for f in read_folders(path, "test") for one in f.questions
    )
    words = sorted({word for text in texts for word in WORD.findall(text)})
    missing = {word.surface for word in base.store.unknown_words([Word(one) for one in words])}
    return random.Random(0).sample(sorted(missing), min(most, len(missing)))


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("bases", nargs="+")
    parser.add_argument("--words", nargs="+", required=True)
    parser.add_argument("--most", type=int, default=60)
    arguments = parser.parse_args()
    total: dict[str, Counter[str]] = {name: Counter() for name in SLIPS}
    for path in arguments.bases:
        with Base(path) as base:
            words = words_of(base)
            for name, slip in SLIPS.items():
                total[name] += asked(base, words, slip, arguments.most)
            real = foreign_to(base, arguments.words, 10 * arguments.most)
            taken = {one: instead for one in real if (instead := instead_of(base, one).searched)}
            print(f"{path}: of {len(real)} words that it has not {len(taken)} mended:", taken)
    print("\n| | slips | rightly | wrongly | suggested | left | known |")
    print("|---" * 7 + "|")
    for name, found in total.items():
        cells = (str(found[one]) for one in ("right", "wrong", "suggested", "left", "known"))
        print(f"| {name} | {found.total()} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
