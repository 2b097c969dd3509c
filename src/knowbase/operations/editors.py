"""How programs are asked to show a file at a line, or a PDF at a page."""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence

from knowbase.errors import InvalidInput

PLUS = (
    "vi", "vim", "nvim", "gvim", "mvim", "view", "nano", "pico", "emacs", "emacsclient", "kak",
    "joe", "jed", "mg", "ne", "jove", "mcedit", "gedit", "geany", "bbedit", "pluma",
)  # fmt: skip
COLON = ("hx", "helix", "subl", "sublime_text", "zed", "zeditor", "micro", "lapce", "atom")
GOTO = ("code", "code-insiders", "codium", "vscodium", "cursor", "windsurf", "positron")
LINE = ("idea", "pycharm", "webstorm", "goland", "clion", "rubymine", "phpstorm", "rider", "charm",
        "fleet", "kate", "kwrite", "xed")  # fmt: skip
LETTER = ("mate", "txmt")

_VIEWERS: dict[str, Callable[[str, int], list[str]]] = {
    "zathura": lambda path, page: ["-P", str(page), path],
    "okular": lambda path, page: ["-p", str(page), path],
    "evince": lambda path, page: ["-i", str(page), path],
    "atril": lambda path, page: ["-i", str(page), path],
    "xreader": lambda path, page: ["-i", str(page), path],
    "qpdfview": lambda path, page: [f"{path}#{page}"],
    "mupdf": lambda path, page: [path, str(page)],
    "xpdf": lambda path, page: [path, str(page)],
    "SumatraPDF": lambda path, page: ["-page", str(page), path],
    "sioyek": lambda path, page: ["--page", str(page), path],
}
EXPLORER = "explorer"  # its exit code says nothing
_BROWSERS = ("firefox", "chromium", "google-chrome", "brave-browser", "microsoft-edge")


def at_line(editor: Sequence[str], path: str, line: int) -> list[str]:
    """The command that shows a file at a line, as this editor takes it; one that nobody knows
    gets the file."""
    name = os.path.splitext(os.path.basename(editor[0]))[0].lower()
    if name in PLUS:
        return [*editor, f"+{line}", path]
    if name in COLON:
        return [*editor, f"{path}:{line}"]
    if name in GOTO:
        return [*editor, "--goto", f"{path}:{line}"]
    if name in LINE:
        return [*editor, "--line", str(line), path]
    if name in LETTER:
        return [*editor, "-l", str(line), path]
    if name == "notepad++":
        return [*editor, f"-n{line}", path]
    return [*editor, path]


def own_editor(environment: Mapping[str, str]) -> list[str]:
    """What the user edits with; nothing when they have not said."""
    import shlex

    named = environment.get("VISUAL") or environment.get("EDITOR") or ""
    return shlex.split(named, posix=sys.platform != "win32")


def at_page(path: str, page: int, find: Callable[[str], str | None] = shutil.which) -> list[str]:
    """The command that shows a PDF at a page: the first viewer here that can, else a browser,
    else whatever the system takes, which starts at the first page."""
    for name, arguments in _VIEWERS.items():
        if find(name):
            return [name, *arguments(path, page)]
    for name in _BROWSERS:
        if find(name):
            from pathlib import Path

            return [name, f"{Path(path).as_uri()}#page={page}"]
    return opener(path, find)


def browser(address: str, find: Callable[[str], str | None] = shutil.which) -> list[str]:
    """The command that shows a page of the web."""
    try:
        return opener(address, find)
    except InvalidInput:
        for name in _BROWSERS:
            if find(name):
                return [name, address]
        raise InvalidInput(f"there is no browser here for {address}", field="reference") from None


def opener(path: str, find: Callable[[str], str | None] = shutil.which) -> list[str]:
    """The command that opens a file as a click would."""
    if sys.platform == "darwin":
        return ["open", path]
    if sys.platform == "win32":
        return [EXPLORER, path]  # no shell reads the name
    for name in ("xdg-open", "gio", "wslview"):
        if find(name):
            return [name, "open", path] if name == "gio" else [name, path]
    raise InvalidInput(
        "there is no program here that opens files",
        field="reference",
        hint="set EDITOR, or see the path with --print",
    )
