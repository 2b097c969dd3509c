"""Keeping the ranking recipe that a base is made with: a line in its kb.toml."""

from knowbase import config
from knowbase.base.settings_file import change_setting
from knowbase.errors import Conflict, InvalidInput
from knowbase.ranking.custom import profiles


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
    change_setting(home, "search.profile", name, {})
