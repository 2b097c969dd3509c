"""What operations take and give, as JSON Schema."""

from typing import Annotated, NamedTuple

import pytest

from knowbase.errors import InvalidInput
from knowbase.operations import NAMES, load
from knowbase.operations.schema import request_schema, result_schema, type_schema
from knowbase.search.answer import Answer
from knowbase.values.parameters import Group, Param, build, parameters


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


class Kept(NamedTuple):
    name: Annotated[str, Param("what to call it")]
    asked: Annotated[Asked, Group(Asked)]
    twice: Annotated[bool, Param("once more")] = False


def test_a_group_stands_for_the_parameters_of_another_request() -> None:
    assert [field.name for field in parameters(Kept)] == ["name", "words", "kinds", "top", "twice"]
    kept = build(Kept, {"name": "a", "words": "b", "kinds": "a,b"})
    assert kept == Kept("a", Asked("b", ("a", "b")))


def test_the_parameters_of_a_group_are_checked_like_others() -> None:
    with pytest.raises(InvalidInput, match="top cannot be 51"):
        build(Kept, {"name": "a", "words": "b", "top": 51})
    with pytest.raises(InvalidInput, match="words is missing"):
        build(Kept, {"name": "a"})
    with pytest.raises(InvalidInput, match="unknown parameter 'asked'"):
        build(Kept, {"name": "a", "words": "b", "asked": {}})


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_can_say_what_it_gives(name: str) -> None:
    schema = result_schema(load(name))
    assert schema.get("type") in ("object", "array") or "anyOf" in schema


def test_a_result_names_the_parts_of_its_parts() -> None:
    schema = type_schema(Answer)
    code = schema["properties"]["hits"]["items"]["properties"]["code"]
    assert code["type"] == "string"
    assert "short name" in code["description"]
