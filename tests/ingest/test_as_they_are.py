"""What files of other programs say of themselves: taken as it is meant, or said."""

import io
import zipfile
from pathlib import Path

import pytest

import knowbase
from conftest import Kb
from knowbase import Base
from knowbase.ingest import succession
from knowbase.store.contract import DocumentStore
from knowbase.values.documents import Document
from linked import new_base


def keyword(base: Base, query: str) -> list[str]:
    return [hit.path or "" for hit in base.search(query, mode="keyword").hits]


def workbook(*sheets: str) -> bytes:
    """What a spreadsheet program writes, without its styles."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    names = "".join(
        f'<sheet name="{name}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1)
    )
    targets = "".join(
        f'<Relationship Id="r{n}" Type="{links}/worksheet" Target="worksheets/sheet{n}.xml"/>'
        for n, _ in enumerate(sheets, 1)
    )
    rows = "".join(
        f'<row r="{n}"><c r="A{n}" t="inlineStr"><is><t>{text}</t></is></c></row>'
        for n, text in ((1, "Name"), (2, "Ada"), (3, "Grace"))
    )
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{main}" xmlns:r="{links}"><sheets>{names}</sheets></workbook>',
        )
        archive.writestr("xl/_rels/workbook.xml.rels", f"<Relationships>{targets}</Relationships>")
        for n, _ in enumerate(sheets, 1):
            sheet = f'<worksheet xmlns="{main}"><sheetData>{rows}</sheetData></worksheet>'
            archive.writestr(f"xl/worksheets/sheet{n}.xml", sheet)
    return made.getvalue()


FILES: dict[str, str | bytes] = {
    "heading.md": "# Zanzibar roadmap\n",
    "front.md": "---\ntitle: Quokka plan\nweight: 3\n---\n",
    "page.html": "<html><head><title>Axolotl page</title></head><body></body></html>",
    "only-rules.md": "---\n---\n",
    "blank.md": "\n",
    "remarks.md": (
        "# Remarks\n\nseen %%unseenone%% still seen\n\n%%\nunseentwo\n%%\n\n"
        "100%% of `%%kept%%`, %%d and %%s\n\n```\n%%fenced%%\n```\n"
    ),
    "undated.md": "---\ndate: someday soon\n---\n# Undated\n\nlater\n",
    "dated.md": "---\ndate: 3 March 2021\n---\n# Dated\n\nearlier\n",
    "one.xlsx": workbook("Pensioners"),
    "unnamed.xlsx": workbook("Sheet1"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("folder")
    (folder / "in").mkdir()
    for name, content in FILES.items():
        data = content.encode() if isinstance(content, str) else content
        (folder / "in" / name).write_bytes(data)
    return folder


@pytest.fixture(scope="module")
def added(folder: Path) -> tuple[Base, tuple[str, ...], tuple[str, ...]]:
    base = knowbase.create(str(folder / "base.db"))
    report = base.add(str(folder / "in"), defer=True)
    return base, report.warnings, tuple(one.path for one in report.skipped)


def test_a_page_that_has_only_a_title_is_found_by_it(
    added: tuple[Base, tuple[str, ...], tuple[str, ...]],
) -> None:
    base, _, skipped = added
    assert keyword(base, "zanzibar") == ["in/heading.md"]
    assert keyword(base, "quokka") == ["in/front.md"]
    assert keyword(base, "axolotl") == ["in/page.html"]
    assert set(skipped) == {"in/only-rules.md", "in/blank.md"}
    assert base.get("front.md").text == "Quokka plan\n"


def test_what_a_writer_remarks_for_themselves_is_not_searched(
    added: tuple[Base, tuple[str, ...], tuple[str, ...]],
) -> None:
    base, _, _ = added
    assert keyword(base, "unseenone") == []
    assert keyword(base, "unseentwo") == []
    assert keyword(base, "fenced") == keyword(base, "kept") == ["in/remarks.md"]
    assert "%%d and %%s" in base.get("remarks.md").text


def test_a_date_that_nobody_can_read_is_said(
    added: tuple[Base, tuple[str, ...], tuple[str, ...]],
) -> None:
    base, warnings, _ = added
    assert warnings == (
        "in/undated.md: its front matter's date is not a date; it is kept as meta.date alone",
    )
    assert base.get("dated.md").document.created_at.startswith("2021-03-03")
    assert base.note("---\ndate: some day\n---\nA note\n").title == "A note"


def test_a_workbook_of_one_sheet_keeps_its_name(
    added: tuple[Base, tuple[str, ...], tuple[str, ...]],
) -> None:
    base, _, _ = added
    assert base.search("Pensioners Grace", mode="keyword").hits[0].heading == "Pensioners, rows 1–3"
    assert keyword(base, "Pensioners") == ["in/one.xlsx"]
    assert keyword(base, "sheet1") == []  # nobody gave it that name


def test_a_successor_that_is_not_there_hides_nothing_and_is_said(kb: Kb) -> None:
    kb.write("in/a.md", "---\nsuperseded_by: in/z.md\n---\n# Old\n\nwombat\n")
    kb.write("in/b.md", "---\nsuperseded_by: NOPE-1\n---\n# Older\n\nwombat\n")
    kb.write("in/z.md", "# New\n\nkoala\n")
    report = kb.json("add", "in", "--defer")
    assert report["added"] == ["in/a.md", "in/b.md", "in/z.md"]
    assert report["changed"] == []
    assert report["warnings"] == [
        "in/b.md: superseded_by names no document (NOPE-1); it is shown until there is one"
    ]
    hits = kb.json("search", "wombat", "--fts-only")["hits"]
    assert [hit["path"] for hit in hits] == ["in/b.md"]
    kb.write("in/nope.md", "---\ncode: NOPE-1\n---\n# Late\n\nechidna\n")
    assert kb.json("sync", "--defer")["warnings"] == []
    assert kb.json("search", "wombat", "--fts-only")["hits"] == []
    assert "superseded_by" in kb.error("note", "---\nsuperseded_by: X-1\n---\nA\n", code=2)


def test_those_that_wait_are_looked_for_only_when_a_name_comes_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    look = succession.waiting

    def counted(store: DocumentStore) -> list[Document]:
        looks.append(1)
        return look(store)

    monkeypatch.setattr(succession, "waiting", counted)
    file = tmp_path / "in" / "b.md"
    with new_base(tmp_path) as base:
        file.parent.mkdir()
        (file.parent / "a.md").write_text("---\nsuperseded_by: LATE-1\n---\nwombat\n")
        file.write_text("koala\n")
        base.add([str(file.parent)])
        assert len(looks) == 1
        file.write_text("koala bears\n")
        assert base.sync().changed
        assert len(looks) == 1
        file.write_text("---\ncode: LATE-1\n---\nkoala bears\n")
        base.sync()
        assert len(looks) == 2
        assert [hit.path for hit in base.search("wombat", mode="keyword").hits] == []


def test_what_older_readers_could_not_read_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from knowbase.ingest import pending

    (tmp_path / "in").mkdir()
    (tmp_path / "in/broken.pdf").write_bytes(b"%PDF-1.7 broken")
    (tmp_path / "in/page.md").write_text("# Page\n\nwords\n")
    base = knowbase.create(str(tmp_path / "base.db"))
    monkeypatch.setattr(pending, "READERS", "readers:1")
    assert len(base.add(str(tmp_path / "in"), defer=True).failed) == 1
    assert base.sync(defer=True).failed_before == 1
    monkeypatch.undo()
    again = base.sync(defer=True)
    assert (len(again.failed), again.failed_before) == (1, 0)  # it was looked at once more
    assert base.sync(defer=True).failed_before == 1
