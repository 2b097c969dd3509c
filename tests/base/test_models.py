"""Choosing, changing and surviving embedding models, through the library."""

import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

import knowbase
import services
from conftest import FIXTURES
from knowbase import Note, SearchRequest
from knowbase.base import Base
from knowbase.errors import InvalidInput, ModelMismatch, ModelUnavailable, ServiceUnavailable
from knowbase.ingest.embedding import BATCH, Step
from knowbase.search.events import FALLBACK

NOTES = ("Deploys freeze on Fridays", "The coffee machine is descaled on Mondays", "Beans")


@pytest.fixture
def server() -> Iterator[services.Service]:
    with services.service() as running:
        yield running


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FIXTURES / "models" / "states", tmp_path / "tiny"))


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Set settings by their environment variables."""
    monkeypatch.setenv("KB_EMBED_CACHE_MB", "0")

    def set_(**values: str) -> None:
        for name, value in values.items():
            monkeypatch.setenv(f"KB_EMBED_{name.upper()}", value)

    return set_


@pytest.fixture
def path(tmp_path: Path, server: services.Service, settings: Callable[..., None]) -> str:
    """A base with three notes whose vectors come from a service."""
    settings(url=server.url, query_timeout="5")
    with knowbase.create(str(tmp_path / "base.db")) as base:
        base.embed("service:some-model")
        for text in NOTES:
            base.note(Note(text))
    return str(tmp_path / "base.db")


def many_files(folder: Path, number: int) -> str:
    for place in range(number):
        (folder / "docs").mkdir(exist_ok=True)
        text = f"# Page {place}\n\nThe words of page {place}.\n"
        (folder / "docs" / f"{place:03}.md").write_text(text)
    return str(folder / "docs")


def test_a_base_remembers_its_model(path: str, server: services.Service) -> None:
    """S3-23, C23: nothing but the address has to be said again."""
    server.asked.clear()
    with knowbase.open(path) as base:
        model = base.store.model()
        assert model is not None
        assert (model.name, model.dimensions) == ("some-model", 8)
        answer = base.search("deploys")
        assert answer.search_modes_used == ("keyword", "semantic")
        assert answer.semantic_coverage == 1.0
    assert server.texts == ["deploys"]


def test_when_the_service_is_away_words_answer_and_it_is_said(
    path: str, server: services.Service, caplog: pytest.LogCaptureFixture
) -> None:
    """S4-08, C20"""
    server.always = services.status(500)
    server.asked.clear()
    with knowbase.open(path) as base, caplog.at_level(logging.WARNING, "knowbase"):
        answer = base.search("deploys")
        assert answer.returned == 1
        assert answer.fallback_mode is True
        assert answer.search_modes_used == ("keyword",)
        assert "HTTP 500 (3 retries)" in answer.notices[0]
        assert len(server.asked) == 4
        events = {record.event: record.facts for record in caplog.records}  # type: ignore[attr-defined]
        assert list(events) == ["embedding service failed", FALLBACK]
        assert FALLBACK == "OpenAI API unavailable, using keyword-only fallback"
        assert [facts["retries"] for facts in events.values()] == [3, 3]
        with pytest.raises(ServiceUnavailable) as refusal:
            base.search(SearchRequest("deploys", mode="semantic"))
        assert refusal.value.hint
        server.always = None
        assert base.search("deploys").fallback_mode is False


def test_a_base_of_a_service_without_an_address_answers_by_words(
    path: str, settings: Callable[..., None], tmp_path: Path
) -> None:
    """S4-08, C20"""
    settings(url="")
    with knowbase.open(path) as base:
        answer = base.search("deploys")
        assert (answer.returned, answer.fallback_mode) == (1, True)
        assert "needs an address" in answer.notices[0]
        report = base.add([many_files(tmp_path, 2)])
        assert (len(report.added), report.chunks_waiting) == (2, 2)
        assert "needs an address" in report.warnings[0]
        assert base.add([many_files(tmp_path, 3)], defer=True).warnings == ()


def test_files_go_in_while_the_service_is_away_and_vectors_follow(
    path: str, server: services.Service, tmp_path: Path
) -> None:
    """S3-24, S4-08"""
    server.always = services.status(503)
    with knowbase.open(path) as base:
        report = base.add([many_files(tmp_path, BATCH + 10)])
        assert len(report.added) == report.chunks_waiting == BATCH + 10
        assert report.chunks_embedded == 0
        [warning] = report.warnings
        assert "kb embed" in warning
        assert base.search("page 7").semantic_coverage == round(3 / (BATCH + 13), 4)
        with pytest.raises(ServiceUnavailable):
            base.embed()
        server.always = None
        result = base.embed()
        assert (result.embedded, result.there, result.switched) == (BATCH + 10, 3, False)
        assert base.search("page 7").semantic_coverage == 1.0
        assert base.embed().embedded == 0


def test_text_can_go_in_first_and_vectors_later(path: str, tmp_path: Path) -> None:
    """S3-24"""
    with knowbase.open(path) as base:
        folder = many_files(tmp_path, 5)
        report = base.add([folder], defer=True)
        assert (report.chunks_embedded, report.chunks_waiting) == (0, 5)
        answer = base.search(SearchRequest("page", mode="keyword"))
        assert (answer.returned, answer.semantic_coverage) == (5, round(3 / 8, 4))
        (tmp_path / "docs" / "000.md").write_text("# Page 0\n\nOther words.\n")
        assert base.sync(defer=True).chunks_waiting == 1
        assert base.sync().chunks_embedded == 0  # nothing has changed since
        assert base.embed().embedded == 5
        assert base.status().embedded == 8


def test_known_text_needs_no_new_vector_even_when_put_off(path: str, tmp_path: Path) -> None:
    """S3-24"""
    with knowbase.open(path) as base:
        folder = many_files(tmp_path, 3)
        base.add([folder])
        shutil.copy(tmp_path / "docs" / "000.md", tmp_path / "docs" / "copy.md")
        report = base.sync(defer=True)
        assert (report.chunks_reused, report.chunks_waiting) == (1, 0)


def test_searches_use_the_old_model_until_the_new_one_is_complete(
    path: str, server: services.Service
) -> None:
    """C23, S2-07"""
    used: list[str] = []

    def look(_: Step) -> None:
        with knowbase.open(path) as other:
            answer = other.search("deploys")
            assert not answer.fallback_mode
            assert answer.semantic_coverage == 1.0
            model = other.store.model()
            used.append(model.name if model else "")

    with knowbase.open(path) as base:
        result = base.embed("granite", progress=look)
        assert result.switched
        assert (result.embedded, result.previous and result.previous.name) == (3, "some-model")
        assert set(used) == {"some-model"}
        server.asked.clear()
        [hit] = base.search(SearchRequest("may I release software?", mode="semantic", top=1)).hits
        assert hit.title == NOTES[0]
        assert server.asked == []
        back = base.embed("service:some-model")
        assert (back.embedded, back.there, back.switched) == (0, 3, True)


def test_what_is_added_meanwhile_is_part_of_the_switch(path: str) -> None:
    """C23"""
    added: list[str] = []

    def add_one(_: Step) -> None:
        if not added:
            with knowbase.open(path) as other:
                added.append(other.note(Note("Written in the meantime")).code)

    with knowbase.open(path) as base:
        result = base.embed("granite", progress=add_one)
        assert (result.embedded, result.switched) == (4, True)
        assert base.search("meantime").semantic_coverage == 1.0


def test_an_interrupted_change_goes_on_where_it_stopped(
    path: str, server: services.Service, tmp_path: Path, settings: Callable[..., None]
) -> None:
    """C23"""

    def stop(step: Step) -> None:
        if step.done == BATCH + 5:
            raise KeyboardInterrupt

    with knowbase.open(path) as base:
        base.add([many_files(tmp_path, 2 * BATCH)])
        settings(batch="1", concurrency="1")
    with knowbase.open(path) as base:
        server.asked.clear()
        first = base.embed("service:other-model", progress=stop)
        assert (first.interrupted, first.switched) == (True, False)
        assert first.embedded == BATCH + 5
        assert base.store.model() == first.previous
        assert not base.search("deploys").fallback_mode
        states = {one.model.name: one.vectors for one in base.status().models}
        assert states == {"some-model": 2 * BATCH + 3, "other-model": BATCH + 5}
        server.asked.clear()
        second = base.embed("service:other-model")
        assert (second.embedded, second.there) == (BATCH - 2, BATCH + 5)
        assert second.switched
        documents = [text for text in server.texts if text != "a"]  # without the probe
        # One request of the first run may still be on its way when it is stopped.
        assert BATCH - 2 <= len(documents) <= BATCH - 1


def test_old_vectors_can_be_dropped(path: str, tiny: Path) -> None:
    """C23"""
    with knowbase.open(path) as base:
        result = base.embed(str(tiny), drop_old=True)
        assert [model.name for model in result.dropped] == ["some-model"]
        assert [one.model.name for one in base.status().models] == ["tiny"]
        assert base.embed(drop_old=True).dropped == ()


def test_a_long_running_program_follows_a_switch(path: str, tiny: Path) -> None:
    """C23"""
    with knowbase.open(path) as daemon:
        daemon.search("deploys")
        with knowbase.open(path) as other:
            other.embed(str(tiny), drop_old=True)
        assert not daemon.search("deploys").fallback_mode
        daemon.note(Note("alpha beta"))
        assert daemon.search("alpha").semantic_coverage == 1.0


def test_another_model_than_the_bases_own_is_refused_for_writing_and_ignored_by_searches(
    path: str, settings: Callable[..., None]
) -> None:
    """C23"""
    settings(model="granite")
    with knowbase.open(path) as base:
        assert not base.search("deploys").fallback_mode
        with pytest.raises(
            ModelMismatch, match=r"some-model.*8 dimensions.*not granite"
        ) as refusal:
            base.note(Note("x"))
        assert "kb embed --model" in str(refusal.value.hint)
        [warning] = base.embed("service:some-model").warnings
        assert "embed.model is set to granite" in warning
        assert base.embed().switched
        base.note(Note("x"))


def test_a_model_that_changes_in_its_folder_is_another_one(path: str, tiny: Path) -> None:
    """C23, C20"""
    with knowbase.open(path) as base:
        base.embed(str(tiny))
    shutil.copy(FIXTURES / "models" / "pooled" / "model.onnx", tiny / "model.onnx")
    with knowbase.open(path) as base:
        answer = base.search("deploys")
        assert (answer.returned, answer.fallback_mode) == (1, True)
        with pytest.raises(ModelMismatch):
            base.note(Note("x"))
        assert base.embed(str(tiny)).embedded == 3
        assert not base.search("deploys").fallback_mode


def test_a_model_that_is_gone_leaves_the_words(path: str, tiny: Path, tmp_path: Path) -> None:
    """C20"""
    with knowbase.open(path) as base:
        base.embed(str(tiny))
    tiny.rename(tmp_path / "elsewhere")
    with knowbase.open(path) as base:
        answer = base.search("deploys")
        assert (answer.returned, answer.fallback_mode) == (1, True)
        assert "no model folder 'tiny'" in answer.notices[0]
        with pytest.raises(ModelUnavailable):
            base.search(SearchRequest("deploys", mode="semantic"))
        assert base.brief().tokens > 0
        base.remove(["KB-3"])
    (tmp_path / "elsewhere").rename(tmp_path / "tiny2")
    with knowbase.open(path) as base:
        assert base.embed(str(tmp_path / "tiny2")).switched


def test_a_moved_model_folder_is_told_once(path: str, tiny: Path, tmp_path: Path) -> None:
    """C23: the same files elsewhere are the same model."""
    with knowbase.open(path) as base:
        base.embed(str(tiny))
    (tmp_path / "moved").mkdir()
    tiny.rename(tmp_path / "moved" / "tiny")
    with knowbase.open(path) as base:
        result = base.embed(str(tmp_path / "moved" / "tiny"))
        assert (result.embedded, result.there) == (0, 3)
    with knowbase.open(path) as base:
        assert not base.search("deploys").fallback_mode


def test_how_a_model_is_used_is_remembered_with_it(
    path: str, tiny: Path, settings: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """C23: settings that shaped the vectors need not be there later."""
    settings(query_prefix="query: ", pooling="cls")
    with knowbase.open(path) as base:
        base.embed(str(tiny))
    monkeypatch.delenv("KB_EMBED_QUERY_PREFIX")
    monkeypatch.delenv("KB_EMBED_POOLING")
    with knowbase.open(path) as base:
        assert not base.search("deploys").fallback_mode


def test_texts_longer_than_the_model_reads_are_cut_and_said_new_ones_are_split(
    path: str, tiny: Path, settings: Callable[..., None]
) -> None:
    """S3-27"""
    settings(max_tokens="64")
    with knowbase.open(path) as base:
        long = base.note(Note("# Long\n\n" + "alpha beta gamma delta " * 40))
        assert len(base.store.chunks(long.id)) == 1
        result = base.embed(str(tiny))
        assert (result.cut, result.max_tokens) == (1, 64)
        new = base.note(Note("# New\n\n" + "alpha beta gamma delta " * 40))
        chunks = [passage.chunk for passage in base.store.chunks(new.id)]
        assert len(chunks) > 2
        assert all(chunk.tokens <= 64 for chunk in chunks)


def test_an_unknown_model_is_refused_with_what_there_is(path: str) -> None:
    with knowbase.open(path) as base:
        with pytest.raises(InvalidInput, match="no model 'grantie'") as refusal:
            base.embed("grantie")
        assert "granite (packaged)" in str(refusal.value.hint)
        assert [one.model.name for one in base.status().models] == ["some-model"]


def test_a_bad_vector_ends_a_change_and_loses_nothing(
    path: str, server: services.Service, tmp_path: Path
) -> None:
    """C20, C23"""
    with knowbase.open(path) as base:
        base.embed("service:other-model")
        base.add([many_files(tmp_path, 3)], defer=True)
        server.embed = lambda texts: [[1.0] for _ in texts]
        with pytest.raises(knowbase.KnowbaseError, match="1 dimensions instead of 8"):
            base.embed()
        server.embed = services.counted
        assert base.embed().embedded == 3


def test_the_cache_serves_every_base_of_the_user(
    tmp_path: Path, server: services.Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S4-03"""
    monkeypatch.setenv("KB_EMBED_URL", server.url)
    folder = many_files(tmp_path, 5)
    sent = []
    for name in ("one.db", "two.db"):
        with knowbase.create(str(tmp_path / name)) as base:
            base.embed("service:some-model")
            server.asked.clear()
            assert base.add([folder]).chunks_embedded == 5
            sent.append(len(server.texts))
            assert not base.search("page").fallback_mode
    assert sent == [5, 0]


