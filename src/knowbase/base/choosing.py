"""Keeping the ranking recipe that a base is made with: a line in its kb.toml."""

import os
import re
import tomllib

from knowbase import config
from knowbase.errors import Conflict, InvalidInput
from knowbase.ranking.custom import profiles

_TABLE = re.compile(r"^[ \t]*\[[ \t]*search[ \t]*\][^\n]*\n?", re.MULTILINE)


def check_profile(name: str, home: str) -> None:
    """Refuse a profile that is neither shipped nor in the kb.toml of that folder, and one beside
    another that stands there."""
    configuration = config.load(home, {})
    known = profiles(configuration.profiles, {})
    if name not in known:
        hint = "one of " + ", ".join(known)
        raise InvalidInput(f"unknown profile {name!r}", field="profile", hint=hint)
    said = configuration.settings.search_profile
    if configuration.origins["search_profile"] != "default" and said != name:
        raise Conflict(
            f"{config.FILE_NAME} has search.profile = {said!r}",
            field="profile",
            hint="change it there",
        )


def keep_profile(name: str, home: str) -> None:
    """Write it into the folder's kb.toml; whatever else stands there stays."""
    if config.load(home, {}).origins["search_profile"] != "default":
        return
    path = os.path.join(home, config.FILE_NAME)
    text = ""
    if os.path.exists(path):
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    changed = _with_profile(text, name)
    temporary = f"{path}.new"
    with open(temporary, "w", encoding="utf-8", newline="") as file:
        file.write(changed)
    os.replace(temporary, path)


def _with_profile(text: str, name: str) -> str:
    line = f'profile = "{name}"\n'
    table = _TABLE.search(text)
    if table is not None:
        end = "" if table[0].endswith("\n") else "\n"
        changed = text[: table.end()] + end + line + text[table.end() :]
    else:
        gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        changed = f"{text}{gap}[search]\n{line}"
    try:
        said = tomllib.loads(changed)["search"]["profile"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        said = None
    if said != name:  # a table that is written in another way
        raise InvalidInput(
            f"{config.FILE_NAME} cannot be changed here",
            field="profile",
            hint=f'write search.profile = "{name}" into it',
        )
    return changed
