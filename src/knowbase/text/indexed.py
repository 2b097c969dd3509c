"""What is indexed of a chunk beside its fields."""

from collections.abc import Sequence

from knowbase.text.analysis import extras, type_mark
from knowbase.text.definitions import definition_terms
from knowbase.text.forms import forms, is_foreign


def index_terms(document_type: str, names: Sequence[str], *fields: str | None) -> str:
    """What is indexed beside the fields themselves: their extras, the document's type and names."""
    words = [type_mark(document_type), *names]
    words += [extra.surface for name in names for extra in extras(name)]
    words += [extra.surface for field in fields if field for extra in extras(field)]
    text = "\n".join(field for field in fields if field)
    words += [form.surface for form in forms(text, latin=is_foreign(text))]
    words += definition_terms(text)
    return " ".join(words)
