"""What the constants of a search should be: chosen on half of the questions, reported on the other.

    python bench/constants.py letters xquad/ar xquad/de …     letters that stand for a word's forms
    python bench/constants.py alike scifact cisi …            weight of short forms and long ones
    python bench/constants.py synonym scifact cisi …          the same, of synonyms: made-up ones
    python bench/constants.py meant scifact cisi …            weight of what was meant: mistyped
    python bench/constants.py relaxed scifact cisi …          filling up behind what has the quotes
    python bench/constants.py share scifact cisi …            power of the share that has a vector

A question belongs to the half that the SHA-256 of its text says, whatever else is asked. All but
`share` ask by words alone, where these constants count; `--most N` asks N questions a set.
No judged set has mistyped words or synonyms, so they are made: a slip in one word by rules of
chance that a hash decides; a word's place taken by a made-up name, whose group of synonyms has the
word and another one that is about as rare, since people's groups are never quite right.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from knowbase import config
from knowbase.base import Base
from knowbase.embed.granite import Granite
from knowbase.evaluate.bootstrap import intervals
from knowbase.evaluate.corpus import WRITTEN, Shelf, cache_folder
from knowbase.evaluate.judged import Folder, Question, read_folders
from knowbase.evaluate.metrics import mean, ndcg
from knowbase.ranking.rank import Traits, rank
from knowbase.search import signals, widening
from knowbase.search.rank import rank_all
from knowbase.search.request import SearchRequest
from knowbase.search.search import search
from knowbase.search.understand import understand
from knowbase.text import forms
from knowbase.text.analysis import Word, tokens
from knowbase.text.stopwords import STOP_WORDS
from knowbase.values.documents import Candidate

sys.path.insert(0, str(Path(__file__).parent))
from quality import cut

COINED = "zzqxy"
SHARES = (0.02, 0.1, 0.29, 0.5, 0.75, 0.9)
WEIGHTS = (0, 0.3, 0.6, 0.8, 1)
DEPTH = 100

Values = dict[str, list[float]]
"""nDCG@10 of each question, by what the constant was."""


class Measured(NamedTuple):
    """A set: its questions that could be asked, and what each value made of them."""

    name: str
    questions: Sequence[Question]
    values: Values


def digest(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def is_to_choose_on(question: Question) -> bool:
    return digest(question.text) % 2 == 0


def asked(base: Base, question: Question, text: str, fills_up: bool = True) -> float:
    """By words alone, as a user would ask."""
    request = SearchRequest(text, mode="keyword", unit="document", profile="best")
    profile = base.profile_for("best")._replace(fills_up=fills_up)
    found = search(request, profile, base.search_services, base.now()).hits
    return ndcg(list(dict.fromkeys(hit.id for hit in found)), question.relevant, 10)


# each constant


def letters(folder: Folder, questions: Sequence[Question], _: Shelf) -> Measured:
    """0 means no forms at all. Every value needs an index of its own."""
    values: Values = {}
    settings = config.load(None, {"KB_EMBED_VECTORS": "false"})
    before = forms.CUT
    for number in (0, 4, 5, 6, 7):
        forms.CUT = number or 10_000
        forms.form_of.cache_clear()
        with TemporaryDirectory() as place, Shelf(place, settings, Granite()).base(folder) as base:
            values[str(number)] = [asked(base, one, one.text) for one in questions]
    forms.CUT = before
    return Measured(folder.name, questions, values)


def alike(folder: Folder, questions: Sequence[Question], shelf: Shelf) -> Measured:
    """Of questions that have a form which a text defines; the others are as they were."""
    with shelf.base(folder) as base:
        return _by_weight(base, folder.name, [(one, one.text) for one in questions], "DEFINED")


def meant(folder: Folder, questions: Sequence[Question], shelf: Shelf) -> Measured:
    slips = [(one, slip) for one in questions if (slip := mistyped(one.text)) is not None]
    with shelf.base(folder) as base:
        return _by_weight(base, folder.name, slips, "MEANT")


def synonym(folder: Folder, questions: Sequence[Question], shelf: Shelf) -> Measured:
    values: Values = {}
    asked_of = []
    with shelf.base(folder) as base:
        for name, question, group in list(_renamed(base, questions)):
            base.synonyms.add([name, *group])
            text = _put(question.text, group[0], name)
            found = _by_weight(base, "", [(question, text)], "SYNONYM").values
            base.synonyms.remove(name)
            asked_of.append(question)
            for weight, value in found.items():
                values.setdefault(weight, []).extend(value)
    return Measured(folder.name, asked_of, values)


def relaxed(folder: Folder, questions: Sequence[Question], shelf: Shelf) -> Measured:
    """Questions with quotation marks; where there are none, around two words that stand together
    and that tell something."""
    texts = [(one, text) for one in questions if (text := quoted(one.text)) is not None]
    with shelf.base(folder) as base:
        values = {
            name: [asked(base, question, text, fills_up) for question, text in texts]
            for name, fills_up in (("off", False), ("on", True))
        }
    return Measured(folder.name, [question for question, _ in texts], values)


def _by_weight(
    base: Base, name: str, texts: Sequence[tuple[Question, str]], constant: str
) -> Measured:
    """With 0 it is looked for, and counts for nothing."""
    before = getattr(widening, constant)
    values: Values = {}
    touched = [_is_widened(base, text) for _, text in texts]
    for weight in WEIGHTS:
        setattr(widening, constant, weight)
        plain = values.get("0", [0.0] * len(texts))
        values[f"{weight:g}"] = [
            asked(base, question, text) if is_touched or not weight else value
            for (question, text), is_touched, value in zip(texts, touched, plain, strict=True)
        ]
    setattr(widening, constant, before)
    return Measured(f"{name} ({sum(touched)})", [question for question, _ in texts], values)


def _is_widened(base: Base, text: str) -> bool:
    request = SearchRequest(text, mode="keyword", profile="best")
    inquiry = understand(request, base.profile_for("best"), base.search_services.language, WRITTEN)
    found = widening.widened(inquiry, base.store).widening
    return bool(found and found.notices)


def mistyped(text: str) -> str | None:
    """The text with one slip in one of its longer words."""
    words = [one for one in text.split() if len(one) > 4 and one.isalpha() and one.islower()]
    if not words:
        return None
    chance = digest(text) >> 8
    word = words[chance % len(words)]
    at = 1 + (chance >> 8) % (len(word) - 2)
    slips = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at] + word[at:],
        word[:at] + "abcdefghijklmnopqrstuvwxyz"[(chance >> 24) % 26] + word[at + 1 :],
    )
    slip = slips[(chance >> 16) % 4]
    return _put(text, word, slip) if slip != word else None


def quoted(text: str) -> str | None:
    if text.count('"') >= 2:
        return text
    found = tokens(text)
    pairs = [
        (one.start, other.end)
        for one, other in pairwise(found)
        if text[one.end : other.start] == " "
        and not {text[one.start : one.end].lower(), text[other.start : other.end].lower()}
        & STOP_WORDS
    ]
    if not pairs:
        return None
    start, end = pairs[(digest(text) >> 8) % len(pairs)]
    return f'{text[:start]}"{text[start:end]}"{text[end:]}'


def _put(text: str, word: str, other: str) -> str:
    return " ".join(other if one == word else one for one in text.split())


def _renamed(
    base: Base, questions: Sequence[Question]
) -> Iterator[tuple[str, Question, tuple[str, str]]]:
    """The rarest word of a question that the base has, a made-up name for it, and a word of
    another question that is about as rare."""
    rarest = []
    for question in questions:
        words = [one for one in question.text.split() if len(one) > 3 and one.isalpha()]
        words = [one for one in words if one.lower() not in STOP_WORDS]
        having = base.store.frequencies([Word(one) for one in words]).having
        known = sorted((number, word) for number, word in zip(having, words, strict=True) if number)
        rarest += [(question, *known[0])] if known else []
    by_rarity = sorted(rarest, key=lambda one: (one[1], digest(one[0].text)))
    for place, (question, _, word) in enumerate(by_rarity):
        others = [one[2] for one in by_rarity[place + 1 :] + by_rarity[:place]]
        other = next((one for one in others if one.lower() != word.lower()), None)
        if other is not None:
            yield f"{COINED}{_letters(place)}", question, (word, other)


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + number // 26**power % 26) for power in (2, 1, 0))


# the share of the vectors


def share(folder: Folder, questions: Sequence[Question], shelf: Shelf) -> Measured:
    """The average over the shares of each power; which chunks have a vector is a hash's choice."""
    with shelf.base(folder) as base:
        rows = [_by_share(base, question) for question in questions]
    return Measured(folder.name, questions, {name: [one[name] for one in rows] for name in rows[0]})


