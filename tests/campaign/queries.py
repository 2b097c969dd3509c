"""Part 1: any text is a query. Many are parsed, some are asked of both engines, and the answers
are the same."""

import json
import random
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import knowbase
import postgres
from campaign.part import Budget, Outcome, complaint, on_all_cores, shortly
from conftest import FIXTURES
from knowbase import Answer, Base, Note, SearchRequest
from knowbase.errors import KnowbaseError
from knowbase.query.conditions import describe
from knowbase.query.meaning import summary, understand
from knowbase.query.operators import OPERATORS, Context
from knowbase.query.tree import shown
from knowbase.ranking.profile import PROFILES
from knowbase.values.access import Access
from knowbase.values.documents import DOCUMENT_TYPES, Document
from linked import FarApart
from sameness import assert_same

PARSED, ASKED = 1_000_000, 100_000
SECONDS_PARSING = 0.25  # of the time of this part
NOW = 1_800_000_000.0
TODAY = "2027-01-15T08:00:00.000000Z"
OF_BOTH = 0.2  # of the searches: one in PostgreSQL takes four times as long
MATCHES = ("any", "all", "any_prefix", "boolean")

WRITTEN = (
    "deploy -rollback", '"numbered SQL script"', "migrat*", "backup AND restore", "jwt OR oauth",
    "(backup OR certificate) AND renew", "like:HB-T-0021", 'similar:"money back"', "METIS-I-0018",
    "session:s1", "children:HB-I-0018", "is:superseded", "tag:ops NOT tag:production",
    "getUserName", "C++", "1.0.21", "東京", "regattta", "", "under:nobody", "f(x) and g()",
    "created:>2020 type:code", "related:HB-I-0018", "weights:1,2", "before:\"last friday\"",
    "NOT (a OR (b AND c))", "under:²", "like:³", "get ٣", "http://x.org/a?b=c", "#phase/active",
    'auth AND ("jwt task" OR oauth*) NOT legacy tag:backend under:P-1 after:2020-01-01',
    '+auth -"old thing" (similar:"x y" OR like:P-1) weights:0.5,0.3,0.2 is:superseded', "NEAR(",
)  # fmt: skip
TOKENS = (
    "AND", "OR", "NOT", "(", ")", '"', "-", "+", "#", "*", ":", "\\", "'", "{", "}", "a", "b*",
    "漢字", "C++", "tag:x", "type:", "under:HB-I-0018", "like:M-1", "after:7d", "weights:1",
    "is:x", "²", "٣", "½", "\x00", "\ud800", "\u202e", "\ufeff", "\n", "\t", "é", "🜁",
    "deploy", "backup", "restore", "0", "-1", "1e999", "99999999999999999999", "NaN", "%", "_",
    *(f"{name}:" for name in OPERATORS),
)  # fmt: skip


def judged() -> tuple[str, ...]:
    return tuple(
        line["query"] for line in json.loads((FIXTURES / "judgments.json").read_text("utf-8"))
    )


def queries(chance: random.Random) -> Iterator[str]:
    """Queries as people write them, put together at random, or spoilt; without end."""
    known = (*WRITTEN, *judged())
    while True:
        kind = chance.random()
        if kind < 0.3:
            parts = chance.choices(TOKENS, k=chance.randrange(1, 12))
            yield chance.choice((" ", "")).join(parts)
        elif kind < 0.9:
            yield spoilt(chance, chance.choice(known), known)
        elif kind < 0.999:
            yield "".join(chr(chance.randrange(1, 0x3000)) for _ in range(chance.randrange(1, 30)))
        else:
            yield chance.choice(TOKENS) * chance.choice((300, 3_000, 30_000))


def spoilt(chance: random.Random, text: str, others: tuple[str, ...]) -> str:
    for _ in range(chance.randrange(4)):
        at = chance.randrange(len(text) + 1)
        until = min(len(text), at + chance.randrange(1, 4))
        text = chance.choice((
            text[:at] + chance.choice(TOKENS) + text[at:],
            text[:at] + text[until:],
            text[:until] + text[at:],
            text[:at] + chance.choice(others)[at:],
        ))  # fmt: skip
    return text


KNOWN = Document("id-1", 1, "X-1", "Known", "note", (), None, TODAY, TODAY)
CONTEXT = Context(
    TODAY,
    DOCUMENT_TYPES,
    lambda name: KNOWN if name.casefold() == "x-1" else None,
    lambda _: "nearest: X-1",
    lambda session: session == "s1",
)


