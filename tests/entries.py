"""The fixture entries as a base: `python3 dev.py seed [--clear]`."""

import sys
from pathlib import Path
from typing import Any

import yaml

import knowbase
from knowbase import Base, Note

FILE = Path(__file__).parent / "fixtures" / "entries.yaml"


def fixtures() -> Any:
    """The entries, and the queries with their expected rankings."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def seed(base: Base, *, clear: bool = False) -> int:
    """Put every entry in, over the one that is there; `clear` removes them all first."""
    entries = fixtures()["entries"]
    if clear:
        there = [entry["id"] for entry in entries if base.store.find(entry["id"])]
        base.remove(there) if there else None
    for entry in entries:
        fields = {name: entry[name] for name in ("roles", "confidence", "parent") if name in entry}
        base.note(
            Note(
                f"---\n{yaml.safe_dump(fields)}---\n{entry['content']}",
                title=entry["content"].split(":")[0][:60],
                tags=tuple(entry["tags"]),
                type=entry["entry_type"],
                code=entry["id"],
                replaces=entry["id"] if base.store.find(entry["id"]) else None,
            )
        )
    return len(entries)


if __name__ == "__main__":
    with knowbase.create(sys.argv[1]) as made:
        print(f"{seed(made, clear='--clear' in sys.argv)} entries in {made.path}")
