"""A second look at the first hits: by a real cross-encoder in a folder, by a real service."""

import json
import math
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
import services
from conftest import FIXTURES, Kb
from knowbase import Answer, Base, Note
from knowbase.config import Configuration, load
from knowbase.errors import Conflict, InvalidInput
from knowbase.ranking.fusion import Contribution
from linked import FarApart
from postgres import new_base
from stores import as_kept, similarity

PAIRS = FIXTURES / "models" / "pairs"  # a text is worth: good 1, better 2, best 4
PLAIN = "engine engine engine engine starts"
TEXTS = {
    "A-1": f"{PLAIN} fast",
    "A-2": f"{PLAIN} slowly and good",
    "A-3": f"{PLAIN} in winter and is then best best",
    "A-4": f"{PLAIN} again and again, which is what everybody would like it to do",
}


def filled(place: str, settings: dict[str, Any], kind: str = "note") -> Base:
    found = load(None, {})
    configuration = Configuration(found.settings._replace(**settings), found.origins, {})
    path = knowbase.create(place).path
    base = Base(path, embedder=FarApart(), configuration=configuration)
    for code, text in TEXTS.items():
        base.note(Note(text, code=code, type=kind))
    return base


@pytest.fixture(params=["sqlite", "postgres"])
def base(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    place = str(tmp_path) if request.param == "sqlite" else new_base()
    with filled(place, {"rerank_model": str(PAIRS), "rerank_budget": 20.0}) as made:
        yield made


def codes(answer: Answer) -> list[str]:
    return [hit.code for hit in answer.hits]


def part_of(answer: Answer, code: str, leg: str) -> Contribution:
    hit = next(hit for hit in answer.hits if hit.code == code)
    assert hit.explanation is not None
    return next(part for part in hit.explanation.contributions if part.leg == leg)


def asked(base: Base, **more: Any) -> Answer:
    return base.search("engine starts", mode="keyword", explain=True, **more)


def test_what_answers_better_comes_up_and_every_score_is_explained(base: Base) -> None:
    """C2: the explanation is the computation, of a second look too."""
    once, again = asked(base), asked(base, rerank="on")
    assert codes(once)[0] == "A-1"
    assert codes(once).index("A-3") > codes(again).index("A-3")
    assert codes(again)[0] == "A-3"
    assert sorted(codes(once)) == sorted(codes(again))
    assert [hit.score for hit in again.hits] == pytest.approx([hit.score for hit in once.hits])
    assert (part_of(again, "A-3", "rerank").raw, part_of(again, "A-3", "rerank").rank) == (8.0, 1)
    for hit in again.hits:
        assert hit.explanation is not None
        gains = math.fsum(part.gain for part in hit.explanation.contributions)
        boost = math.prod(factor.value for factor in hit.explanation.factors)
        assert hit.score == pytest.approx(gains * boost, abs=1e-12)
        for part in hit.explanation.contributions:
            assert part.gain == pytest.approx(part.weight * part.value, abs=1e-12)


def test_the_place_counts_as_much_as_the_second_look(base: Base) -> None:
    """A good text in the last place does not come before the best one of words."""
    found = codes(asked(base, rerank="on"))
    assert found.index("A-1") < found.index("A-4")


def test_it_is_off_unless_set_and_can_be_left_out(tmp_path: Path) -> None:
    with filled(str(tmp_path), {}) as base:
        with pytest.raises(Conflict, match="nothing to look a second time with") as refused:
            asked(base, rerank="on")
        assert refused.value.hint is not None
        assert "rerank.model" in refused.value.hint
        assert codes(asked(base))[0] == "A-1"


def test_set_it_runs_with_every_search_but_by_words_alone(base: Base) -> None:
    legs = [
        {
            part.leg
            for hit in answer.hits
            if hit.explanation
            for part in hit.explanation.contributions
        }
        for answer in (
            base.search("engine starts", explain=True),
            base.search("engine starts", explain=True, rerank="off"),
            base.search("engine starts", explain=True, mode="keyword"),
            base.search("engine starts", explain=True, profile="kb"),
        )
    ]
    assert ["rerank" in found for found in legs] == [True, False, False, False]


def test_code_is_hardly_moved(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"rerank_model": str(PAIRS), "rerank_budget": 20.0}
    with filled(str(tmp_path), settings, kind="code") as base:
        assert codes(asked(base, rerank="on")) == codes(asked(base))


def test_as_many_as_fit_the_budget_change_places(tmp_path: Path) -> None:
    """The others keep theirs, and it is said when not even two fit."""
    settings: dict[str, Any] = {
        "rerank_model": str(PAIRS),
        "rerank_budget": 0.0,
        "embed_threads": 1,
    }
    with filled(str(tmp_path), settings) as base:
        answer = asked(base, rerank="on")
        assert codes(answer) == codes(asked(base))
        assert answer.notices == ("the second look did not run: rerank.budget is too small",)
        assert not answer.fallback_mode


def rerank(shape: str) -> Callable[[services.Handler], bool]:
    """What a service answers: a text's worth, as the folder's model has it, backwards."""

    def answer(handler: services.Handler) -> bool:
        body = handler.service.asked[-1].body
        texts = body["texts"] if shape == "tei" else body["documents"]
        name = "score" if shape == "tei" else "relevance_score"
        lines = [
            {"index": place, name: float(text.count("good") + 4 * text.count("best"))}
            for place, text in enumerate(texts)
        ][::-1]
        data = lines if shape == "tei" else {"results": lines}
        return handler.send(200, json.dumps(data).encode())

    return answer


@pytest.mark.parametrize("shape", ["service", "tei"])
def test_a_service_is_asked_by_the_usual_call(
    tmp_path: Path, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_RERANK_KEY", "a-secret-of-mine")
    with services.service() as running:
        running.always = rerank(shape)
        settings: dict[str, Any] = {
            "rerank_model": f"{shape}:m",
            "rerank_url": running.url,
            "rerank_budget": 20.0,
        }
        with filled(str(tmp_path), settings) as base:
            assert codes(asked(base, rerank="on"))[0] == "A-3"
            [request] = running.asked
            assert (request.path, request.key) == ("/v1/rerank", "Bearer a-secret-of-mine")
            assert request.body["query"] == "engine starts"
            if shape == "service":
                assert (request.body["model"], request.body["top_n"]) == ("m", 4)

            for trick in (services.status(400, "no"), services.garbage):
                running.always = trick
                answer = asked(base, rerank="on")
                assert codes(answer) == codes(asked(base))
                assert answer.notices[0].startswith("the second look did not run: the reranking")
                assert "a-secret-of-mine" not in str(answer.notices)


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    with (
        filled(str(tmp_path), {"rerank_model": "nowhere"}) as base,
        pytest.raises(InvalidInput, match="there is no model 'nowhere'"),
    ):
        asked(base, rerank="on")
    states = str(FIXTURES / "models" / "states")
    with filled(str(tmp_path / "b"), {"rerank_model": states, "rerank_budget": 9.0}) as base:
        answer = asked(base, rerank="on")
        assert "gives no score a pair" in answer.notices[0]


def test_a_package_of_data_is_taken_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "site" / "knowbase_reranker"
    shutil.copytree(PAIRS, package)
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    settings: dict[str, Any] = {"rerank_model": "knowbase_reranker", "rerank_budget": 20.0}
    with filled(str(tmp_path / "b"), settings) as base:
        assert codes(asked(base, rerank="on"))[0] == "A-3"


def test_the_command_takes_it_from_kb_toml(kb: Kb) -> None:
    for code, text in TEXTS.items():
        kb("note", text, "--code", code)
    kb.write("kb.toml", f"[rerank]\nmodel = '{PAIRS}'\nbudget = 20\n")
    found = kb.json("search", "engine starts", "--fts-only", "--rerank", "on")
    assert found["hits"][0]["code"] == "A-3"
    assert "rerank" in kb("search", "engine starts", "--explain").out
    error = kb.error("config", code=2, env={"KB_RERANK_API_KEY": "x"})
    assert "put it into KB_RERANK_KEY" in error


@pytest.fixture(params=["sqlite", "postgres"])
def repeated(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    """Three notes that begin alike, which is what the embedder looks at, and one that does not."""
    place = str(tmp_path) if request.param == "sqlite" else new_base()
    with Base(knowbase.create(place).path, embedder=FarApart()) as base:
        for number in range(3):
            base.note(Note(f"deploys deploys deploys number {number} freeze", code=f"S-{number}"))
        base.note(Note("Rollback: deploys are taken back, on any day of the week", code="O-1"))
        yield base


def test_diverse_hits_say_something_else_earlier(repeated: Base) -> None:
    plain = repeated.search("deploys", mode="keyword", explain=True)
    diverse = repeated.search("deploys", mode="keyword", explain=True, diverse=True)
    assert codes(plain)[-1] == "O-1"
    assert codes(diverse).index("O-1") == 1
    assert codes(diverse)[0] == codes(plain)[0]
    assert sorted(codes(diverse)) == sorted(codes(plain))
    scores = [hit.score for hit in diverse.hits]
    assert scores == sorted(scores, reverse=True)
    kept = as_kept(FarApart().embed_query("deploys deploys"))  # both are stored
    alike = part_of(diverse, codes(diverse)[2], "diverse").raw
    assert alike == pytest.approx(similarity(kept, kept), abs=1e-6)


def test_without_vectors_nothing_is_known_to_be_alike(tmp_path: Path) -> None:
    path = knowbase.create(str(tmp_path)).path
    found = load(None, {})
    without = Configuration(found.settings._replace(embed_vectors=False), found.origins, {})
    with Base(path, embedder=FarApart(), configuration=without) as base:
        base.notes(("deploys now", "deploys then"))
        answer = base.search("deploys", diverse=True)
        assert "there are no vectors to tell which hits say the same" in answer.notices[0]
