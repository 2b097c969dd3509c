"""Files that hold several documents, through the library and the command."""

import subprocess
import sys
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path

import pytest

from conftest import FIXTURES
from knowbase import Base, SearchRequest, create
from knowbase.errors import InvalidInput, NotFound
from knowbase.ingest.parts import stored_parts
from postgres import new_base

FILES = FIXTURES / "formats"
FIRST, SECOND = "m1-example-org", "m2-example-org"


@pytest.fixture(params=["sqlite", "postgres"])
def base(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Base]:
    for name in ("python.mbox", "refs.bib"):
        (tmp_path / name).write_bytes((FILES / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    place = str(tmp_path) if request.param == "sqlite" else new_base()
    with Base(create(place).path) as base:
        base.add([str(tmp_path)], defer=True)
        yield base


def paths(base: Base) -> list[str]:
    return sorted(document.path or "" for document in base.documents().documents)


def test_each_document_of_a_file_is_found_and_lies_below_it(base: Base) -> None:
    assert paths(base) == [
        "python.mbox", f"python.mbox/{FIRST}", f"python.mbox/{SECOND}",
        f"python.mbox/{SECOND}/plan.docx", "python.mbox/m3-example-org",
        "refs.bib", "refs.bib/knuth1984", "refs.bib/lamport-clocks",
    ]  # fmt: skip
    hit = base.search(SearchRequest("literate methodology", mode="keyword")).hits[0]
    assert (hit.path, hit.title, hit.type) == (
        "refs.bib/knuth1984", "Literate Programming", "reference",
    )  # fmt: skip
    message = base.get(f"python.mbox/{SECOND}").document
    assert message.parent == "python.mbox"
    assert message.updated_at == "2024-03-02T09:30:00.000000Z"
    assert base.get(f"python.mbox/{SECOND}/plan.docx").document.parent == message.path
    links = base.graph.links(message.code).links
    answered = [link.document.path for link in links if link.relation == "REFERENCES"]
    assert answered == [f"python.mbox/{FIRST}"]


def test_what_changes_in_a_file_changes_alone(base: Base, tmp_path: Path) -> None:
    codes = {path: base.get(path).document.code for path in paths(base)}
    text = (tmp_path / "refs.bib").read_text()
    start = text.index("@inproceedings")
    (tmp_path / "refs.bib").write_text(text[:start] + "@book{new2020, title={Newest}}\n")
    report = base.sync(defer=True)
    assert (report.changed, report.removed) == (("refs.bib",), ())
    assert [path for path in paths(base) if path.startswith("refs.bib/")] == [
        "refs.bib/knuth1984", "refs.bib/new2020",
    ]  # fmt: skip
    assert base.get("refs.bib/knuth1984").document.code == codes["refs.bib/knuth1984"]


def test_parts_go_where_their_file_goes(base: Base, tmp_path: Path) -> None:
    codes = {path: base.get(path).document.code for path in paths(base)}
    (tmp_path / "python.mbox").rename(tmp_path / "old.mbox")
    assert base.sync(defer=True).moved == ("old.mbox",)
    for path, code in codes.items():
        assert base.get(path.replace("python.mbox", "old.mbox")).document.code == code
    (tmp_path / "old.mbox").unlink()
    base.sync(defer=True, prune=True)
    assert all(path.startswith("refs.bib") for path in paths(base))
    (tmp_path / "refs.bib").write_text("")
    base.sync(defer=True)
    assert paths(base) == []


def test_a_part_is_not_removed_alone(base: Base) -> None:
    with pytest.raises(InvalidInput) as caught:
        base.remove([f"python.mbox/{FIRST}"])
    assert "a part of python.mbox" in caught.value.message
    base.remove(["python.mbox"])
    assert not any(path.startswith("python.mbox") for path in paths(base))
    with pytest.raises(NotFound):
        base.get(f"python.mbox/{FIRST}")


def test_a_mailbox_that_only_its_content_tells_takes_its_parts_along(
    base: Base, tmp_path: Path
) -> None:
    inbox = tmp_path / "Inbox"
    (tmp_path / "python.mbox").rename(inbox)
    base.sync(defer=True)
    codes = {path: base.get(path).document.code for path in paths(base)}
    assert f"Inbox/{SECOND}/plan.docx" in codes
    text = inbox.read_bytes()
    inbox.write_bytes(text.replace(b"m3@example.org", b"m4@example.org"))
    base.sync(defer=True)
    assert "Inbox/m3-example-org" not in paths(base)
    assert base.get(f"Inbox/{FIRST}").document.code == codes[f"Inbox/{FIRST}"]
    inbox.rename(tmp_path / "Outbox")
    base.sync(defer=True)
    assert base.get(f"Outbox/{FIRST}").document.code == codes[f"Inbox/{FIRST}"]
    (tmp_path / "Outbox").write_text("No mail any more\n")
    base.sync(defer=True)
    assert [path for path in paths(base) if not path.startswith("refs.bib")] == ["Outbox"]
    (tmp_path / "Outbox").write_bytes(text)
    base.sync(defer=True)
    assert f"Outbox/{FIRST}" in paths(base)
    (tmp_path / "Outbox").unlink()
    base.sync(defer=True, prune=True)
    assert all(path.startswith("refs.bib") for path in paths(base))


def test_more_files_than_one_query_takes_can_be_gone(base: Base) -> None:
    many = [f"{number}.md" for number in range(40_000)]
    found = stored_parts(base.store, [*many, "refs.bib"])
    assert sorted(found) == ["refs.bib/knuth1984", "refs.bib/lamport-clocks"]


def test_a_part_that_has_expired_holds_up_nothing_else(base: Base, tmp_path: Path) -> None:
    over = "---\nexpires: 2001-01-01\n---\nIt is over\n"
    message = EmailMessage()
    message["Subject"] = "Offer"
    message.set_content("See below")
    message.add_attachment(over, subtype="markdown", filename="offer.md")
    (tmp_path / "offer.eml").write_bytes(bytes(message))
    (tmp_path / "old.md").write_text(over)
    base.sync(defer=True)
    assert [one.path for one in base.expire().documents] == ["old.md"]  # a part has no file
    removed = base.expire(delete=True)
    assert [one.path for one in removed.documents] == ["old.md"]
    assert not base.expire().documents


def test_a_file_that_nothing_reads_is_named_and_no_success_when_it_is_alone(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.doc").write_bytes((FILES / "libreoffice.doc").read_bytes())
    (tmp_path / "fine.md").write_text("# Fine\n")
    (tmp_path / "cut.docx").write_bytes((FILES / "pandoc.docx").read_bytes()[:5000])

    def kb(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-m", "knowbase.cli", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    kb("init")
    told = kb("add", ".", "--defer")
    assert "1 added" in told.stdout
    assert "3 files: Word file of before 2007: save it as .docx" in told.stdout
    assert "cut.docx: The Word file is damaged" in told.stdout
    (tmp_path / "cut.docx").unlink()
    again = kb("sync", "--defer")
    assert again.returncode == 0
    assert "Word file" not in again.stdout  # it was said
    assert "3 .doc files: Word file of before 2007: save it as .docx" in kb("status").stdout
    alone = kb("add", "a.doc", "--defer")
    assert alone.returncode == 6
    assert "save it as .docx" in alone.stdout
