"""What is indexed of a chunk beside its fields."""

from collections.abc import Sequence
from functools import lru_cache

from knowbase.text.analysis import extras, type_mark
from knowbase.text.definitions import definition_terms
from knowbase.text.forms import forms, is_foreign


def index_terms(
    document_type: str,
    names: Sequence[str],
    title: str,
    heading: str | None = None,
    content: str = "",
) -> str:
    """What is indexed beside the fields themselves: their extras, the document's type and names."""
    words = [document_terms(document_type, tuple(names), title), *_surfaces(heading or "")]
    words += [extra.surface for extra in extras(content)]
    text = "\n".join(field for field in (title, heading, content) if field)
    words += [form.surface for form in forms(text, latin=is_foreign(text))]
    words += definition_terms(text)
    return " ".join(words)


@lru_cache(maxsize=1024)  # of more documents than are written together
def document_terms(document_type: str, names: tuple[str, ...], title: str) -> str:
    """What all chunks of a document begin with."""
    words = [type_mark(document_type), *names]
    for repeated in (*names, title):
        words += _surfaces(repeated)
    return " ".join(words)


@lru_cache(maxsize=1024)  # of more documents than are written together
def _surfaces(text: str) -> tuple[str, ...]:
    """Of what the chunks of a document have in common."""
    return tuple(extra.surface for extra in extras(text))
