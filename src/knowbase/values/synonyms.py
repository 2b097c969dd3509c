"""The names under which synonyms are kept."""

SYNONYMS = "synonyms:"
"""What the names of groups of synonyms begin with, which are kept among the saved searches: no
search can be called so."""

SYNONYM_NAMES = (SYNONYMS, "synonyms;")  # from the first such name up to what follows the last
