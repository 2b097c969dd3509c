"""Every answer says whether it is there, and how likely that is; the hits stay."""

import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note, SearchRequest, config
from knowbase.base.background import embedding
from knowbase.ranking.verdict import (
    LEAST_LIKELY,
    NOTHING,
    NOTHING_UNDER,
    PRIOR,
    Evidence,
    Examples,
    Verdict,
    judge,
    learn,
    nothing_under,
)
from knowbase.search.calibrate import is_due
from linked import FarApart
from postgres import new_base
from servers import PATIENCE, serving

LEVELS = ("strong", "likely", "weak", NOTHING)
OURS = "how long is a refresh token valid?"
FOREIGN = "which whales live in the Baltic Sea?"
LAST_LINE = re.compile(r"^verdict: (strong|likely|weak|nothing found) \(\d+%\)")


def test_the_command_ends_with_it_and_shows_the_hits_all_the_same(handbook: Kb) -> None:
    ours, foreign = (handbook("search", query).out.splitlines() for query in (OURS, FOREIGN))
    assert LAST_LINE.match(ours[-1])
    assert NOTHING not in ours[-1]
    assert foreign[-1].startswith(f"verdict: {NOTHING} (")
    assert "returned: 10 of" in "\n".join(foreign)


def test_json_has_it_whichever_legs_run(handbook: Kb) -> None:
    for mode in ("--fts-only", "--vec-only"):
        found = handbook.json("search", FOREIGN, mode)["verdict"]
        assert found["name"] in LEVELS
        assert handbook.json("search", OURS, mode)["verdict"]["probability"] > found["probability"]
    nothing = handbook.json("search", "zyxwvut", "--fts-only")
    assert (nothing["hits"], nothing["verdict"]["name"]) == ([], NOTHING)


def test_what_filters_alone_list_is_what_was_asked_for(handbook: Kb) -> None:
    assert handbook.json("search", "tag:ops")["verdict"]["name"] == "strong"


def test_a_quote_that_nothing_has_is_judged_by_its_words(handbook: Kb) -> None:
    found = handbook.json("search", '"refresh tokens are valid" for thirty days')
    assert found["hits"][0]["is_relaxed"]
    assert found["verdict"]["name"] != NOTHING


@pytest.mark.parametrize(
    "query", ["HB-T-0021", "hb-t-0021", "what does HB-T-0021 say?", '"numbered SQL script"']
)
def test_a_code_and_a_quote_that_is_there_are_likely(handbook: Kb, query: str) -> None:
    for mode in ([], ["--fts-only"]):
        found = handbook.json("search", query, *mode)["verdict"]
        assert found["name"] in ("strong", "likely")
        assert found["probability"] >= 0.5


@pytest.mark.parametrize("query", ["the", "AND OR NOT", "what is the", '"the"', "☂☂"])
def test_a_query_that_says_nothing_is_weak_at_most(handbook: Kb, query: str) -> None:
    for mode in ([], ["--fts-only"], ["--vec-only"]):
        found = handbook.json("search", query, *mode)["verdict"]
        assert found["name"] in ("weak", NOTHING)
        assert found["probability"] <= 0.3


def test_a_quoted_stop_word_makes_nothing_likely(handbook: Kb) -> None:
    assert handbook.json("search", '"the" whales of Baltic seas')["verdict"]["name"] == NOTHING


def test_a_base_learns_from_itself(own_handbook: Kb) -> None:
    assert own_handbook.json("calibrate", "--show")["made_at"] is None
    assert not own_handbook.json("search", OURS)["verdict"]["calibrated"]
    learnt = own_handbook.json("calibrate")
    assert learnt["questions"] >= 12
    assert learnt["separation"]["both"] > 0.8
    assert own_handbook.json("calibrate", "--show") == learnt
    ours, foreign = (own_handbook.json("search", one)["verdict"] for one in (OURS, FOREIGN))
    assert ours["calibrated"]
    assert ours["name"] != NOTHING
    assert foreign["name"] == NOTHING
    assert "elsewhere" in own_handbook("calibrate", "--show").out


def test_a_server_learns_it_by_itself_when_it_is_left_alone(own_handbook: Kb) -> None:
    with serving(own_handbook.folder, env={"KB_SEARCH_CALIBRATE_AFTER": "0.1"}) as running:
        patience = time.monotonic() + PATIENCE
        while not running.json("search", query=OURS)["verdict"]["calibrated"]:
            assert time.monotonic() < patience
            time.sleep(0.3)
        assert running.json("search", query=FOREIGN)["verdict"]["name"] == NOTHING


