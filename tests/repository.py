"""A git repository that tests commit to."""

import os
import subprocess
from pathlib import Path

FIRST = "2024-02-01T10:00:00+01:00"


class Repository:
    """A git repository in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, at: str = FIRST, text: bytes = b"") -> str:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env = {
            **clean, "GIT_AUTHOR_NAME": "Ana Lopes", "GIT_AUTHOR_EMAIL": "ana@example.org",
            "GIT_AUTHOR_DATE": at, "GIT_COMMITTER_NAME": "Bo", "GIT_COMMITTER_EMAIL": "bo@x.org",
            "GIT_COMMITTER_DATE": at, "GIT_CONFIG_GLOBAL": os.devnull,
        }  # fmt: skip
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=env, check=True, capture_output=True,
            input=text,
        )  # fmt: skip
        return done.stdout.decode().strip()

    def commit(self, message: str, at: str = FIRST, **files: str) -> str:
        for name, text in files.items():
            path = self.folder / name.replace("__", "/").replace("_md", ".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-F", "-", at=at, text=message.encode())
        return self.git("rev-parse", "HEAD")
