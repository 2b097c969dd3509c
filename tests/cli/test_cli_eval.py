"""kb eval: judged folders, own judgments, made ones, files and the gate."""

import json
import shutil
import signal
from pathlib import Path

import pytest
from children import PATIENCE, in_terminal, start, wait_until

from conftest import FIXTURES, Kb

PAGES = 900  # many batches: enough to be caught in the middle, however quick the machine
MOST_ASKED = 30
PAIRS = ("kitten cat", "puppy dog", "automobile car", "physician doctor", "infant baby")


class Judged(Kb):
    """`kb` in a folder without a base; what it indexes is kept in the user's cache."""

    @property
    def cached(self) -> list[Path]:
        return sorted((self.folder / "cache" / "knowbase" / "eval").glob("*.db"))


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return Judged(folder)


def corpus(kb: Kb, name: str, number: int = 12, *, extra: str = "") -> Path:
    """A judged set: half its questions name a word of the text, half only mean it."""
    documents, queries, qrels = [], [], ["query-id\tcorpus-id\tscore"]
    for place in range(number):
        said, meant = PAIRS[place % len(PAIRS)].split()
        text = f"Story {place}: the {said} number w{place}x was in the garden. {extra}"
        documents.append({"_id": f"d{place}", "title": f"Tale {place}", "text": text})
        if place >= MOST_ASKED:
            continue
        ask = f"story of w{place}x" if place % 2 else f"a {meant} outside, tale {place}"
        queries.append({"_id": f"q{place}", "text": ask})
        qrels.append(f"q{place}\td{place}\t1")
    for file, lines in (("corpus", documents), ("queries", queries)):
        kb.write(f"{name}/{file}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    kb.write(f"{name}/qrels/test.tsv", "\n".join(qrels) + "\n")
    return kb.folder / name


def test_a_judged_folder_gives_every_metric_for_the_product_and_its_floors(judged: Judged) -> None:
    """S4-17 S3-15 C35: latencies are part of every evaluation."""
    corpus(judged, "tales")
    found = judged.json("eval", "tales")
    assert (found["target"], found["documents"], found["questions"]) == ("tales", 12, 12)
    assert [system["name"] for system in found["systems"]] == ["best", "bm25", "semantic"]
    for system in found["systems"]:
        assert set(system["metrics"]) == {
            "ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5",
        }  # fmt: skip
        assert all(0 < value <= 1 for value in system["metrics"].values())
        assert 0 < system["p50_ms"] <= system["p95_ms"]
        assert system["metrics"]["recall@100"] == 1.0
    pairs = {(one["system"], one["against"]) for one in found["differences"]}
    assert pairs == {("best", "bm25"), ("best", "semantic")}
    assert all(one["low"] <= one["mean"] <= one["high"] for one in found["differences"])


def test_questions_that_a_leg_answers_better_are_listed_with_the_reason(judged: Judged) -> None:
    """Under a profile that follows words alone, questions by meaning are lost."""
    pairs = [pair.split() for pair in PAIRS]
    corpus(judged, "tales")
    for file, key in (("corpus", 0), ("queries", 1)):
        lines = [{"_id": f"{file[0]}{n}", "text": pair[key]} for n, pair in enumerate(pairs)]
        judged.write(f"tales/{file}.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    judged.write("tales/qrels/test.tsv", "".join(f"q{n}\tc{n}\t1\n" for n in range(len(pairs))))
    judged.write("kb.toml", '[profiles.words]\nextends = "kb"\nweights = { semantic = 0 }\n')
    found = judged.json("eval", "tales", "--compare", "words", "--hard", "3")
    losses = [one["better_ndcg"] - one["ndcg"] for one in found["hard"]]
    assert 1 <= len(losses) <= 3
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] > 0
    assert all(one["better"] == "semantic" and one["why"]["reason"] for one in found["hard"])
    shown = judged("eval", "tales", "--compare", "words", "--hard", "3").out
    assert f"  {found['hard'][0]['question']}\n" in shown
    assert judged.json("eval", "tales")["hard"] == []


def test_the_model_of_the_settings_is_the_one_that_is_measured(judged: Judged) -> None:
    corpus(judged, "tales")
    judged.write("kb.toml", '[embed]\nmodel = "nonsense"\n')
    assert "there is no model 'nonsense'" in judged.error("eval", "tales", code=2)
    judged.write("kb.toml", '[embed]\nmodel = "granite"\n')
    judged.json("eval", "tales")
    assert len(judged.cached) == 1


def test_a_second_look_is_measured_by_a_folder_beside_the_settings(judged: Judged) -> None:
    """Though the corpus lies in the cache, far from the settings."""
    shutil.copytree(FIXTURES / "models" / "pairs", judged.folder / "models" / "pairs")
    judged.write(
        "kb.toml",
        "[rerank]\nmodel = 'models/pairs'\nbudget = 20\n"
        "[profiles.once]\nextends = 'best'\nrerank = 0\n",
    )
    texts = {f"d{n}": f"the engine of car number {n} starts" for n in range(8)}
    texts["d8"] = "the engine of a van starts best best, and that is all that is said of it here"
    lines = [json.dumps({"_id": one, "text": text}) + "\n" for one, text in texts.items()]
    judged.write("cars/corpus.jsonl", "".join(lines))
    question = {"_id": "q0", "text": "how does the engine of a car start"}
    judged.write("cars/queries.jsonl", json.dumps(question) + "\n")
    judged.write("cars/qrels/test.tsv", "q0\td8\t1\n")
    found = judged.json("eval", "cars", "--compare", "best,once")
    twice, once = (one["metrics"]["ndcg@10"] for one in found["systems"][:2])
    assert twice > once


def test_profiles_are_compared_with_the_floors_and_the_first_of_them(judged: Judged) -> None:
    corpus(judged, "tales")
    found = judged.json("eval", "tales", "--compare", "kb,entries")
    assert [system["name"] for system in found["systems"]] == ["kb", "entries", "bm25", "semantic"]
    pairs = {(one["system"], one["against"]) for one in found["differences"]}
    assert ("entries", "kb") in pairs
    assert len(pairs) == 5
    assert "unknown profile 'kbx'" in judged.error("eval", "tales", "--compare", "kbx", code=2)
    assert "in any case" in judged.error("eval", "tales", "--compare", "kb,bm25", code=2)


def test_a_person_sees_a_table(judged: Judged) -> None:
    corpus(judged, "tales")
    out = judged("eval", "tales").out
    assert out.startswith("tales · 12 questions · 12 documents\n")
    assert "nDCG@10" in out
    assert "best − bm25" in out
    assert "95 % interval (paired bootstrap)" in out


def test_a_terminal_sees_how_far_it_is(judged: Judged) -> None:
    corpus(judged, "tales", 100)
    out = in_terminal(judged, "eval", "tales").out
    assert "/100 documents" in out
    assert "/30 questions" in out
    assert in_terminal(judged, "eval", "tales", "--quiet").out.startswith("\x1b[1mtales")


def test_many_small_corpora_are_averaged_over_all_questions(judged: Judged) -> None:
    corpus(judged, "all/a", 4)
    corpus(judged, "all/b", 8, extra="Another text.")
    found = judged.json("eval", "all")
    assert found["questions"] == 12
    assert {group["name"]: group["questions"] for group in found["groups"]} == {"a": 4, "b": 8}
    for system in found["systems"]:
        parts = [group["ndcg"][system["name"]] * group["questions"] for group in found["groups"]]
        assert system["metrics"]["ndcg@10"] == pytest.approx(sum(parts) / 12)


def test_an_indexed_corpus_is_kept_until_it_changes(judged: Judged) -> None:
    corpus(judged, "tales")
    judged("eval", "tales")
    (first,) = judged.cached
    written = first.stat().st_mtime_ns
    judged("eval", "tales")
    assert [path.stat().st_mtime_ns for path in judged.cached] == [written]
    judged("eval", "tales", "--fresh")
    assert first.stat().st_mtime_ns > written
    corpus(judged, "tales", extra="Something new.")
    judged("eval", "tales")
    assert len(judged.cached) == 2
    judged("eval", "tales", env={"KB_EVAL_CACHE": str(judged.folder / "mine")})
    assert len(list((judged.folder / "mine").glob("tales-*.db"))) == 1


@pytest.mark.parametrize("with_signal", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_evaluation_goes_on_where_it_was(
    judged: Judged, with_signal: signal.Signals
) -> None:
    corpus(judged, "tales", PAGES)
    process = start(judged, "eval", "tales")
    wait_until(lambda: documents(judged) > 0)
    process.send_signal(with_signal)
    process.communicate(timeout=PATIENCE)
    assert process.returncode in (130, -signal.SIGKILL)
    done = documents(judged)
    assert 0 < done < PAGES
    assert judged.json("eval", "tales")["documents"] == PAGES
    assert len(judged.cached) == 1


def documents(judged: Judged) -> int:
    if not judged.cached:
        return 0
    found = judged("list", "--json", "--base", judged.cached[0], code=None)
    return int(json.loads(found.out)["total"]) if found.code == 0 else 0


def test_what_was_saved_is_a_gate_that_the_same_search_passes(judged: Judged) -> None:
    corpus(judged, "tales")
    found = judged.json("eval", "tales", "--save", "run.json,run.md,run.svg")
    assert found["written"] == ["run.json", "run.md", "run.svg"]
    page = (judged.folder / "run.md").read_text()
    assert page.startswith("# tales\n\n12 questions · 12 documents\n")
    picture = (judged.folder / "run.svg").read_text()
    assert picture.startswith("<svg ")
    assert picture.count("<title>") == 15
    out = judged("eval", "tales", "--gate", "run.json").out
    assert "nothing fell: best, bm25, semantic on 12 questions" in out


def test_a_search_that_got_worse_fails_the_gate_and_is_still_reported(judged: Judged) -> None:
    corpus(judged, "tales", 24)
    judged("eval", "tales", "--save", "run.json")
    judged.write("kb.toml", "[profiles.best]\nweights.keyword = 0\nweights.semantic = 0\n")
    result = judged("eval", "tales", "--gate", "run.json", code=7)
    assert "best: nDCG@10 fell from " in result.out
    assert "semantic: " not in result.out.partition("against run.json")[2]
    report = judged.json("eval", "tales", "--gate", "run.json", code=7)
    assert {fall["system"] for fall in report["gate"]["falls"]} == {"best"}
    assert report["systems"][0]["metrics"]["ndcg@10"] < 0.5


def test_what_cannot_be_written_or_compared_is_refused_before_the_work(judged: Judged) -> None:
    corpus(judged, "tales")
    assert "it must end in" in judged.error("eval", "tales", "--save", "run.txt", code=2)
    assert "there is no folder" in judged.error("eval", "tales", "--save", "no/run.md", code=2)
    assert "cannot be read" in judged.error("eval", "tales", "--gate", "none.json", code=2)
    judged.write("odd.json", '{"per_question": {"ids": ["1"], "systems": {"kb": {}}}}')
    assert "is not a stored evaluation" in judged.error(
        "eval", "tales", "--gate", "odd.json", code=2
    )
    assert judged.cached == []


def test_a_baseline_of_other_questions_is_no_gate(judged: Judged) -> None:
    corpus(judged, "a/one")
    corpus(judged, "a/two")
    corpus(judged, "tales")
    judged("eval", "a", "--save", "run.json")
    assert "no question in common" in judged.error("eval", "tales", "--gate", "run.json", code=2)


def test_judged_documents_that_the_corpus_lacks_are_said(judged: Judged) -> None:
    folder = corpus(judged, "tales")
    with (folder / "qrels" / "test.tsv").open("a") as file:
        file.write("q0\tgone\t1\n")
    found = judged.json("eval", "tales")
    assert found["notices"] == ["tales: 1 judged documents are not in the corpus"]


def own_judgments(kb: Kb) -> Path:
    """The handbook's judged queries as a user would write them down."""
    judged = json.loads((FIXTURES / "judgments.json").read_text(encoding="utf-8"))
    lines = []
    for one in judged:
        paths = [f"handbook/{path}" for path in one["relevant"]]
        if one["section"]:
            paths[0] += f":{one['section']}"
        lines.append(json.dumps({"query": one["query"], "relevant": paths, "kind": one["kind"]}))
    return kb.write("mine.jsonl", "\n".join(lines))


def test_own_judgments_are_asked_of_the_own_base(own_handbook: Kb) -> None:
    """S4-23: a search over known entries gives the rankings that are expected."""
    own_judgments(own_handbook)
    found = own_handbook.json("eval", "mine.jsonl")
    assert (found["questions"], found["documents"]) == (88, 40)
    kinds = {group["name"] for group in found["groups"]}
    assert {"keyword", "meaning", "cjk", "identifier"} <= kinds
    hybrid, words, _ = found["systems"]
    assert hybrid["metrics"]["success@5"] > 0.85
    assert hybrid["metrics"]["ndcg@10"] > words["metrics"]["ndcg@10"]


def test_a_reference_that_leads_nowhere_is_an_error(own_handbook: Kb) -> None:
    own_handbook.write("mine.jsonl", '{"query": "deploy", "relevant": ["HB-T-0099"]}\n')
    said = own_handbook.error("eval", "mine.jsonl", code=2)
    assert "there is no 'HB-T-0099' in the base" in said


def test_a_test_set_is_made_from_the_base_written_and_asked(own_handbook: Kb) -> None:
    before = own_handbook.base.read_bytes()
    found = own_handbook.json("eval", "--make", "40")
    assert found["written"] == [".kb/questions.jsonl"]  # where no sync finds it
    assert (found["questions"], found["unanswerable"]) == (30, 10)
    assert {group["name"] for group in found["groups"]} == {"known-item", "heading", "held-out"}
    assert found["systems"][0]["metrics"]["success@5"] > 0.7
    assert all(0 <= system["no_answer"] <= 1 for system in found["systems"])
    lines = (own_handbook.folder / ".kb" / "questions.jsonl").read_text().splitlines()
    assert len(lines) == 40
    again = own_handbook.json("eval", ".kb/questions.jsonl")
    for one, other in zip(found["systems"], again["systems"], strict=True):
        assert one["metrics"] == other["metrics"]
    assert own_handbook.base.read_bytes() == before


def test_a_word_too_long_for_a_chunk_is_no_obstacle(own_handbook: Kb) -> None:
    own_handbook.write("handbook/min.md", "# B\n\n## A\n\n" + "x" * 9000 + "\n")
    own_handbook("sync")
    for seed in range(3):
        own_handbook.json("eval", f"q{seed}.jsonl", "--make", "40", "--seed", str(seed))


def test_other_questions_are_not_written_over(own_handbook: Kb) -> None:
    own_handbook("eval", "--make", "8")
    own_handbook("eval", "--make", "8")
    said = own_handbook.error("eval", "--make", "8", "--seed", "1", code=2)
    assert "questions.jsonl is there already" in said
    own_handbook("eval", "others.jsonl", "--make", "8", "--seed", "1")


def test_nothing_to_evaluate_and_no_base_are_said(own_handbook: Kb, tmp_path: Path) -> None:
    assert "nothing to evaluate with" in own_handbook.error("eval", code=2)
    assert "there is no nothing.jsonl" in own_handbook.error("eval", "nothing.jsonl", code=2)
    assert "there is no nothing" in own_handbook.error("eval", "nothing", code=2, cwd=tmp_path)
    assert "from 4 to 100000" in own_handbook.error("eval", "--make", "3", code=2)
    assert "there is no base" in own_handbook.error("eval", "--make", "8", code=4, cwd=tmp_path)


def test_questions_from_elsewhere_are_told_from_those_that_have_an_answer(judged: Judged) -> None:
    """The verdict of the first profile, by how often an answerable question is the likelier."""
    corpus(judged, "tales", 16)
    lines = [{"query": f"interest rates and tax of bond {n}", "relevant": []} for n in range(8)]
    judged.write("money.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    [telling] = judged.json("eval", "tales", "--foreign", "money.jsonl")["telling"]
    assert (telling["others"], telling["answerable"], telling["number"]) == ("foreign", 16, 8)
    assert telling["auroc"] > 0.9
    assert 0 <= telling["passing"] <= 1
    shown = judged("eval", "tales", "--foreign", "money.jsonl", "--save", "e.md,e.json").out
    assert "pass at 95 %" in shown
    assert "AUROC" in (judged.folder / "e.md").read_text()
    assert json.loads((judged.folder / "e.json").read_text())["telling"][0]["number"] == 8
    assert "there is no nowhere" in judged.error("eval", "tales", "--foreign", "nowhere", code=2)
