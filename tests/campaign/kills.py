"""Part 2: commands are killed at random moments; the base is sound, what was acknowledged is
there, and the command, repeated, ends well."""

import random
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from campaign.part import Budget, Outcome, complaint, on_all_cores
from campaign.scenes import SCENES, Scene
from conftest import Kb, environment

KILLS = 500
PATIENCE = 120.0
EARLIEST = 0.4  # of the time that the command takes: before, it has done nothing but start
SOONER = 0.9  # after a kill that came too late


class Stage:
    """A scene, the folder that is copied for it, and how long its command takes."""

    def __init__(self, scene: Scene, template: Path, seconds: float) -> None:
        self.scene = scene
        self.template = template
        self.seconds = seconds


class Kill(NamedTuple):
    """How a process ended, and what it had printed."""

    was_killed: bool
    printed: str


def staged(scene: Scene, folder: Path) -> Stage:
    """The scene made ready, and run once without a kill."""
    template = Kb(folder / scene.name.replace(" ", "-") / "template")
    template.folder.mkdir(parents=True)
    scene.make(template)
    copy = copied(template.folder)
    scene.prepare(copy, random.Random(1))
    started = time.monotonic()
    process = start(scene, copy)
    _, err = process.communicate(timeout=PATIENCE)
    seconds = time.monotonic() - started
    assert process.returncode == 0, err
    scene.check_done(copy) if scene.words() else scene.check_killed(copy, "")
    return Stage(scene, template.folder, seconds)


def copied(template: Path) -> Kb:
    target = template.parent / "copy"
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(template, target)
    return Kb(target)


def start(scene: Scene, kb: Kb) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        scene.command(kb), cwd=kb.folder, env=environment(), text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def killed(stage: Stage, kb: Kb, chance: random.Random) -> Kill:
    """Start the command, and kill it at some moment of its life."""
    process = start(stage.scene, kb)
    time.sleep(stage.seconds * chance.uniform(EARLIEST, 1.0))
    process.send_signal(signal.SIGKILL)
    out, _ = process.communicate(timeout=PATIENCE)
    was_killed = process.returncode == -signal.SIGKILL
    if not was_killed:
        stage.seconds *= SOONER
    return Kill(was_killed, out)


def kill_once(stage: Stage, chance: random.Random) -> bool:
    """Kill it and look; whether it was still at work."""
    kb = copied(stage.template)
    stage.scene.prepare(kb, chance)
    kill = killed(stage, kb, chance)
    stage.scene.check_killed(kb, kill.printed)
    stage.scene.repeat(kb)
    stage.scene.check_done(kb)
    return kill.was_killed


def drawn() -> list[Scene]:
    """Each scene as often as it is to be had."""
    return [scene for kind, often in SCENES for scene in [kind()] * often]


def work(budget: Budget, seed: int) -> Outcome:
    chance = random.Random(seed)
    ends, aim = budget.ends(), budget.of(KILLS)
    stages: dict[Scene, Stage] = {}
    wrong: list[str] = []
    done: dict[str, int] = {"kills": 0}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scenes = drawn()
        order = chance.sample(scenes, len(scenes))
        turn = 0
        while done["kills"] < aim and time.monotonic() < ends:
            scene = order[turn % len(order)]
            turn += 1
            try:
                if scene not in stages:
                    stages[scene] = staged(scene, folder)
                was_killed = kill_once(stages[scene], chance)
            except (Exception, subprocess.TimeoutExpired) as error:
                wrong.append(complaint(f"{scene.name}, turn {turn}", error))
                was_killed = True
            done["kills"] += was_killed
            done["too late"] = done.get("too late", 0) + (not was_killed)
    return Outcome(done, {"kills": aim}, tuple(wrong))


def run(budget: Budget, seed: int) -> Outcome:
    return on_all_cores(work, budget, seed)
