"""Codes: short names of documents, that people type and terminals show."""

from knowbase.values.characters import composed

MOST = 120  # characters


def fit_code(code: str) -> str | None:
    """The code without what cannot be seen, on one line; None when none is left, or it is too long
    to be one."""
    seen = "".join(one for one in " ".join(composed(code).split()) if one.isprintable()).strip()
    return seen if 0 < len(seen) <= MOST else None
