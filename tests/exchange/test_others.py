"""What other programs keep comes in with its dates, authors and links, and comes in once."""

import json
import os
import shutil
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import FIXTURES, Kb
from knowbase import Base, Note
from knowbase.errors import KnowbaseError, NotFound, ReadError
from knowbase.exchange.imported import Imported
from knowbase.exchange.others import Wanted, take_others
from knowbase.exchange.sources import notion, opening
from knowbase.ingest.foreign import Foreign
from knowbase.values.documents import Document
from knowbase.values.reading import Reading

FILES = FIXTURES / "exchange"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Base]:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")  # words are enough here
    with knowbase.create(str(tmp_path / "base.db")) as made:
        yield made


def taken(base: Base, origin: str, path: Path, **more: Any) -> Imported:
    return take_others(base, Wanted(str(path), origin, **more))


def titled(base: Base, title: str) -> Document:
    found = [one for one in base.documents().documents if one.title == title]
    assert len(found) == 1, [one.title for one in base.documents().documents]
    return found[0]


def links_of(base: Base, title: str) -> set[tuple[str, str, str]]:
    """Relation, direction and title of each link that says something."""
    found = base.graph.links(titled(base, title).code)
    shown = ((one.relation, one.direction, one.document.title) for one in found.links)
    return {one for one in shown if one[0] != "SIMILAR_TO"}


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder))
    return target


def test_conversations_of_chatgpt(base: Base, tmp_path: Path) -> None:
    base.note(Note("How the shop is run", title="Web shop runbook"))
    archive = zipped(FILES / "chatgpt", tmp_path / "export.zip")
    assert taken(base, "chatgpt", archive).added == 2
    one = titled(base, "Renewing a TLS certificate")
    assert (one.type, one.created_at[:16], one.updated_at[:16], one.tags) == (
        "conversation", "2024-05-01T10:00", "2024-05-01T11:00", (),
    )  # fmt: skip
    assert one.metadata["authors"] == ["User", "ChatGPT"]
    assert one.metadata["models"] == ["gpt-4o"]
    assert one.metadata["address"] == "https://chatgpt.com/c/6631f0a0-0000-4000-8000-000000000001"
    content = base.get(one.code)
    assert [part.heading for part in content.sections] == [
        "User · 2024-05-01 10:00", "ChatGPT · 2024-05-01 10:00",
    ]  # fmt: skip
    assert "certbot renew" in content.text
    assert "zebrafish" not in content.text  # another answer was shown in the end
    assert "search('certbot')" not in content.text  # said to a tool
    assert ("REFERENCES", "to", "Web shop runbook") in links_of(base, one.title)
    for path in (archive, FILES / "chatgpt", FILES / "chatgpt/conversations.json"):
        again = taken(base, "chatgpt", path)
        assert (again.added, again.changed, again.unchanged) == (0, 0, 2)


