"""A little of each part of the campaign; `python3 dev.py soak` does the rest."""

import random
from pathlib import Path

import pytest

from campaign import clients, damage, failing, faults, files, isolation, kills, queries, slow, table
from campaign.__main__ import PARTS, run_of
from campaign.part import Budget, Outcome, on_all_cores
from campaign.scenes import ManyNotes, Scene, Upgrade, WriteNote

SEED = 5
LITTLE = Budget(0.0004, 30)


def test_every_part_can_be_run() -> None:
    assert all(callable(run_of(part)) for part in PARTS)
    assert sum(part.share for part in PARTS) == pytest.approx(1)


def test_any_text_is_a_query_and_both_engines_answer_alike() -> None:
    """C2, S3-16"""
    outcome = queries.parse(Budget(0.002, 30), SEED) + queries.ask(LITTLE, SEED)
    assert outcome.wrong == ()
    assert outcome.done["parsed"] == 2_000
    assert outcome.done["of them the same of both engines"] > 0


@pytest.mark.parametrize("scene", [WriteNote(), ManyNotes(), Upgrade()], ids=lambda one: one.name)
def test_a_command_that_is_killed_loses_nothing(scene: Scene, tmp_path: Path) -> None:
    """S0-22"""
    stage = kills.staged(scene, tmp_path)
    kills.kill_once(stage, random.Random(SEED))


def test_spoilt_files_are_stored_or_refused() -> None:
    outcome = files.spoil(Budget(0.004, 30), SEED)
    assert outcome.wrong == ()
    assert outcome.done == {"spoilt files": 40}


def test_damaged_bases_are_noticed_and_repaired() -> None:
    assert damage.work(Budget(0.001, 30), SEED).wrong == ()


def test_failing_disks_and_memory_lose_nothing(tmp_path: Path) -> None:
    failing.install()
    try:
        whole = faults.template(tmp_path)
        outcome = faults.fail_files(Budget(0.012, 30), SEED, whole)
        outcome += faults.fail_memory(Budget(0.02, 30), SEED, whole)
    finally:
        failing.uninstall()
    assert outcome.wrong == ()
    assert min(outcome.done.values()) > 0


def test_many_clients_are_answered() -> None:
    outcome = clients.run(Budget(0.001, 1.5), SEED)
    assert outcome.wrong == ()
    assert outcome.done["search calls"] > 0


def test_another_project_is_not_told_of() -> None:
    """What numbers tell is left to the campaign: it asks far more."""
    outcome = isolation.ask_all("sqlite", Budget(0.01, 30), SEED + 1)
    assert [one for one in outcome.wrong if "is told" in one or "status" in one] == []
    assert outcome.done["calls, sqlite"] == 30


def test_slow_clients_keep_nobody_out() -> None:
    outcome = slow.run(Budget(0.05, 30), SEED)
    assert outcome.wrong == ()
    assert outcome.done["unfinished connections"] == 100


def test_processes_share_the_work() -> None:
    outcome = on_all_cores(queries.parse, Budget(0.001, 30, cores=2), SEED)
    assert outcome.done == {"parsed": 1_000}


def test_the_table_says_what_was_done_and_what_went_wrong(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n\n{table.BEGIN}\nold\n{table.END}\n\nThe end.\n")
    wrong = ("asking 'a|b': ValueError: 1", "asking 'c': ValueError: 2")
    outcome = Outcome({"asked": 7}, {"asked": 9_000}, wrong)
    table.write([table.Row("queries", "texts", outcome, 3.2)], 3, 18, page)
    text = page.read_text()
    assert "asked: 7 of 9,000" in text
    assert "asking 'a\\|b': ValueError: 1 (2 times) | 3 |" in text
    assert "--minutes 3 --seed 18" in text
    assert "old" not in text
    assert text.startswith("# Page\n")
    assert text.endswith("The end.\n")
