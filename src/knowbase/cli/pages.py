"""The pages of the documentation, which come with the package: `kb help query`."""

import os

_HERE = os.path.dirname(os.path.abspath(__file__))
_PLACES = (
    os.path.join(os.path.dirname(_HERE), "docs"),  # in a wheel
    os.path.join(os.path.dirname(_HERE), "..", "..", "docs"),  # in a checkout
)


def page_names() -> list[str]:
    """What there is to read."""
    for folder in _PLACES:
        if os.path.isfile(os.path.join(folder, "query.md")):
            return sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".md"))
    return []


def page_of(name: str) -> str | None:
    """The page of that name, as it is written."""
    if name not in page_names():
        return None
    folder = next(one for one in _PLACES if os.path.isfile(os.path.join(one, "query.md")))
    with open(os.path.join(folder, f"{name}.md"), encoding="utf-8") as file:
        return file.read().rstrip("\n")
