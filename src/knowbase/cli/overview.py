"""What `kb` and `kb help` print: the commands by what one wants to do, or each with a line."""

from knowbase.cli.commands import COMPLETION, NAMES, load
from knowbase.operations.goals import GOALS

WIDTH = 79
_GAP = 14


def short_overview() -> str:
    """What `kb` alone prints: all of it fits a terminal of 24 lines."""
    firsts = dict.fromkeys(name.partition(" ")[0] for name in NAMES)
    known = {name for names in GOALS.values() for name in names}
    more = tuple(name for name in firsts if name not in known)
    groups = {goal: tuple(one for one in names if one in firsts) for goal, names in GOALS.items()}
    lines = [line for goal, names in groups.items() for line in _group(goal, names)]
    return "\n".join(
        (
            "A knowledge base: put files and notes in, find them by words and by meaning.",
            "",
            *lines,
            *_group("more", (*more, COMPLETION, "help")),
            "",
            'start with:   kb init && kb add docs/ && kb search "what am I looking for"',
            "a command:    kb COMMAND --help",
            "all of them:  kb help",
            "a page:       kb help query (files, search, memory, agents, python …)",
        )
    )


def _group(goal: str, names: tuple[str, ...]) -> list[str]:
    """The names behind their goal, on as many lines as they take."""
    lines = [f"{goal:<{_GAP}}"]
    for name in names:
        if len(lines[-1]) + len(name) > WIDTH:
            lines.append(" " * _GAP)
        lines[-1] += f"{name}  "
    return [line.rstrip() for line in lines]


def overview(group: str = "") -> str:
    """What `kb help` prints; with a group, its commands alone."""
    width = max(map(len, NAMES))
    names = [name for name in NAMES if not group or name.startswith(group + " ")]
    lines = [f"  {name:<{width}}  {load(name).summary}" for name in names]
    if group:
        return "\n".join((f"usage: kb {group} COMMAND [options]", "", *lines))
    from knowbase.cli.pages import page_names

    pages = ", ".join(page_names())
    return "\n".join(
        (
            "usage: kb COMMAND [options]",
            "",
            "A knowledge base: put files and notes in, find them by words and by meaning.",
            "",
            *lines,
            f"  {COMPLETION:<{width}}  Print a completion script for bash, zsh or fish",
            "",
            "start with:",
            '  kb init && kb add docs/ && kb search "what am I looking for"',
            "",
            "kb COMMAND --help shows the options and examples of a command.",
            *([f"kb help PAGE shows a page: {pages}."] if pages else []),
            "exit codes: 0 done, 1 unexpected, 2 bad input, 3 not found, 4 base, 5 model,",
            "            6 some files could not be read, 7 kb eval: below the baseline,",
            "            8 an optional package is missing,",
            "            9 it took too long, 130 interrupted",
        )
    )
