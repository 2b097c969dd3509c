"""What operations take and give, as JSON Schema."""

from typing import Annotated, NamedTuple

import pytest

from knowbase.operations import NAMES, load
from knowbase.operations.declare import Param
from knowbase.operations.schema import request_schema, result_schema, type_schema
from knowbase.search.answer import Answer


class Asked(NamedTuple):
    words: Annotated[str, Param("what to look for")]
    kinds: Annotated[tuple[str, ...], Param("of these", choices=("a", "b"))] = ()
    top: Annotated[int, Param("how many", least=1, most=50)] = 10


def test_a_request_is_an_object_that_refuses_what_it_does_not_name() -> None:
    assert request_schema(Asked) == {
        "type": "object",
        "properties": {
            "words": {"type": "string", "description": "what to look for"},
            "kinds": {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "description": "of these",
            },
            "top": {
                "type": "integer",
                "minimum": 1,
                "maximum": 50,
                "default": 10,
                "description": "how many",
            },
        },
        "required": ["words"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_can_say_what_it_gives(name: str) -> None:
    schema = result_schema(load(name))
    assert schema.get("type") in ("object", "array") or "anyOf" in schema


def test_a_result_names_the_parts_of_its_parts() -> None:
    schema = type_schema(Answer)
    assert schema["properties"]["hits"]["items"]["properties"]["code"] == {"type": "string"}