def test_a_base_with_little_in_it_learns_nothing_and_says_so(kb: Kb) -> None:
    kb("note", "Deploys freeze on Fridays.")
    assert kb.json("calibrate")["made_at"] is None
    assert kb("calibrate").out.startswith("nothing learnt from this base")


def test_what_was_learnt_of_another_model_is_not_used(tmp_path: Path) -> None:
    """Nor does what holds of the packaged one: then the words judge alone."""
    path = knowbase.create(str(tmp_path)).path
    with Base(path, embedder=FarApart()) as base:
        for number in range(20):
            words = " ".join(f"word{number}x{n}" for n in range(9))
            base.note(Note(f"Chapter {number} tells of {words} and more."))
        query = "word3x1 word3x2"
        by_words = base.search(SearchRequest(query, mode="keyword")).verdict
        assert base.search(query).verdict == by_words
        base.calibrate()
        assert base.search(query).verdict.calibrated
        learnt = base.store.calibration()
        assert learnt is not None
        for older in ("model", "form"):
            numbers = {**learnt.numbers, older: 1.0}
            base.store.put_calibration(learnt._replace(numbers=numbers))
            found = base.search(query).verdict
            assert (found.calibrated, found.probability) == (False, by_words.probability)
            assert is_due(base.search_services, base.store.calibration())


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_base_that_changed_says_so_until_it_has_learnt_again(engine: str, tmp_path: Path) -> None:
    """By what its chunks hold: there are as many of them until the end."""
    place = str(tmp_path / "base.db") if engine == "sqlite" else new_base()
    settings = config.load(None, {"KB_SEARCH_CALIBRATE_AFTER": "0.01"})
    (tmp_path / "book").mkdir()
    path = knowbase.create(place).path
    with Base(path, embedder=FarApart(), configuration=settings) as base:

        def write(numbers: Iterable[int], word: str) -> None:
            for number in numbers:
                words = " ".join(f"{word}{number}x{n}" for n in range(9))
                text = f"Chapter {number} tells of {words} and more."
                (tmp_path / "book" / f"{number}.txt").write_text(text)
            base.add([str(tmp_path / "book")])

        def said() -> str:
            return " ".join(base.search(SearchRequest("chapter", mode="keyword")).notices)

        write(range(30), "word")
        base.calibrate()
        write(range(9), "another")
        assert (said(), base.calibrate(show=True).changed) == ("", 0.3)
        write(range(15), "third")
        assert "50% of the base changed" in said()
        with embedding(base):
            patience = time.monotonic() + PATIENCE
            while said():
                assert time.monotonic() < patience
                time.sleep(0.1)
        assert base.calibrate(show=True).changed == 0
        write(range(30, 50), "new")
        assert "40% of the base changed" in said()


BESIDE = (
    "Every deployment is announced",
    "A vehicle waits at the gate",
    "Die Fahrkarten sind für den Zug und nicht für die Bahn",
    "The Horizontal Pod Autoscaler (HPA) changes replicas",
)


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Base, Base]]:
    """The same notes in a file and in PostgreSQL, each having learnt from itself."""
    made = []
    for place in (str(tmp_path_factory.mktemp("verdict")), new_base()):
        base = Base(knowbase.create(place).path, embedder=FarApart())
        base.synonyms.add(["automobile", "vehicle"])
        for number, text in enumerate(BESIDE):
            base.note(Note(text, code=f"B-{number}"))
        for number in range(27):
            words = " ".join(f"word{number}x{n}" for n in range(9))
            base.note(Note(f"Chapter {number} tells of {words} and more.", code=f"N-{number}"))
        base.calibrate()
        made.append(base)
    yield made[0], made[1]
    for base in made:
        base.close()


@pytest.mark.parametrize("query", ["word3x1 word3x2", "chapter", "nothing of the kind", "N-4"])
def test_both_engines_learn_the_same_and_give_the_same_verdict(
    both: tuple[Base, Base], query: str
) -> None:
    learnt = [base.store.calibration() for base in both]
    assert learnt[0] is not None
    assert learnt[1] is not None
    assert learnt[0].numbers == pytest.approx(learnt[1].numbers, abs=1e-6)
    one, other = (base.search(query).verdict for base in both)
    assert (one.name, one.calibrated) == (other.name, True)
    assert one.probability == pytest.approx(other.probability, abs=1e-4)


