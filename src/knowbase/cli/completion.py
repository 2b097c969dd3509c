"""Completion scripts for the shells, made from the operations' declarations."""

import re
from collections.abc import Sequence

from knowbase.cli.arguments import flags, options
from knowbase.cli.commands import COMPLETION, NAMES, below, load
from knowbase.cli.pages import page_names
from knowbase.errors import InvalidInput
from knowbase.operations.candidates import kind_of

HELPING = "help"
SHELLS = ("bash", "zsh", "fish")
_FILES = re.compile(r"\b(?:file|folder|path|picture|write)", re.IGNORECASE)
HELP = """\
usage: kb completion SHELL

Print a completion script for bash, zsh or fish.

examples:
  eval "$(kb completion bash)"
  kb completion fish > ~/.config/fish/completions/kb.fish"""

_BASH = """\
_kb() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}}
  local command=${{COMP_WORDS[1]}} words="" values="" second="" kind="" number
  local base=()
  if [ "$previous" = "=" ]; then
    previous=${{COMP_WORDS[COMP_CWORD-2]}}
  fi
  for (( number = 1; number < COMP_CWORD; number++ )); do
    if [ "${{COMP_WORDS[number]}}" = --base ]; then
      base=(--base "${{COMP_WORDS[number+1]}}")
    fi
  done
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$current"))
    return
  fi
  case $command in
{groups}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [ -n "$second" ] && [[ $current != -* ]]; then
    COMPREPLY=($(compgen -W "$second" -- "$current"))
    return
  fi
  local next=${{COMP_WORDS[2]}}
  [[ -n $second && " $second " == *" $next "* ]] && command="$command $next"
  case "$command $previous" in
{values}
  esac
  case $command in
{cases}
  esac
  if [ -z "$kind" ] && [[ $current != -* ]]; then
    case $command in
{places}
    esac
  fi
  if [ -n "$kind" ]; then
    local IFS=$'\n'
    COMPREPLY=($("${{COMP_WORDS[0]}}" completion values "${{base[@]}}" \
      "${{kind% *}}" "$current" 2> /dev/null))
    case $kind in
      *" files") COMPREPLY+=($(compgen -f -- "$current")) ;;
      *) compopt +o filenames 2> /dev/null; COMPREPLY=("${{COMPREPLY[@]// /\\\\ }}") ;;
    esac
    return
  fi
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$current"))
    return
  fi
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _kb kb knowbase"""


def script(arguments: Sequence[str]) -> str:
    """The script of the shell that is named."""
    if arguments[:1] == ["values"]:
        from knowbase.operations.candidates import values

        return values(arguments[1:])
    if set(arguments) & {"-h", "--help"}:
        return HELP
    shell = arguments[0] if arguments else ""
    if shell not in SHELLS:
        raise InvalidInput(
            f"no completion for {shell!r}" if shell else "name a shell",
            field="shell",
            hint="one of " + ", ".join(SHELLS) + '; e.g. eval "$(kb completion bash)"',
        )
    if shell == "fish":
        return _fish()
    bash = _bash()
    return bash if shell == "bash" else f"autoload -Uz bashcompinit && bashcompinit\n{bash}"


def _bash() -> str:
    groups = [
        f'    {name}) second="{" ".join(seconds)}" ;;' for name, seconds in _seconds().items()
    ]
    words = [f'    "{name}") words="{" ".join(flags(load(name)))}" ;;' for name in NAMES]
    values = [
        f'    "{name} {flag}") values="{" ".join(choices)}" ;;'
        for name in NAMES
        for flag, choices in _choices(name).items()
    ]
    values += [
        f'    "{name} {flag}") kind={kind} ;;'
        for name in NAMES
        for flag, kind in _kinds(name).items()
    ]
    values += [
        f'    "{name} {flag}") values=" " ;;' for name in NAMES for flag in _free(name)
    ]  # a blank: something is to be typed that nobody can offer
    values.append(f'    "{COMPLETION} {COMPLETION}") values="{" ".join(SHELLS)}" ;;')
    return _BASH.format(
        commands=" ".join(_firsts()),
        groups="\n".join(groups),
        values="\n".join(values),
        cases="\n".join(words),
        places="\n".join(f'    "{name}") kind="{_shown(kind)}" ;;' for name, kind in _places()),
    )


def _firsts() -> list[str]:
    return [*_commands(), COMPLETION, HELPING]


def _commands() -> list[str]:
    return list(dict.fromkeys(name.partition(" ")[0] for name in NAMES))


def _seconds() -> dict[str, list[str]]:
    """The commands that have commands below them, and these; help has all of them, and pages."""
    found = {first: below(first) for first in _commands() if below(first)}
    return {**found, HELPING: list(dict.fromkeys((*_commands(), *page_names())))}


def _choices(name: str) -> dict[str, tuple[str, ...]]:
    """The flags of a command that take one of some values."""
    return {
        field.flag: field.param.choices
        for field in options(load(name))
        if field.param.choices and not field.param.positional
    }


def _kinds(name: str) -> dict[str, str]:
    """The flags of a command that take what a base has."""
    found = (
        (field, kind_of(name, field)) for field in options(load(name)) if not field.param.positional
    )
    return {"--" + field.name.replace("_", "-"): kind for field, kind in found if kind}


def _free(name: str) -> list[str]:
    """The flags of a command that take a number or a text, and no file."""
    known = {*_choices(name), *_kinds(name)}
    return [
        field.flag
        for field in options(load(name))
        if not (field.param.positional or field.kind is bool or field.flag in known)
        and not _FILES.search(f"{field.param.metavar} {field.param.text}")
    ]


def _places() -> list[tuple[str, str]]:
    """The commands whose words are what a base has."""
    found = []
    for name in NAMES:
        placed = (one for one in options(load(name)) if one.param.positional)
        kind = next((kind for one in placed if (kind := kind_of(name, one))), None)
        if kind:
            found.append((name, kind))
    return found


def _shown(kind: str) -> str:
    """A document may also be called by its path."""
    return f"{kind} files" if kind == "code" else kind


def _fish() -> str:
    lines = []
    for first in _firsts():
        summary = load(first).summary if first in NAMES else f"kb {first} …"
        quoted = summary.replace("'", r"\'")
        lines.append(f"complete -c kb -n __fish_use_subcommand -f -a {first} -d '{quoted}'")
    for first, seconds in _seconds().items():
        lines += [_fish_line(first, f"-f -a {second}") for second in seconds]
    for name in NAMES:
        choices, kinds = _choices(name), _kinds(name)
        for flag in flags(load(name)):
            if flag.startswith("--"):
                values = f" -x -a '{' '.join(choices[flag])}'" if flag in choices else ""
                values = f" -x -a '{_fish_values(kinds[flag])}'" if flag in kinds else values
                values = " -x" if flag in _free(name) else values
                lines.append(_fish_line(name, f"-l {flag[2:]}{values}"))
    for name, kind in _places():
        lines.append(_fish_line(name, f"-a '{_fish_values(kind)}'"))
    lines += ["complete -c knowbase -w kb"]
    lines.append(_fish_line(COMPLETION, f"-f -a '{' '.join(SHELLS)}'"))
    return "\n".join(lines)


def _fish_values(kind: str) -> str:
    return f"(kb completion values {kind} (commandline -ct) 2> /dev/null)"


def _fish_line(name: str, what: str) -> str:
    seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in name.split())
    return f"complete -c kb -n '{seen}' {what}"