def _by_share(base: Base, question: Question) -> dict[str, float]:
    profile, services = base.profile_for("best")._replace(unit="document"), base.search_services
    request = SearchRequest(question.text, unit="document", profile="best")
    inquiry = understand(request, profile, services.language, WRITTEN)
    profile = inquiry.profile  # as the query changes it
    outcome = rank_all(inquiry, services, DEPTH)
    words = outcome.proposals.legs.get("keyword", ())
    vector = base.embedder.embed_query(inquiry.query.text)
    every = base.store.semantic(vector, inquiry.query.filter, base.store.counts().chunks)
    near = {part: _some(every, part) for part in (*SHARES, 1.0)}
    numbers = {one.chunk for found in (words, *near.values()) for one in found}
    passages = base.store.passages(numbers)
    keyword = cut(words, passages, DEPTH)

    def value(part: float, factor: float) -> float:
        meaning = cut(near[part], passages, DEPTH) if factor else []
        legs = {"keyword": keyword, "semantic": meaning}
        used = {one.chunk for found in legs.values() for one in found}
        trust = dict(outcome.trust)
        trust["semantic"] = trust.get("semantic", 1.0) * factor
        shown = {chunk: passages[chunk] for chunk in used}
        traits = Traits(trust=trust, text=inquiry.query.text)
        hits = rank(legs, shown, profile, WRITTEN, traits)[:10]
        ids = [passages[hit.chunk].document.id for hit in hits if hit.score > 0]
        return ndcg(ids, question.relevant, 10)

    found = {str(power): mean([value(one, one**power) for one in SHARES]) for power in (1, 2, 3, 4)}
    return {"words alone": value(0, 0), **found, "all vectors": value(1, 1)}


