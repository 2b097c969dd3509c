"""What comes over a wire as JSON: how long it may be for an operation, and that texts are text."""

from collections.abc import Iterator, Mapping
from typing import Any

from knowbase.errors import InvalidInput
from knowbase.operations.declare import Operation

NO_TEXT = "it has half of a surrogate pair, such as \\ud800 alone"


def most_bytes_of(operation: Operation) -> int:
    return operation.most_kb << 10


def refuse_too_long(operation: Operation, values: Mapping[str, Any]) -> None:
    """For values that came by a way whose bounds are not those of the operation."""
    if sum(len(text) + 1 for text in texts_of(values)) > most_bytes_of(operation):
        raise InvalidInput(
            f"the request is longer than {operation.most_kb} kB", hint="ask for less at once"
        )


def refuse_surrogates(values: Mapping[str, Any]) -> None:
    """Half a pair of surrogates is no character: it can be neither stored nor answered."""
    for name, value in values.items():
        if not is_text(name):
            raise InvalidInput("a parameter's name is no text", field=ascii(name), hint=NO_TEXT)
        if not all(map(is_text, texts_of(value))):
            raise InvalidInput(f"{name} is no text", field=name, hint=NO_TEXT)


def is_text(text: str) -> bool:
    """Whether a text can be encoded."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def texts_of(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, however deep; an item that is none counts as an empty one."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        yield one if isinstance(one, str) else ""
        if isinstance(one, Mapping):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list | tuple):
            waiting += one


def encodable(value: Any) -> Any:
    """The value of JSON as it can be sent: a mark stands for what is no text."""
    if all(map(is_text, texts_of(value))):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping):
        return {encodable(name): encodable(one) for name, one in value.items()}
    return [encodable(one) for one in value]
