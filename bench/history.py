"""What keeping history costs: a repository's commits written into a base one after the other,
with history and without. CPU time and bytes, for the machine is never quiet.

    python bench/history.py                     this repository's pages, its last 60 commits
    python bench/history.py --repository FOLDER --commits 300 --pattern '*.md'
"""

import argparse
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from knowbase.base import Base, create
from measure import Row, cpu, report

ROUNDS = 15


class Replay:
    """The files of one repository, commit by commit."""

    def __init__(self, repository: Path, pattern: str, commits: int) -> None:
        self._repository, self._pattern = repository, pattern
        found = self._git("log", "--reverse", "--format=%H", f"-{commits}", "--", pattern)
        self.commits = found.split()

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(self._repository), *arguments],
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace")

    def into(self, folder: Path) -> Iterator[None]:
        """Write what each commit changed."""
        for place, commit in enumerate(self.commits):
            listed: tuple[str, ...] = ("ls-tree", "-r", "--name-only", "-z", commit)
            if place:
                between = (self.commits[place - 1], commit)
                listed = ("diff", "--name-only", "-z", *between, "--", self._pattern)
            for name in self._git(*listed).split("\0"):
                if name and Path(name).match(self._pattern):
                    self._write(folder / name, commit, name)
            yield

    def _write(self, file: Path, commit: str, name: str) -> None:
        try:
            text = self._git("show", f"{commit}:{name}")
        except subprocess.CalledProcessError:
            file.unlink(missing_ok=True)
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def filled(home: Path, replay: Replay, keep: str) -> tuple[float, Base]:
    """A base that has seen every commit, and the CPU seconds of its syncs."""
    home.mkdir()
    (home / "kb.toml").write_text(f'[embed]\nvectors = false\n[history]\nkeep = ["{keep}"]\n')
    base, spent = create(str(home)), 0.0
    (home / "files").mkdir()
    for number, _ in enumerate(replay.into(home / "files")):
        spent += cpu(lambda: base.sync(prune=True) if number else base.add([home / "files"]))  # noqa: B023
    base.store._connections.get().execute("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")  # type: ignore[attr-defined]
    return spent, base


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repository", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--pattern", default="*.md")
    parser.add_argument("--commits", type=int, default=60)
    given = parser.parse_args()
    replay = Replay(given.repository, given.pattern, given.commits)
    with TemporaryDirectory() as folder:
        sides = {k: filled(Path(folder) / k, replay, k) for k in ("off", "forever")}
        rows = []
        for keep, (spent, base) in sides.items():
            rows.append(Row(f"{len(replay.commits)} commits, history {keep}", [spent], "s CPU"))
            rows.append(
                Row(f"its file, history {keep}", [Path(base.path).stat().st_size / 1e6], "MB")
            )
        times: dict[str, list[float]] = {keep: [] for keep in sides}
        for number in range(ROUNDS + 1):  # the first loads what is loaded once
            for keep, (_, base) in sides.items():
                spent = cpu(lambda: base.search(f"search the base {number}", mode="keyword"))  # noqa: B023
                times[keep] += [spent] if number else []
        for keep, spent_each in times.items():
            shown = [statistics.median(spent_each) * 1000]
            rows.append(Row(f"a search by words, history {keep}", shown, "ms CPU"))
        for _, base in sides.values():
            changes, versions = base.store.history().last(), len(base.store.history().versions())
            print(f"{changes} changes, {versions} versions")
            base.close()
    report("history", rows, as_json=False)


if __name__ == "__main__":
    main()
