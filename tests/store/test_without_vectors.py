"""Without sqlite-vec, or with vectors switched off: words are read and written as ever."""

from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase.contracts.knowledge import search_knowledge, vector_search
from knowbase.errors import VectorsUnavailable
from knowbase.search.request import SearchRequest
from knowbase.values.notes import Note


@pytest.fixture(params=["missing", "broken"])
def packages(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder before all others, whose sqlite-vec is missing, or built for another machine."""
    packages = tmp_path / "packages"
    packages.mkdir()
    if request.param == "missing":
        (packages / "sqlite_vec.py").write_text("")  # a module, and no package with an extension
    else:
        (packages / "sqlite_vec").mkdir()
        (packages / "sqlite_vec" / "__init__.py").write_text("")
        (packages / "sqlite_vec" / "vec0.so").write_bytes(b"\x7fELF of another machine")
    return packages


def test_without_sqlite_vec_reading_and_writing_go_on_with_words(
    kb: Kb, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S0-10, S0-24, C20"""
    kb.write("docs/a.md", "# Zebra\n\nStripes.\n\n## Second\n\nGrass.\n")
    kb.write("docs/gone.md", "# Gone\n\nNobody.\n")
    monkeypatch.chdir(kb.folder)
    with knowbase.open() as base:
        base.add(["docs"])

    monkeypatch.syspath_prepend(packages)
    with knowbase.open() as base:
        found = base.search("zebra stripes")
        assert found.fallback_mode
        assert found.search_modes_used == ("keyword",)
        assert [notice.count("sqlite-vec") for notice in found.notices] == [2]
        assert found.hits[0].path == "docs/a.md"
        with pytest.raises(VectorsUnavailable, match="sqlite-vec"):
            base.search(SearchRequest("zebra", mode="semantic"))
        assert base.search("like:KB-1").fallback_mode
        assert [one.sources for one in search_knowledge(base, "zebra stripes")] == [("fts",)]
        assert vector_search(base, [1.0] * 384) == []

        kb.write("docs/a.md", "# Zebra\n\nHorses are cousins.\n\n## Second\n\nGrass.\n")
        kb.write("docs/b.md", "# Giraffe\n\nA long neck.\n")
        (kb.folder / "docs/gone.md").unlink()
        synced = base.sync(prune=True)
        assert (len(synced.added), len(synced.changed)) == (1, 1)
        assert [warning.count("sqlite-vec") for warning in synced.warnings] == [2]
        assert "sqlite-vec" in base.remember("Zebras cross on Fridays.").notices[0]
        base.remove(["docs/b.md"])
        assert base.search("cousins").returned == 1
        assert base.status().documents == 2

    monkeypatch.undo()  # the next one who has it puts everything in step
    monkeypatch.chdir(kb.folder)
    with knowbase.open() as base:
        left = base.search(SearchRequest("stripes", mode="semantic"))
        assert [hit.snippet for hit in left.hits] == ["Grass."]
        assert base.embed().embedded == 2
        assert base.check(deep=True).is_sound
        assert base.search(SearchRequest("horse", mode="semantic")).hits[0].path == "docs/a.md"


def test_the_command_says_that_sqlite_vec_is_missing(kb: Kb, packages: Path) -> None:
    """S0-24, C20"""
    without = {"PYTHONPATH": str(packages)}
    told = kb("remember", "Zebras cross on Fridays.", env=without).out
    assert told.count("note: the sqlite-vec package") == 1
    assert kb.json("search", "zebras", env=without)["returned"] == 1


def test_a_base_without_vectors_is_backed_up_and_checked_without_sqlite_vec(
    kb: Kb, packages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S0-10"""
    monkeypatch.syspath_prepend(packages)
    with knowbase.open(str(kb.base)) as base:
        base.note(Note("zebra"))
        assert base.check(deep=True).is_sound
        assert base.backup(str(kb.folder / "copy.db")).verified
    with knowbase.open(str(kb.folder / "copy.db")) as copy:
        assert copy.get("KB-1").text == "zebra"


def test_vectors_can_be_switched_off(kb: Kb) -> None:
    """S0-28: one setting, and everything works by words."""
    kb.write("kb.toml", "[embed]\nvectors = false\n")
    kb.write("docs/a.md", "# Zebra\n\nStripes.\n")
    report = kb.json("add", "docs")
    assert (report["chunks_embedded"], report["chunks_waiting"], report["warnings"]) == (0, 0, [])
    assert kb.json("remember", "Zebras cross on Fridays.")["notices"] == []
    found = kb.json("search", "zebra")
    assert found["returned"] == 2
    assert (found["search_modes_used"], found["fallback_mode"]) == (["keyword"], False)
    assert found["notices"] == []
    assert "embed.vectors" in kb.error("search", "zebra", "--vec-only", code=5)
    assert "embed.vectors" in kb.json("search", "similar:horse")["notices"][0]
    assert "embed.vectors" in kb.error("embed", code=5)
    assert kb.json("status")["embedded"] == 0
    (kb.folder / "kb.toml").unlink()
    assert kb.json("embed")["embedded"] == 2
    off = {"KB_EMBED_VECTORS": "false"}
    assert kb.json("search", "stripes", env=off)["search_modes_used"] == ["keyword"]