def check_meaning(text: str, match: str) -> None:
    """Every text has a meaning, each mistake a place in it, and all of it can be shown."""
    query = understand(text, match, CONTEXT)
    for problem in query.problems:
        assert 0 <= problem.at <= len(text), problem
        problem.point_out(text)
    if query.tree is not None:
        shown(query.tree)
        summary(query.tree)
    describe(query.filter)
    describe(query.keyword_filter)


def parse(budget: Budget, seed: int) -> Outcome:
    chance = random.Random(seed)
    source, ends, aim = queries(chance), budget.ends(), budget.of(PARSED)
    wrong, done = [], 0
    while done < aim and (done % 100 or time.monotonic() < ends):
        text, match = next(source), chance.choice(MATCHES)
        try:
            check_meaning(text, match)
        except Exception as error:
            wrong.append(complaint(f"parsing {text[:80]!r} ({match})", error))
        done += 1
    return Outcome({"parsed": done}, {"parsed": aim}, tuple(wrong))


@contextmanager
def both_engines() -> Iterator[tuple[Base, Base]]:
    """The handbook and some memories, in a SQLite file and in PostgreSQL."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "handbook"
        shutil.copytree(FIXTURES / "handbook", folder)
        made = []
        for place in (str(folder), postgres.new_base()):
            path = knowbase.create(place).path
            base = stack.enter_context(Base(path, embedder=FarApart(), clock=lambda: NOW))
            fill(base, folder)
            made.append(base.within(Access(write=False)))
        yield made[0], made[1]


def fill(base: Base, folder: Path) -> None:
    base.home = str(folder)
    base.add([str(folder)])
    for number, sector in enumerate(("reflective", "episodic", "procedural")):
        text = f"Deploys of the web shop need review number {number}"
        base.remember(Note(text, project="web", sector=sector, session="s1", code=f"M-{number}"))
    base.lifecycle.supersede("M-0", "M-1")


def request(chance: random.Random, text: str) -> SearchRequest:
    """A search with some of the choices that there are; most of them by words, which is where
    the engines have least in common."""
    return SearchRequest(
        text,
        mode=chance.choice(("keyword", "keyword", "keyword", "hybrid", "semantic")),
        profile=chance.choice(tuple(PROFILES)),
        top=chance.choice((1, 5, 10)),
        unit=chance.choice((None, "chunk", "document")),
        explain=chance.random() < 0.1,
    )


def answer(base: Base, asked: SearchRequest) -> Answer | str:
    """The answer, or the code of the error that is meant."""
    try:
        return base.search(asked)
    except KnowbaseError as error:
        return error.code


def ask(budget: Budget, seed: int) -> Outcome:
    """Most of them of SQLite alone, which is quick; the others of both engines."""
    chance = random.Random(seed)
    source, aim = queries(chance), budget.of(ASKED)
    wrong, done, compared = [], 0, 0
    with both_engines() as bases:
        ends = budget.ends()
        while done < aim and time.monotonic() < ends:
            asked = request(chance, next(source))
            both = chance.random() < OF_BOTH
            try:
                answers = [answer(base, asked) for base in bases[: 1 + both]]
                if both:
                    compare(*answers)
            except Exception as error:
                wrong.append(complaint(f"asking {_told(asked)}", error))
            done, compared = done + 1 + both, compared + both
    return Outcome(
        {"asked": done, "of them the same of both engines": 2 * compared},
        {"asked": aim},
        tuple(wrong),
    )


def compare(one: Answer | str, other: Answer | str) -> None:
    if isinstance(one, str) or isinstance(other, str):
        assert one == other, f"{_shape(one)}, but {_shape(other)}"
    else:
        assert_same(one, other)


def _shape(answer: Answer | str) -> str:
    return f"the error {answer}" if isinstance(answer, str) else f"{answer.returned} hits"


def _told(asked: SearchRequest) -> str:
    more = {k: v for k, v in asked._asdict().items() if v != SearchRequest._field_defaults.get(k)}
    return shortly({**more, "query": asked.query[:80]})


def run(budget: Budget, seed: int) -> Outcome:
    parsed = on_all_cores(parse, budget.part(SECONDS_PARSING), seed)
    return parsed + on_all_cores(ask, budget.part(1 - SECONDS_PARSING), seed)