@pytest.mark.parametrize(
    ("typed", "searched"),
    [
        ("deploymnet", "deployment"),
        ("automobile", "vehicle"),
        ("Fahrkarte", "Fahrkarten"),
        ("announced deploymnet", "announced deployment"),
    ],
)
def test_what_is_searched_instead_of_a_word_is_judged_like_it(
    both: tuple[Base, Base], typed: str, searched: str
) -> None:
    """Another form, a synonym and a mended word find the document; the verdict says so."""
    for base in both:
        one, other = (
            base.search(SearchRequest(query, mode="keyword")) for query in (typed, searched)
        )
        assert one.hits[0].code == other.hits[0].code
        assert one.verdict.name == other.verdict.name != NOTHING
        assert one.verdict.probability == pytest.approx(other.verdict.probability, abs=0.05)


def test_both_engines_tell_codes_quotes_and_stop_words_alike(both: tuple[Base, Base]) -> None:
    for query, names in {
        "N-4": ("likely", "strong"),
        '"waits at the gate"': ("likely", "strong"),
        "the": ("weak", NOTHING),
        "OR NOT": ("weak", NOTHING),
    }.items():
        one, other = (base.search(query).verdict for base in both)
        assert one.name in names
        assert other.name == one.name
        assert other.probability == pytest.approx(one.probability, abs=1e-4)


def test_a_backup_and_a_move_carry_what_was_learnt(both: tuple[Base, Base], tmp_path: Path) -> None:
    known = both[1].store.calibration()
    assert known is not None
    both[1].backup(str(tmp_path / "backup.db"))
    with knowbase.open(str(tmp_path / "backup.db")) as copy:
        assert copy.store.calibration() == known


def test_the_probability_falls_with_the_evidence() -> None:
    good = Evidence(rarity=2.0, known=1.0, similarity=0.85, shared=2.0)
    poor = Evidence(rarity=0.2, known=0.2, similarity=0.5, shared=0.0)
    assert judge(good).probability > 0.75
    assert judge(poor).probability < 0.25
    numbers = learn(Examples([good] * 12, [good._replace(similarity=0.75)] * 12, [poor] * 12))
    assert judge(good, numbers).name in ("strong", "likely")
    assert judge(poor, numbers) == Verdict(NOTHING, judge(poor, numbers).probability, True)


def test_half_of_many_words_says_more_than_half_of_two(tmp_path: Path) -> None:
    """A long question has words that no text of the base has; two words are soon had by chance."""
    with Base(knowbase.create(str(tmp_path)).path, embedder=FarApart()) as base:
        for number in range(40):
            base.note(Note(f"note {number} is about matters {number}"))
        base.note(Note("quarterly reports of the audit committee name every late supplier"))
        short, long = (
            base.search(SearchRequest(query, mode="keyword")).verdict
            for query in (
                "audit zebras",
                "quarterly audit committee supplier zebras lagoons oboes violins",
            )
        )
    assert long.probability > short.probability


def test_words_that_are_known_speak_for_nothing_where_meaning_does_not() -> None:
    """A base about software knows the words of any question about software."""
    far = Evidence(rarity=1.4, known=1.0, similarity=0.6, shared=0.4)
    some, none = far._replace(known=0.7), far._replace(known=0.1)
    assert judge(far).probability == judge(some).probability < 0.5
    assert judge(none).name == NOTHING
    assert judge(Evidence(1.4, 1.0)).probability > judge(Evidence(1.4, 0.7)).probability


def test_a_base_has_a_bound_of_its_own_where_both_legs_run() -> None:
    """The less its questions stand apart from those of elsewhere, the more it wants."""
    near = {**PRIOR, "similarity.own": PRIOR["similarity.strange"] + 0.17}
    far = {**PRIOR, "similarity.own": PRIOR["similarity.strange"] + 0.35}
    assert nothing_under("both", far) < NOTHING_UNDER["both"][0] < nothing_under("both", near)
    assert nothing_under("both", None) == NOTHING_UNDER["both"][1]
    for legs in ("keyword", "semantic"):
        assert nothing_under(legs, near) == NOTHING_UNDER[legs][0]
    for apart in (0.0, 2.0):  # never so much that what is likely is nothing, never next to nothing
        numbers = {**PRIOR, "similarity.own": PRIOR["similarity.strange"] + apart}
        assert 0.2 < nothing_under("both", numbers) <= LEAST_LIKELY
