"""Completion scripts for the shells, made from the operations' declarations."""

from collections.abc import Sequence

from knowbase.cli.arguments import flags
from knowbase.errors import InvalidInput
from knowbase.operations import NAMES, load

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
    lines = [f'    {name}) words="{" ".join(flags(load(name)))}" ;;' for name in NAMES]
    bash = _BASH.format(commands=" ".join((*NAMES, "completion")), cases="\n".join(lines))
    return bash if shell == "bash" else f"autoload -Uz bashcompinit && bashcompinit\n{bash}"


def _fish() -> str:
    lines = []
    for name in NAMES:
        operation = load(name)
        lines.append(
            f"complete -c kb -n __fish_use_subcommand -f -a {name} -d '{operation.summary}'"
        )
        lines += [
            f"complete -c kb -n '__fish_seen_subcommand_from {name}' -l {flag[2:]}"
            for flag in flags(operation)
            if flag.startswith("--")
        ]
    return "\n".join(lines)
