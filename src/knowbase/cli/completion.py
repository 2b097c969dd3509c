"""Completion scripts for the shells, made from the operations' declarations."""

from collections.abc import Sequence

from knowbase.cli.arguments import flags
from knowbase.cli.commands import NAMES, load
from knowbase.errors import InvalidInput

SHELLS = ("bash", "zsh", "fish")
HELP = """\
usage: kb completion SHELL

Print a completion script for bash, zsh or fish.

examples:
  eval "$(kb completion bash)"
  kb completion fish > ~/.config/fish/completions/kb.fish"""

_BASH = """\
_kb() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{commands}" -- "$current"))
    return
  fi
  case ${{COMP_WORDS[1]}} in
{cases}
  esac
  if [ "$COMP_CWORD" -eq 2 ] && [[ $words != -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case $current in
    -*) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
    *) COMPREPLY=($(compgen -f -- "$current")) ;;
  esac
}}
complete -o filenames -F _kb kb"""


def script(arguments: Sequence[str]) -> str:
    """The script of the shell that is named."""
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
    lines = [f'    {name}) words="{" ".join(words)}" ;;' for name, words in _words().items()]
    bash = _BASH.format(commands=" ".join((*_words(), "completion")), cases="\n".join(lines))
    return bash if shell == "bash" else f"autoload -Uz bashcompinit && bashcompinit\n{bash}"


def _words() -> dict[str, list[str]]:
    """The commands, and what may follow each: its flags, or its second words and their flags."""
    found: dict[str, list[str]] = {}
    for name in NAMES:
        first, _, second = name.partition(" ")
        words = [second] * bool(second) + list(flags(load(name)))
        found[first] = list(dict.fromkeys([*found.get(first, []), *words]))
    return found


def _fish() -> str:
    lines = []
    for name, words in _words().items():
        summary = load(name).summary if name in NAMES else f"kb {name} …"
        told = summary.replace("'", r"\'")
        lines.append(f"complete -c kb -n __fish_use_subcommand -f -a {name} -d '{told}'")
        lines += [
            f"complete -c kb -n '__fish_seen_subcommand_from {name}' "
            + (f"-l {word[2:]}" if word.startswith("--") else f"-f -a {word}")
            for word in words
            if word.startswith("--") or not word.startswith("-")
        ]
    return "\n".join(lines)
