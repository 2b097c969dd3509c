"""The table of a campaign, and its place in docs/reliability.md."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from campaign.part import MINUTES, Outcome

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- campaign -->", "<!-- /campaign -->"
MOST_SHOWN = 6  # complaints of one part


class Row(NamedTuple):
    """One part of a campaign that has been run."""

    part: str
    about: str
    outcome: Outcome
    seconds: float


def table(rows: Sequence[Row]) -> str:
    lines = [
        "| part | what is done | how many | what went wrong | seconds |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        cells = (row.part, row.about, _number(row.outcome), _wrong(row.outcome))
        lines.append("| " + " | ".join(map(_cell, cells)) + f" | {row.seconds:,.0f} |")
    return "\n".join(lines)


def _number(outcome: Outcome) -> str:
    """What was done, and of how much where that is more."""
    said = []
    for name in dict.fromkeys((*outcome.done, *outcome.aimed)):
        done, aimed = outcome.done.get(name, 0), outcome.aimed.get(name, 0)
        said.append(f"{name}: {done:,}" + (f" of {aimed:,}" if done < aimed else ""))
    return "; ".join((*said, *outcome.measured))


def _wrong(outcome: Outcome) -> str:
    return "; ".join(_most(outcome.wrong)) or "nothing"


def _most(wrong: Sequence[str]) -> list[str]:
    """The first of each kind; a complaint often differs from others by its numbers alone."""
    kinds = Counter(map(_kind, wrong))
    first = {_kind(one): one for one in reversed(wrong)}
    shown = [
        f"{first[kind]} ({number:,} times)" if number > 1 else first[kind]
        for kind, number in kinds.most_common(MOST_SHOWN)
    ]
    if len(kinds) > MOST_SHOWN:
        shown.append(f"and {sum(kinds.values()):,} in all, of {len(kinds):,} kinds")
    return shown


def _kind(complaint: str) -> str:
    """A complaint without its numbers and values."""
    return re.sub(r"\{.*?\}|'[^']*'|\"[^\"]*\"|\d+", "…", complaint)


def _cell(text: str) -> str:
    """A text that ends no cell, and is not taken for markup."""
    return re.sub(r"([|<>*_`\[\]])", r"\\\1", text.replace("\\", "\\\\"))


def write(rows: Sequence[Row], minutes: float, seed: int, page: Path = PAGE) -> None:
    """Put the table in the place of the last one."""
    day = dt.date.today()
    size = f"{minutes / MINUTES:.0%} of a whole campaign"
    words = f"{day}, {size}: `python3 dev.py soak --minutes {minutes:g} --seed {seed}`."
    text = page.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{words}\n\n{table(rows)}\n{END}{after}", encoding="utf-8")
