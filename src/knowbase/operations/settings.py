"""Operations on the settings of a base: config, config set, config reset."""

import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from knowbase import config
from knowbase.operations.declare import Operation
from knowbase.store.location import replica_urls, shown
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.base.settings_file import SettingChange

KEY = Param(
    "as kb config shows it: search.default_top", positional=True, metavar="KEY", grammar="setting"
)
DRY_RUN = Param("only show what would be changed")


class SettingLine(NamedTuple):
    key: str
    value: Any
    origin: str
    about: str
    default: Any = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    variable: str = ""  # of the environment, which counts before kb.toml
    in_use: bool = True  # False: kb.toml was changed since this was started
    by_command: bool = False  # a server does not change it


class Config(NamedTuple):
    base: str
    settings: tuple[SettingLine, ...]


class ConfigRequest(NamedTuple):
    key: Annotated[
        str | None,
        KEY._replace(text="one setting, or all of a section: search", single=True, grammar=""),
    ] = None


def show_config(base: "Base", request: ConfigRequest) -> Config:
    """As kb.toml and the environment have it now."""
    written = config.load(base.home, os.environ)
    return Config(base.shown, tuple(_line(base, written, name) for name in _asked(request.key)))


def _asked(key: str | None) -> tuple[str, ...]:
    """The settings of that section, or the one."""
    names = config.Settings._fields
    if key is None:
        return names
    section = f"{key.rstrip('.')}."
    return tuple(one for one in names if config.dotted(one).startswith(section)) or (
        config.name_of(key),
    )


def _line(base: "Base", written: config.Configuration, name: str) -> SettingLine:
    about, value = config.ABOUT[name], getattr(written.settings, name)
    in_use = value == getattr(base.settings, name)
    if name == "base_read" and value:  # a password is never shown
        value = tuple(map(shown, replica_urls(value)))
    return SettingLine(
        config.dotted(name),
        value,
        written.origins[name],
        about.text,
        getattr(config.DEFAULTS, name),
        about.least,
        about.most,
        about.choices,
        f"KB_{name.upper()}",
        in_use,
        config.is_for_the_command(name),
    )


class SetRequest(NamedTuple):
    key: Annotated[str, KEY]
    value: Annotated[
        str, Param("its value; of a list, with commas", positional=True, metavar="VALUE")
    ]
    dry_run: Annotated[bool, DRY_RUN] = False


def set_config(base: "Base", request: SetRequest) -> "SettingChange":
    from knowbase.base.settings_file import change_setting

    key, value, dry_run = request
    return change_setting(base.home, key, value, os.environ, dry_run=dry_run)


class ResetRequest(NamedTuple):
    key: Annotated[str, KEY._replace(single=True)]
    dry_run: Annotated[bool, DRY_RUN] = False


def reset_config(base: "Base", request: ResetRequest) -> "SettingChange":
    from knowbase.base.settings_file import change_setting

    return change_setting(base.home, request.key, None, os.environ, dry_run=request.dry_run)


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "config",
            "Show each setting and where it comes from",
            ConfigRequest,
            show_config,
            near=True,
            whole=True,
            examples=(
                "kb config",
                "kb config search.default_top",
                "KB_SEARCH_DEFAULT_TOP=5 kb config",
            ),
        ),
        Operation(
            "config set",
            "Change a setting in the base's kb.toml",
            SetRequest,
            set_config,
            writes=True,
            near=True,
            whole=True,
            examples=("kb config set search.default_top 5", "kb config set index.hidden true"),
        ),
        Operation(
            "config reset",
            "Take a setting out of the base's kb.toml: then it is as by default",
            ResetRequest,
            reset_config,
            writes=True,
            near=True,
            whole=True,
            examples=("kb config reset search.default_top --dry-run",),
        ),
    )
}
