"""The Python library as its users hold it, and what happens when a part is missing."""

import subprocess
import sys
import threading

import pytest

import knowbase
import knowbase_granite
from knowbase import Base, Note, SearchRequest
from knowbase.errors import InvalidInput, KnowbaseError, ModelMismatch, ModelUnavailable
from knowbase.values.vectors import Model


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A base with three notes."""
    folder = tmp_path_factory.mktemp("library")
    with knowbase.create(str(folder / "notes.db")) as base:
        base.note(Note("Deploys freeze on Fridays", tags=("#Ops", "policy")))
        base.note(Note("We chose PostgreSQL over MySQL", type="decision", code="D-1"))
        base.note(Note("# Coffee\n\nDescale on Mondays. #office\n\n## Beans\n\nFrom Lyon."))
        return base.path


PUBLIC_NAMES = [
    "Answer",
    "AsyncBase",
    "AsyncClient",
    "Base",
    "Client",
    "Hit",
    "KnowbaseError",
    "KnowledgeBaseSearch",
    "Note",
    "SearchRequest",
    "connect",
    "connect_async",
    "create",
    "create_async",
    "open",
    "open_async",
    "repair",
    "restore",
]


def test_the_public_names_are_these() -> None:
    assert knowbase.__all__ == PUBLIC_NAMES
    assert dir(knowbase) == PUBLIC_NAMES
    for name in PUBLIC_NAMES:
        assert getattr(knowbase, name).__name__ == name
    with pytest.raises(AttributeError):
        knowbase.nothing  # noqa: B018


def test_importing_knowbase_loads_no_driver_and_no_model() -> None:
    code = "import knowbase, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"apsw", "numpy", "onnxruntime", "tokenizers", "yaml"} & set(loaded)


def test_a_keyword_search_loads_no_model(path: str) -> None:
    """S1-05"""
    code = (
        "import knowbase, sys;"
        f"print(knowbase.open({path!r}).search(knowbase.SearchRequest('deploy', mode='keyword'))"
        ".returned); print(*sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert out.startswith("1\n")
    assert not {"numpy", "onnxruntime", "tokenizers"} & set(out.split())


def test_notes_are_found_by_words_and_by_meaning(path: str) -> None:
    """S1-12"""
    with knowbase.open(path) as base:
        answer = base.search("when is it forbidden to release software")
        assert answer.hits[0].title == "Deploys freeze on Fridays"
        assert answer.search_modes_used == ("keyword", "semantic")
        assert not answer.fallback_mode
        [hit] = base.search(SearchRequest("mysql", mode="keyword")).hits
        assert (hit.code, hit.type, hit.sources) == ("D-1", "decision", ("fts",))
        assert "<mark>MySQL</mark>" in hit.snippet


def test_a_note_is_sectioned_and_tagged_like_a_file(path: str) -> None:
    with knowbase.open(path) as base:
        assert dict(base.tags()) == {"office": 1, "ops": 1, "policy": 1}
        coffee = base.get("KB-3")
        assert [section.section for section in coffee.sections] == ["KB-3:_preamble", "KB-3:beans"]
        assert coffee.text == "# Coffee\n\nDescale on Mondays. #office\n\n## Beans\n\nFrom Lyon."
        assert base.get("KB-3:beans").text == "## Beans\n\nFrom Lyon."


def test_without_its_model_a_base_still_answers_by_words_and_says_so(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C20, S0-24"""
    monkeypatch.setattr(knowbase_granite, "MODEL", "/nowhere/model.onnx")
    with knowbase.open(path) as base:
        answer = base.search("deploys")
        assert answer.returned == 1
        assert answer.fallback_mode
        assert answer.search_modes_used == ("keyword",)
        assert "semantic search did not run" in answer.notices[0]
        with pytest.raises(ModelUnavailable):
            base.search(SearchRequest("deploys", mode="semantic"))
        with pytest.raises(ModelUnavailable):
            base.note(Note("not stored without its vector"))
        assert base.status().documents == 3


