"""The names under which synonyms are kept, and how."""

SYNONYMS = "synonyms:"
"""What the names of groups of synonyms begin with, which are kept among the saved searches: no
search can be called so."""

SYNONYM_NAMES = (SYNONYMS, "synonyms;")  # from the first such name up to what follows the last

JOINT = " = "


def members(group: str) -> list[str]:
    """The words of a group, as it is kept."""
    return group.split(JOINT)