def test_a_conversation_that_went_on_is_the_same_document(base: Base, tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    told = json.loads((FILES / "chatgpt/conversations.json").read_text("utf-8"))
    file.write_text(json.dumps(told), "utf-8")
    taken(base, "chatgpt", file)
    before = titled(base, "Renewing a TLS certificate")
    base.tag([before.code], add=["mine"])
    node = told[0]["mapping"]["aaa5"]
    node["message"]["content"]["parts"][0] = "Use acme.sh instead."
    file.write_text(json.dumps(told), "utf-8")
    foreseen = taken(base, "chatgpt", file, dry_run=True)
    assert (foreseen.changed, foreseen.unchanged, foreseen.dry_run) == (1, 1, True)
    assert "acme" not in base.get(before.code).text
    assert taken(base, "chatgpt", file).changed == 1
    after = titled(base, "Renewing a TLS certificate")
    assert (after.id, after.code, after.tags) == (before.id, before.code, ("mine",))
    assert "acme.sh" in base.get(after.code).text
    base.lifecycle.forget([after.code])
    assert taken(base, "chatgpt", file).unchanged == 2  # what was forgotten stays so


def test_conversations_and_projects_of_claude(base: Base, tmp_path: Path) -> None:
    archive = zipped(FILES / "claude", tmp_path / "data.zip")
    base.note(Note("The first", code="KB-1"))
    assert taken(base, "claude", archive).added == 3
    one = titled(base, "Choosing a queue")
    assert (one.created_at[:19], one.updated_at[:19]) == (
        "2025-03-10T08:15:30",
        "2025-03-10T09:00:00",
    )
    text = base.get(one.code).text
    assert "peak load: 400" in text
    assert "diagram.png" in text
    assert "walruses" not in text
    links = links_of(base, one.title)
    assert ("PART_OF", "to", "Importer") in links
    assert ("REFERENCES", "to", "The first") in links
    assert titled(base, "Importer").metadata["author"] == "Ana Lopes"
    assert ("PARENT_OF", "from", "Importer") in links_of(base, "retries.md")
    assert taken(base, "claude", archive).unchanged == 3


def test_memories_of_mem0(base: Base) -> None:
    assert taken(base, "mem0", FILES / "mem0.json", tags=("old",), project="p").added == 4
    one = titled(base, "Dev works at TechCorp as a senior engineer")
    assert (one.type, one.created_at[:16], one.project) == ("fact", "2024-07-26T06:57", "p")
    assert set(one.tags) == {"professional_details", "old"}
    assert (one.metadata["author"], one.metadata["type"]) == ("dev", "professional")
    assert base.get(titled(base, "--- Prefers morning meetings").code).text.startswith("--- ")
    assert links_of(base, "dev") == {("WORKS_AT", "to", "techcorp")}
    again = taken(base, "mem0", FILES / "mem0.json", tags=("old",), project="p")
    assert (again.added, again.changed, again.unchanged) == (0, 0, 4)


def test_memories_without_a_text_or_with_an_id_that_was_there_are_said(
    base: Base, tmp_path: Path
) -> None:
    entries = [
        {"id": "1", "memory": None},
        {"id": "2", "memory": "likes tea"},
        {"id": "2", "memory": "likes coffee"},
        {"id": "3", "score": 1},
    ]
    (tmp_path / "given.json").write_text(json.dumps({"results": entries}))
    found = taken(base, "mem0", tmp_path / "given.json")
    assert found.added == 1
    assert [(one.path, one.reason) for one in found.skipped] == [("entry 1", "it has no text")]
    assert [one.path for one in found.failed] == ["entry 3"]
    assert found.notices == (
        "likes coffee: one before it has the same id and another text; the last one counts",
    )
    assert base.get(titled(base, "likes coffee").code).text == "likes coffee"


def test_the_graph_of_the_memory_server(base: Base, tmp_path: Path) -> None:
    assert taken(base, "mcp-memory", FILES / "memory.jsonl").added == 3
    one = titled(base, "John_Smith")
    assert one.tags == ("person",)
    assert "Speaks fluent Spanish" in base.get(one.code).text
    assert links_of(base, "John_Smith") == {
        ("WORKS_AT", "to", "Anthropic"), ("WROTE", "to", "C# notes"),
    }  # fmt: skip
    lines = [json.loads(line) for line in (FILES / "memory.jsonl").read_text().splitlines()
             if line.startswith("{")]  # fmt: skip
    graph = {
        "entities": [one for one in lines if one["type"] == "entity"],
        "relations": [one for one in lines if one["type"] == "relation"],
    }
    (tmp_path / "graph.json").write_text(json.dumps(graph, indent=2))
    assert taken(base, "mcp-memory", tmp_path / "graph.json").unchanged == 3
    base.tag([one.code], add=["x"])  # which writes it again, from what is stored
    assert ("WORKS_AT", "to", "Anthropic") in links_of(base, "John_Smith")


def test_files_of_other_memory_servers_are_read_as_well(base: Base, tmp_path: Path) -> None:
    """Without `type`, with dates, with other names for the ends of a relation."""
    lines = [
        {"name": "Ana", "entityType": "Person", "observations": ["sails"], "createdAt": 1768061136},
        {"name": "Ana", "entityType": "Person", "observations": ["sails", "sings"]},
        {"name": "Porto", "entityType": "City", "observations": [], "updatedAt": "2026-01-13"},
        {"from": "Ana", "to": "Porto", "relationType": "lives_in"},
        {"type": "relation", "from_entity": "Porto", "to_entity": "Ana", "relationType": "hosts"},
        {"type": "observation", "name": "Ana"},
    ]
    (tmp_path / "memory.jsonl").write_text("\n".join(map(json.dumps, lines)))
    found = taken(base, "mcp-memory", tmp_path / "memory.jsonl")
    assert (found.added, [one.path for one in found.failed]) == (2, ["line 6"])
    ana, porto = titled(base, "Ana"), titled(base, "Porto")
    assert (ana.created_at[:10], porto.created_at[:10]) == ("2026-01-10", "2026-01-13")
    text = base.get(ana.code).text
    assert (text.count("sails"), text.count("sings")) == (1, 1)
    assert links_of(base, "Ana") == {("LIVES_IN", "to", "Porto"), ("HOSTS", "from", "Porto")}


def test_a_folder_of_basic_memory(base: Base, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FILES / "basic-memory", tmp_path / "notes"))
    os.utime(folder / "Coffee Beans.md", (1_700_000_000, 1_700_000_000))
    assert taken(base, "basic-memory", folder).added == 3
    one = titled(base, "Coffee Brewing Methods")
    assert (one.type, one.created_at[:10], one.path) == ("note", "2025-01-05", None)
    assert {"coffee", "brewing"} <= set(one.tags)
    assert titled(base, "Coffee Beans").updated_at[:10] == "2023-11-14"
    assert links_of(base, one.title) == {
        ("RELATES_TO", "to", "Coffee Beans"), ("REQUIRES", "to", "Grinder Setup"),
    }  # fmt: skip
    assert taken(base, "basic-memory", folder).unchanged == 3


