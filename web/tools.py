"""Install what is tested with beside Python, where that is allowed: for the page Node, its
packages and a browser, for stores a pooler. What cannot be had is said, its tests are skipped."""

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

WEB = Path(__file__).resolve().parent
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PROGRAMS = {
    "chromium": BROWSERS,
    "nodejs": ("node",),
    "npm": ("npm",),
    "pgbouncer": ("pgbouncer", "/usr/sbin/pgbouncer"),
}


def main() -> None:
    missing = [package for package, names in PROGRAMS.items() if not any(map(shutil.which, names))]
    if missing and not installed(missing):
        print("the tests want", ", ".join(missing), "(apt-get install)", flush=True)
    if shutil.which("npm"):
        packages()


def installed(names: list[str]) -> bool:
    """By apt, for root alone: nobody is asked for a password."""
    if not shutil.which("apt-get") or getattr(os, "geteuid", lambda: 1)() != 0:
        return False
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (("update",), ("install", "--yes", "--no-install-recommends", *names)):
        print("$ apt-get", *command, flush=True)
        done = subprocess.run(
            ("apt-get", "-qq", *command), env=quietly, stdout=subprocess.DEVNULL, check=False
        )
    return done.returncode == 0


def packages() -> None:
    """What package-lock.json says, once for each of its states."""
    state = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    stamp = WEB / "node_modules" / ".installed"
    if stamp.exists() and stamp.read_text() == state:
        return
    print("$ npm ci", flush=True)
    done = subprocess.run(("npm", "ci", "--silent"), cwd=WEB, check=False)
    if done.returncode == 0:
        stamp.write_text(state)
    else:
        print("the page's packages cannot be had: npm ci", flush=True)


if __name__ == "__main__":
    main()
