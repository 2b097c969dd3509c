"""How a base was split is recorded with it: changed settings are noticed, and sync mends it."""

from pathlib import Path

import apsw
import pytest

from knowbase import Base, Note, create
from knowbase.embed.granite import Granite

EMBEDDER = Granite()
LONG = "\n\n".join(f"Paragraph {n}: otters hold hands while they sleep." for n in range(40))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "long.md").write_text(f"# Long\n\n{LONG}\n")
    (docs / "short.md").write_text("# Short\n\nOne sentence about [otters](long.md).\n")
    (docs / "rfc.md").write_text("---\ntype: rfc\n---\nA proposal about otters.\n")
    with opened(tmp_path, make=True) as base:
        base.add([str(docs)])
        base.remember(Note(f"# Memory\n\n{LONG}", code="M-1", project="zoo", salience=0.9))
        base.remember(Note("A short memory, see [[Short]]", code="M-2"))
    return tmp_path


def opened(folder: Path, *, make: bool = False) -> Base:
    path = create(str(folder)).path if make else str(folder / ".kb" / "base.db")
    return Base(path, embedder=EMBEDDER)


def pieces(base: Base) -> dict[str, int]:
    return {one.title: len(base.store.chunks(one.id)) for one in base.documents().documents}


def linked(base: Base, code: str) -> set[tuple[str, str, str]]:
    """The links that a text makes."""
    found = base.graph.links(code).links
    made = [one for one in found if one.origin != "vectors"]
    return {(one.relation, one.document.title, one.origin) for one in made}


def test_nothing_is_out_of_step_while_settings_stay(folder: Path) -> None:
    with opened(folder) as base:
        assert base.status().out_of_step == 0
        report = base.sync()
        assert (report.changed, report.unchanged, report.chunks_embedded) == ((), 3, 0)


def test_changed_limits_are_noticed_and_only_what_they_touch_is_embedded(folder: Path) -> None:
    with opened(folder) as base:
        before, memory = pieces(base), base.get("M-1")
        links = linked(base, "M-2")
    (folder / "kb.toml").write_text("[chunk]\nmax_tokens = 128\n")
    with opened(folder) as base:
        assert base.status().out_of_step == 5
        assert pieces(base) == before
        report = base.sync()
        after = pieces(base)
        assert after["Long"] > before["Long"]
        assert after["Memory"] > before["Memory"]
        assert (after["Short"], after["A short memory, see [[Short]]"]) == (1, 1)
        assert set(report.changed) == {"docs/long.md", "docs/rfc.md", "docs/short.md", "M-1", "M-2"}
        assert 0 < report.chunks_embedded <= after["Long"] + after["Memory"]
        assert base.status().out_of_step == 0
        kept = base.get("M-1")
        assert kept.document == memory.document._replace(split_by="128/0.1/50 words:8")
        assert kept.text == memory.text
        assert linked(base, "M-2") == links == {("REFERENCES", "Short", "wiki")}
        assert base.status().embedded == base.status().chunks
        assert base.sync().unchanged == 3


def test_a_type_that_was_stored_otherwise_is_mended_by_sync(folder: Path) -> None:
    """S3-41: also what an older version has read as a mere Markdown file."""
    with opened(folder) as base:
        assert base.whole("docs/rfc.md").type == "rfc"
        path = base.path
    connection = apsw.Connection(path)
    connection.execute(
        "UPDATE documents SET type = 'markdown', metadata = '{\"type\": \"rfc\"}',"
        " split_by = '512/0.1/50 types:' WHERE path = 'docs/rfc.md'"
    )
    connection.close()
    with opened(folder) as base:
        assert base.status().out_of_step == 1
        report = base.sync()
        assert (report.changed, report.chunks_embedded) == (("docs/rfc.md",), 0)
        assert base.whole("docs/rfc.md").type == "rfc"
        assert base.status().out_of_step == 0


def test_a_sync_that_is_stopped_is_gone_on_with(folder: Path) -> None:
    (folder / "kb.toml").write_text("[chunk]\nmax_tokens = 128\n")
    with opened(folder) as base:
        seen = []

        def stop(progress: object) -> None:
            seen.append(progress)
            raise KeyboardInterrupt

        assert base.sync(progress=stop).interrupted
        assert base.status().out_of_step > 0
        base.sync()
        assert base.status().out_of_step == 0


def test_a_new_note_is_split_by_the_settings_of_today(folder: Path) -> None:
    (folder / "kb.toml").write_text("[chunk]\nmax_tokens = 256\noverlap = 0.2\n")
    with opened(folder) as base:
        made = base.remember(Note("A new memory"))
        assert made.document.split_by == "256/0.2/50 words:8"
        base.sync()
        assert base.status().out_of_step == 0


def test_documents_from_before_it_was_recorded_are_indexed_again(folder: Path) -> None:
    with opened(folder) as base:
        path = base.path
    connection = apsw.Connection(path)
    connection.execute("UPDATE documents SET split_by = ''")
    connection.close()
    with opened(folder) as base:
        assert base.status().out_of_step == 5
        base.sync()
        assert base.status().out_of_step == 0


def test_a_note_that_would_lose_text_stays_as_it_is(folder: Path) -> None:
    (folder / "kb.toml").write_text("[chunk]\nmax_tokens = 128\n[read]\nmax_chunks = 3\n")
    with opened(folder) as base:
        before = base.get("M-1").text
        report = base.sync()
        assert "M-1: it has too many chunks; it stays as it is" in report.warnings
        assert "M-2" in report.changed
        assert base.get("M-1").text == before
