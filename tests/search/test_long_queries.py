"""No text is an error, however much it asks for: against real bases of both engines."""

from collections.abc import Iterator

import pytest

import knowbase
from knowbase import Base, Note, SearchRequest
from postgres import new_base

MANY = range(500)
PATH = "/".join(f"w{n}" for n in range(2000))
TEXTS = {
    "one prefix again and again": "a* " * 1000,
    "prefixes": " ".join(f"w{n}*" for n in MANY),
    "prefixes with endings": " ".join(f"{chr(97 + n % 26)}{chr(97 + n // 26)}at*" for n in MANY),
    "prefixes of another script": " ".join(f"日{chr(0x4E00 + n)}*" for n in MANY),
    "alternatives": " OR ".join(f"w{n}*" for n in MANY),
    "phrases": " ".join(f'"p{n} q"' for n in MANY),
    "a long phrase": '"' + " ".join(f"p{n}" for n in range(3000)) + '"',
    "a long required word": "+" + PATH,
    "excluded words": " ".join(f"-w{n}*" for n in range(250)),
    "tags": " ".join(f"tag:t{n}" for n in MANY) + f' deploy* "x y" -{PATH}',
}


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Base]:
    place = new_base() if request.param == "postgres" else str(tmp_path_factory.mktemp("long"))
    with knowbase.create(place) as made:
        made.note(Note("Deploy the shop", code="SHOP"))
        made.note(Note("Deploy the legacy shop", code="OLD"))
        yield made


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("profile", ["kb", "typed", "memory", "work"])
def test_whatever_a_text_asks_for_is_asked_for(base: Base, text: str, profile: str) -> None:
    base.search(SearchRequest(text, mode="keyword", profile=profile))


def test_what_is_left_out_of_a_long_query_is_said(base: Base) -> None:
    answer = base.search(SearchRequest(TEXTS["prefixes"], mode="keyword"))
    assert answer.notices == ("the query has 500 words, 256 are looked for; the rest is left out",)
    repeated = base.search(SearchRequest("shop* " * 300, mode="keyword"))
    assert (repeated.notices, repeated.total) == ((), 2)


def test_a_long_query_keeps_what_stands_behind_it_with_a_minus(base: Base) -> None:
    text = "deploy* " + " ".join(f"w{n}*" for n in range(300)) + " -legacy"
    answer = base.search(SearchRequest(text, mode="keyword"))
    assert [hit.code for hit in answer.hits] == ["SHOP"]