def _some(every: Sequence[Candidate], part: float) -> list[Candidate]:
    """The nearest of those that have a vector; some more, as documents may have several chunks."""
    having = (one for one in every if digest(str(one.chunk)) % 1000 < 1000 * part)
    return list(islice(having, DEPTH + DEPTH // 2))


# the report

CONSTANTS: Mapping[str, tuple[str, Callable[[Folder, Sequence[Question], Shelf], Measured]]] = {
    "letters": (str(forms.CUT), letters),
    "alike": (f"{widening.DEFINED:g}", alike),
    "synonym": (f"{widening.SYNONYM:g}", synonym),
    "meant": (f"{widening.MEANT:g}", meant),
    "relaxed": ("on", relaxed),
    "share": (str(signals.POWER), share),
}
NO_VALUES = ("words alone", "all vectors")


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("constant", choices=CONSTANTS)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--most", type=int, default=10_000)
    arguments = parser.parse_args()
    current, measure = CONSTANTS[arguments.constant]
    settings = config.load(None, os.environ)
    shelf = Shelf(cache_folder(settings.settings.eval_cache), settings, Granite())
    sets = []
    for path in arguments.folders:
        for folder in read_folders(path, "test"):
            ordered = sorted(folder.questions, key=lambda one: digest(one.text) >> 1)
            sets.append(measure(folder, ordered[: arguments.most], shelf))
            print(f"{sets[-1].name}: {len(sets[-1].questions)} questions", file=sys.stderr)
    report(sets, current)


def report(sets: Sequence[Measured], current: str) -> None:
    names = list(sets[0].values)
    choosing, reporting = (
        {name: [_half(one, name, first) for one in sets] for name in names}
        for first in (True, False)
    )
    proposed = [name for name in names if name not in NO_VALUES]
    best = max(proposed, key=lambda name: mean([mean(one) for one in choosing[name]]))
    for title, half in (("to choose on", choosing), ("to report on", reporting)):
        print(f"\n| {title} | {' | '.join(one.name for one in sets)} | average |")
        print("|---" * (len(sets) + 2) + "|")
        print(f"| questions | {' | '.join(str(len(one)) for one in half[names[0]])} | |")
        for name in names:
            means = [mean(one) for one in half[name]]
            cells = " | ".join(f"{one:.4f}" for one in means)
            print(f"| {name} | {cells} | {mean(means):.4f} |")
    print(f"\nchosen: {best}; in use: {current}. On the other half, in use − {names[0]}:")
    for one, now, first in zip(sets, reporting[current], reporting[names[0]], strict=True):
        (gap,) = intervals([[a - b for a, b in zip(now, first, strict=True)]])
        print(f"{one.name}: {gap.mean:+.4f} ({gap.low:+.4f} … {gap.high:+.4f})")


def _half(one: Measured, name: str, first: bool) -> list[float]:
    return [
        value
        for question, value in zip(one.questions, one.values[name], strict=True)
        if is_to_choose_on(question) is first
    ]


if __name__ == "__main__":
    main()