def test_a_model_of_ones_own_can_be_given(tmp_path: Path) -> None:
    """S3-23: anything with the embedder's few methods."""
    from knowbase.values.vectors import Model
    from stores import spans, vector

    class Own:
        model = Model("own", "1", 4)
        max_tokens = 100

        def token_spans(self, text: str) -> list[tuple[int, int]]:
            return spans(text)

        def embed_documents(self, texts: Sequence[str]) -> Iterator[bytes]:
            return (self.embed_query(text) for text in texts)

        def embed_query(self, text: str) -> bytes:
            return vector(1, len(text), 0, 0)

    knowbase.create(str(tmp_path / "base.db")).close()
    with Base(str(tmp_path / "base.db"), embedder=Own()) as base:
        base.note(Note("x"))
        assert base.embed().there == 1
        assert not base.search("x").fallback_mode


def test_what_is_made_in_the_background_takes_no_change_of_model_back(
    path: str, tiny: Path, tmp_path: Path
) -> None:
    """Another model takes the first one's place while its missing vectors are made."""
    changed: list[bool] = []

    def change(_: Step) -> None:
        if not changed:
            with knowbase.open(path) as other:
                changed.append(other.embed(str(tiny), drop_old=True).switched)

    with knowbase.open(path) as base:
        base.add([many_files(tmp_path, BATCH + 5)], defer=True)
        base.models.embed_missing(change)
        assert changed == [True]
        active = base.status().model
        assert active is not None
        assert active.name == "tiny"
        assert base.status().embedded == base.status().chunks