class OtherModel:
    """An embedder of another identity that would fail if it were ever asked."""

    model = Model("other-model", "7", 384)
    max_tokens = 512

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, len(text))]

    def embed_documents(self, texts: object) -> object:
        raise AssertionError("never asked")

    def embed_query(self, text: str) -> bytes:
        raise AssertionError("never asked")


def test_a_base_made_with_another_model_is_refused_never_mixed(path: str) -> None:
    """S1-06, C23"""
    with Base(path, embedder=OtherModel()) as base:  # type: ignore[arg-type]
        answer = base.search("deploys")
        assert answer.fallback_mode
        assert "granite" in answer.notices[0]
        with pytest.raises(ModelMismatch, match="other-model") as refusal:
            base.note(Note("x"))
        assert refusal.value.hint


@pytest.mark.parametrize(
    ("request_", "field"),
    [
        (SearchRequest("x", top=0), "top"),
        (SearchRequest("x", top=1001), "top"),
        (SearchRequest("x", mode="fuzzy"), "mode"),
        (SearchRequest("x", unit="page"), "unit"),
        (SearchRequest("x", tags_match="some"), "tags_match"),
        (SearchRequest("x", include=("deleted",)), "include"),
        (SearchRequest("x", type=("film",)), "type"),
    ],
)
def test_bad_requests_name_the_field_and_what_is_allowed(
    path: str, request_: SearchRequest, field: str
) -> None:
    """C5, C9, S1-16"""
    with knowbase.open(path) as base, pytest.raises(InvalidInput) as refusal:
        base.search(request_)
    assert refusal.value.field == field
    assert refusal.value.hint


@pytest.mark.parametrize(
    "query", ["", "  ", "\x00", "\ud800", "🦊", '"', "a" * 10_000, "漢" * 10_000]
)
def test_any_string_is_a_query(path: str, query: str) -> None:
    """C2, S0-03, S0-04"""
    with knowbase.open(path) as base:
        answer = base.search(SearchRequest(query, mode="keyword"))
        assert answer.returned == len(answer.hits) <= 10


def test_an_empty_query_with_filters_lists_the_newest(path: str) -> None:
    """C21"""
    with knowbase.open(path) as base:
        [hit] = base.search(SearchRequest(" ", type=("decision",))).hits
        assert (hit.code, hit.sources) == ("D-1", ())
        assert base.search("").hits == ()


def test_tags_can_match_all_or_any(path: str) -> None:
    """C8"""
    with knowbase.open(path) as base:
        wanted = ("ops", "office")
        assert base.search(SearchRequest("", tags=wanted)).returned == 0
        answer = base.search(SearchRequest("", tags=wanted, tags_match="any"))
        assert answer.returned == 2
        assert answer.filters["tags_match"] == "any"


def test_the_unit_can_be_documents(path: str) -> None:
    """C15"""
    with knowbase.open(path) as base:
        answer = base.search(SearchRequest("coffee beans from Lyon", unit="document"))
        assert len({hit.id for hit in answer.hits}) == len(answer.hits)
        assert answer.hits[0].code == "KB-3"
        assert answer.hits[0].more == 1


def test_ten_searches_at_once(path: str) -> None:
    answers: list[object] = []
    with knowbase.open(path) as base:
        base.search("warm up")
        threads = [
            threading.Thread(target=lambda: answers.append(base.search("deploys").hits[0].code))
            for _ in range(10)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == ["KB-1"] * 10


def test_every_error_has_a_code_of_its_own_and_an_exit_code() -> None:
    """C32"""

    def family(error: type[KnowbaseError]) -> list[type[KnowbaseError]]:
        return [error, *(one for child in error.__subclasses__() for one in family(child))]

    kinds = [kind for kind in family(KnowbaseError) if kind.__module__ == "knowbase.errors"]
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert all(kind.exit_code in range(1, 10) for kind in kinds)
    assert KnowbaseError("m", field="f", hint="h").as_dict() == {
        "code": "error", "message": "m", "field": "f", "hint": "h",
    }  # fmt: skip