def test_an_export_of_notion(base: Base, tmp_path: Path) -> None:
    part = zipped(FILES / "notion", tmp_path / "part.zip")
    whole = tmp_path / "export.zip"
    with zipfile.ZipFile(whole, "w") as archive:  # as Notion packs it
        archive.write(part, "ExportBlock-1234-Part-1.zip")
    found = taken(base, "notion", whole)
    assert (found.added, len(found.failed)) == (3, 0)
    assert "pictures" in found.skipped[0].reason
    team = titled(base, "Team")
    assert (team.created_at[:16], team.tags) == ("2024-03-01T09:30", ("onboarding", "people"))
    assert (team.metadata["author"], team.metadata["status"]) == ("Ana Lopes", "Active")
    assert links_of(base, "Team") == {
        ("PARENT_OF", "to", "First week"), ("REFERENCES", "to", "First week"),
        ("PARENT_OF", "to", "Roster"), ("REFERENCES", "to", "Roster"),
    }  # fmt: skip
    assert "Note: bring a bicycle" in base.get(titled(base, "First week").code).text
    assert "lighthouse" in base.get(titled(base, "Roster").code).text
    assert taken(base, "notion", part).unchanged == 3


def notion_archive(path: Path, **members: bytes) -> Path:
    """Pages (a, b …) and parts (part1 …) by their names."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.zip" if len(name) > 1 else f"Page {name * 32}.md", data)
    return path


def test_a_damaged_part_of_notions_export_leaves_the_others(base: Base, tmp_path: Path) -> None:
    whole = notion_archive(tmp_path / "part", a=b"# One\n\nA heron\n").read_bytes()
    parts = {"part1": b"PK\x03\x04garbage", "part2": whole, "part3": whole[:-9]}
    found = taken(base, "notion", notion_archive(tmp_path / "export.zip", **parts))
    assert found.added == 1
    assert [one.path for one in found.failed] == ["part1.zip", "part3.zip"]


def test_all_parts_of_notions_export_together_unpack_to_so_much(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("knowbase.exchange.sources.notion.MOST_UNPACKED", 1 << 20)
    large = b"# Large\n\n" + b"heron " * 100_000
    parts = {
        f"part{number}": notion_archive(tmp_path / "part", **{page: large}).read_bytes()
        for number, page in enumerate("abcd")
    }
    found = taken(base, "notion", notion_archive(tmp_path / "export.zip", **parts), dry_run=True)
    assert (found.added, len(found.failed)) == (1, 3)
    assert all("unpacks to more than 1 MB" in one.reason for one in found.failed)


def test_a_page_of_empty_lines_and_one_of_sentences_with_colons(tmp_path: Path) -> None:
    texts = {
        "a": b"# Empty" + b"\n" * 400_000 + b"the end",
        "b": b"# Talk\n\n" + b"Ana: yes\n" * 200_000 + b"and so on",
    }
    started = time.monotonic()
    items = notion.items(str(notion_archive(tmp_path / "x.zip", **texts)), read_nothing, 32 << 20)
    empty, talk = (one for one in items if isinstance(one, Foreign))
    assert time.monotonic() - started < 15  # or never, for what grows with the square
    assert empty.text == "# Empty\n\nthe end\n"
    assert talk.text.count("Ana: yes") == 200_000


def read_nothing(name: str, data: bytes) -> Reading:
    raise ReadError(f"{name}: {len(data)} bytes are not wanted")


def test_bookmarks_of_every_browser(base: Base) -> None:
    found = taken(base, "bookmarks", FILES / "bookmarks.html")
    assert (found.added, len(found.skipped)) == (2, 1)
    one = titled(base, "Sourdough in a day")
    assert (one.type, one.created_at[:19], set(one.tags)) == (
        "bookmark", "2023-11-14T22:15:00", {"baking", "yeast"},
    )  # fmt: skip
    assert one.metadata["folder"] == "Cooking & more / Bread"
    assert "patience" in base.get(one.code).text
    assert taken(base, "bookmarks", FILES / "bookmarks.html").unchanged == 2
    assert taken(base, "bookmarks", FILES / "Bookmarks").added == 1
    assert titled(base, "Moss in the shade").created_at[:10] == "2023-11-14"
    assert titled(base, "Moss in the shade").metadata["folder"] == "Bookmarks bar / Garden"
    base.note("See [[https://example.org/moss]]")
    assert base.graph.links(titled(base, "Moss in the shade").code).links


def deep(path: Path) -> Path:
    path.write_text("[" + '{"mapping":' * 100_000, "utf-8")
    return path


def endless(path: Path) -> Path:
    path.write_bytes(b'[{"title":"' + b"x" * (opening.MOST_ENTRY + (1 << 20)))
    return path


def bomb(path: Path) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b"[" + b" " * (4 << 20) + b"]")
        archive.writestr(f"Page {'a' * 32}.md", b" " * (4 << 20))
    return path


def encrypted(path: Path) -> Path:
    bomb(path)
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + at] |= 1
    path.write_bytes(bytes(data))
    return path


def other(path: Path) -> Path:
    path.write_text('{"some": "thing else"}', "utf-8")
    return path


@pytest.mark.parametrize("origin", ["chatgpt", "claude", "mem0", "notion", "bookmarks"])
@pytest.mark.parametrize("make", [deep, endless, bomb, encrypted])
def test_hostile_files_are_refused_within_bounds(
    base: Base, tmp_path: Path, origin: str, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "MOST_UNPACKED", 1 << 20)
    monkeypatch.setattr(opening, "MOST_ENTRY", 1 << 20)
    monkeypatch.setattr("knowbase.exchange.sources.notion.MOST_UNPACKED", 1 << 20)
    given = make(tmp_path / "given")
    if (origin, make) == ("notion", bomb):  # a member that is too large leaves the others
        assert len(taken(base, origin, given).failed) == 1
    else:
        with pytest.raises(ReadError):
            taken(base, origin, given)
    assert base.status().documents == 0


@pytest.mark.parametrize(
    "origin", ["chatgpt", "claude", "mem0", "mcp-memory", "basic-memory", "notion", "bookmarks"]
)
def test_a_file_of_something_else_is_said(base: Base, tmp_path: Path, origin: str) -> None:
    try:
        told = [one.reason for one in taken(base, origin, other(tmp_path / "given")).failed]
    except KnowbaseError as error:
        told = [error.message]
    assert told
    with pytest.raises(NotFound):
        taken(base, origin, tmp_path / "nothing-there")
    assert base.status().documents == 0


def test_one_bad_entry_costs_itself_alone(base: Base, tmp_path: Path) -> None:
    told = json.loads((FILES / "chatgpt/conversations.json").read_text("utf-8"))
    told[1:1] = [7, None, {"mapping": {}, "title": "Nameless"}, {"mapping": {"x": 1}, "id": "q",
                 "current_node": "x", "title": 5}, {"mapping": {"l": {"parent": "l"}}, "id": "loop",
                 "current_node": "l"}]  # fmt: skip
    (tmp_path / "conversations.json").write_text(json.dumps(told), "utf-8")
    found = taken(base, "chatgpt", tmp_path)
    assert found.added == 2
    assert len(found.failed) == 3
    assert {one.reason for one in found.skipped} == {"empty"}


def test_the_command_imports_and_says_what_it_did(kb: Kb) -> None:
    given = ("import", "--from", "mcp-memory", FILES / "memory.jsonl", "--dry-run")
    said = kb.json(*given, code=6)  # a line of it is none
    assert (said["added"], said["dry_run"]) == (3, True)
    said = kb("import", "--from=mcp-memory", FILES / "memory.jsonl", code=6).out
    assert said.startswith("3 added, 1 failed\n")
    assert said.endswith("failed line 4: it is neither an entity nor a relation\n")
    assert "origin cannot be 'roam' (one of chatgpt" in kb.error(
        "import", "--from", "roam", "x", code=2
    ).replace('"', "'")
    assert "there is no file" in kb.error("import", "--from", "mem0", "nothing.json", code=3)


def test_what_stands_before_the_damage_comes_in(base: Base, tmp_path: Path) -> None:
    """A download that was cut off: a reason, and nothing lost that is there."""
    told = json.loads((FILES / "chatgpt/conversations.json").read_text("utf-8"))
    text = json.dumps(told)
    file = tmp_path / "conversations.json"
    file.write_text(text[: len(json.dumps(told[:1])) + 50], "utf-8")
    for counts in ((1, 0), (0, 1)):
        found = taken(base, "chatgpt", file)
        assert (found.added, found.unchanged) == counts
        assert [one.path for one in found.failed] == ["entry 2 and what follows"]
    file.write_text(text, "utf-8")
    assert taken(base, "chatgpt", file).added == 1
    memories = (
        '{"id": "1", "memory": "One"}\n{"id": "2", "memory": "Two"}\n{"memory": "Nameless"}\n'
    )
    (tmp_path / "mem0.jsonl").write_text(memories + '{"id": "3", "mem')
    found = taken(base, "mem0", tmp_path / "mem0.jsonl")
    assert (found.added, len(found.failed)) == (3, 1)
    assert taken(base, "mem0", tmp_path / "mem0.jsonl").unchanged == 3
    html = (FILES / "bookmarks.html").read_text("utf-8")
    (tmp_path / "cut.html").write_text(html[: html.index("</A>") + 4], "utf-8")
    assert [one.path for one in taken(base, "bookmarks", tmp_path / "cut.html").failed] == [
        "the end"
    ]
    (tmp_path / "nothing.json").write_bytes(b"")
    for origin in ("chatgpt", "mem0", "mcp-memory"):
        with pytest.raises(ReadError):
            taken(base, origin, tmp_path / "nothing.json")


def test_shapes_that_exports_had_or_have_by_now(base: Base, tmp_path: Path) -> None:
    said = {"author": {"role": "user"}, "content": {"parts": ["Which queue?"]}}
    first = {"id": "q", "title": "Old", "mapping": {"a": {"message": said, "parent": None}}}
    (tmp_path / "conversations-000.json").write_text(json.dumps([first]))
    assert taken(base, "chatgpt", tmp_path).added == 1
    assert "Which queue?" in base.get(titled(base, "Old").code).text
    (tmp_path / "projects").mkdir()
    project = {
        "uuid": "p1",
        "name": "Shop",
        "docs": [{"uuid": "d", "filename": "a", "content": "x"}],
    }
    (tmp_path / "projects/0196.json").write_text(json.dumps(project))
    found = taken(base, "claude", tmp_path)
    assert (found.added, [one.path for one in found.failed]) == (2, ["Untitled"])
    whole = zipped(FILES / "notion", tmp_path / "export.zip")
    assert taken(base, "notion", whole).added == 3
    with zipfile.ZipFile(whole) as archive:  # as some browsers do, with another day
        archive.extractall(tmp_path / "unpacked")
    again = taken(base, "notion", tmp_path / "unpacked")
    assert (again.added, again.changed, again.unchanged) == (0, 0, 3)


def said(role: str, to: str, content: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"author": {"role": role}, "recipient": to, "content": content, "metadata": metadata}


def test_what_chatgpt_wrote_beside_a_conversation_is_in_it(base: Base, tmp_path: Path) -> None:
    """A canvas is told to a tool, and marks of sources are characters of no alphabet."""
    marked = (
        "Neaps follow the quarters.\ue200cite\ue202turn0search1\ue201 "
        "Springs follow the moon.\ue200cite\ue202turn0search2\ue201 See the file【4:1†tides.pdf】."
    )
    sources = [
        {"matched_text": "\ue200cite\ue202turn0search1\ue201", "alt": " ([Tides](https://t.org/))"},
        {"matched_text": " ", "alt": None},
    ]
    draft = {"name": "Tide plan", "type": "document", "content": "# Plan\n\nLeave at high water."}
    script = {"name": "tide.py", "type": "code/python", "content": "print('```ebb```')"}
    anew = {"updates": [{"pattern": ".*", "replacement": "Leave at low water."}]}
    small = {"updates": [{"pattern": "water", "replacement": "zebrafish"}]}
    messages = [
        said("user", "all", {"content_type": "text", "parts": ["When do we leave?"]}),
        said("assistant", "canmore.create_textdoc",
             {"content_type": "code", "language": "json", "text": json.dumps(draft)}),
        said("assistant", "canmore.create_textdoc",
             {"content_type": "text", "parts": [json.dumps(script)]}),
        said("assistant", "canmore.update_textdoc",
             {"content_type": "code", "text": json.dumps(anew)}),
        said("assistant", "canmore.update_textdoc",
             {"content_type": "code", "text": json.dumps(small)}),
        said("assistant", "canmore.create_textdoc", {"content_type": "code", "text": "not {JSON"}),
        said("assistant", "all", {"content_type": "text", "parts": [marked]},
             content_references=sources),
    ]  # fmt: skip
    mapping = {
        str(number): {"message": one, "parent": str(number - 1) if number else None}
        for number, one in enumerate(messages)
    }
    entry = {"id": "c1", "title": "Leaving", "mapping": mapping, "current_node": "6"}
    (tmp_path / "conversations.json").write_text(json.dumps([entry]))
    assert taken(base, "chatgpt", tmp_path).added == 1
    text = base.get(titled(base, "Leaving").code).text
    for there in (
        "Tide plan",
        "Leave at high water",
        "print('```ebb```')",
        "Leave at low water",
        "quarters. ([Tides](https://t.org/)) Springs",
        "moon. See the file.",
    ):
        assert there in text, there
    for not_there in ("zebrafish", "turn0search", "†", "not {JSON", '"pattern"'):
        assert not_there not in text, not_there


def test_what_claude_made_is_in_its_conversation(base: Base, tmp_path: Path) -> None:
    def use(name: str, **given: str) -> dict[str, Any]:
        return {"type": "tool_use", "name": name, "input": given}

    unsupported = "```\nThis block is not supported on your current device yet.\n```"
    blocks = [
        {"type": "text", "text": "Here it is."},
        use("artifacts", command="create", title="Tide table", type="text/markdown",
            content="# Tides\n\nHigh water at nine."),
        use("artifacts", command="update", old_str="nine", new_str="zebrafish"),
        use("artifacts", command="rewrite", title="Tide script", language="python",
            type="application/vnd.ant.code", content="print('ebb')"),
        use("create_file", path="/home/claude/plan.md", file_text="Moor at the quay."),
        use("web_search", query="walruses"),
    ]  # fmt: skip
    tools = {"sender": "assistant", "text": unsupported, "content": blocks[-1:]}
    chat = {
        "uuid": "t1", "name": "Tides",
        "chat_messages": [{"sender": "assistant", "text": unsupported, "content": blocks}, tools],
    }  # fmt: skip
    (tmp_path / "conversations.json").write_text(json.dumps([chat]))
    assert taken(base, "claude", tmp_path).added == 1
    text = base.get(titled(base, "Tides").code).text
    for there in ("Here it is.", "Tide table", "High water at nine", "```python\nprint('ebb')",
                  "plan.md", "Moor at the quay"):  # fmt: skip
        assert there in text, there
    for not_there in ("zebrafish", "walruses", "not supported"):
        assert not_there not in text, not_there
