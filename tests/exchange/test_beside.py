"""An export in a base with documents of its own: both keep what they say, and of whom."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import knowbase
from conftest import Kb
from knowbase import Base, Note, SearchRequest
from knowbase.errors import Conflict
from knowbase.exchange.exporting import Wanted, export
from knowbase.exchange.imported import Imported
from knowbase.exchange.others import Wanted as Others
from knowbase.exchange.others import take_others
from knowbase.exchange.taking import take_export
from knowbase.query.conditions import EVERYTHING
from knowbase.values.documents import ALL, Document
from postgres import new_base


@pytest.fixture(autouse=True)
def _by_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KB_EMBED_VECTORS", "false")  # nothing here is about meaning


@pytest.fixture
def theirs(tmp_path: Path) -> Iterator[Base]:
    with knowbase.create(str(tmp_path / "theirs/base.db")) as base:
        yield base


@pytest.fixture(params=["sqlite", "postgresql"])
def mine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Base]:
    is_file = request.param == "sqlite"
    with knowbase.create(str(tmp_path / "mine/base.db") if is_file else new_base()) as base:
        yield base


def by_start(base: Base) -> dict[str, Document]:
    """Every document, whatever its state, by the first word of its title."""
    return {one.title.split()[0]: one for one in base.store.documents(EVERYTHING, ALL)}


def links_of(base: Base, code: str) -> set[tuple[str, str, str]]:
    found = base.graph.links(code).links
    return {(one.relation, one.direction, one.document.title.split()[0]) for one in found}


def brought(theirs: Base, mine: Base, folder: Path) -> Imported:
    export(theirs, Wanted(str(folder)))
    return take_export(mine, str(folder))


def test_only_a_code_that_is_taken_changes_and_everything_that_names_it(
    theirs: Base, mine: Base, tmp_path: Path
) -> None:
    theirs.note(Note("Alpha is the root"))
    theirs.note(Note("Beta hangs below; see [[KB-3]], KB-1 and [it](KB-1)", parent="KB-1"))
    theirs.note(Note("---\nblocked_by: KB-2\n---\nGamma waits"))
    theirs.note(Note("Delta took the place of Gamma", code="OWN-1"))
    theirs.lifecycle.supersede("KB-3", "OWN-1")
    theirs.relate("KB-1", "OWN-1")
    theirs.saved.add("below", SearchRequest("under:KB-1 deploy"))
    theirs.saved.add("filtered", SearchRequest("deploy", filters={"under": "KB-2"}))
    mine.note(Note("Mine is the root"))
    mine.note(Note("Child of mine", parent="KB-1"))
    found = brought(theirs, mine, tmp_path / "out")
    assert (found.added, found.changed, found.kept) == (4, 0, 0)
    assert "only a base that is empty becomes the same with its history" in found.notices[0]
    assert [one.partition(": ")[2] for one in found.notices[1:]] == [
        "the code KB-1 is taken; it is KB-4", "the code KB-2 is taken; it is KB-5",
    ]  # fmt: skip
    here = by_start(mine)
    codes = {name: one.code for name, one in here.items()}
    assert codes == {
        "Mine": "KB-1", "Child": "KB-2", "Alpha": "KB-4", "Beta": "KB-5", "Gamma": "KB-3",
        "Delta": "OWN-1",
    }  # fmt: skip
    for _ in range(2):
        assert here["Beta"].parent == "KB-4"
        assert links_of(mine, "KB-1") == {("PARENT_OF", "to", "Child")}
        assert links_of(mine, "KB-2") == {("PARENT_OF", "from", "Mine")}
        assert links_of(mine, "KB-5") == {
            ("PARENT_OF", "from", "Alpha"), ("REFERENCES", "to", "Gamma"),
            ("REFERENCES", "to", "Alpha"), ("BLOCKED_BY", "from", "Gamma"),
        }  # fmt: skip
        assert ("SUPERSEDES", "from", "Delta") in links_of(mine, "KB-3")
        assert ("RELATED_TO", "to", "Delta") in links_of(mine, "KB-4")
        text = mine.get("KB-5").text
        assert text == "Beta hangs below; see [[KB-3]], KB-4 and [it](KB-4)"
        mine.tag(["KB-5"], add=["again"])  # which looks for its links anew
    assert mine.saved.get("below").query == "under:KB-4 deploy"
    assert mine.saved.get("filtered").options["filters"] == {"under": "KB-5"}
    again = take_export(mine, str(tmp_path / "out"))
    assert (again.added, again.changed) == (0, 0)
    assert {name: one.code for name, one in by_start(mine).items()} == codes


def test_codes_are_the_same_when_an_import_is_gone_on_with(
    theirs: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came in first names by its new code what is still to come."""
    monkeypatch.setattr("knowbase.values.copies.BATCH", 1)
    theirs.note(Note("Root", code="A-1"))
    theirs.note(Note("Child", code="A-2", parent="A-1"))
    theirs.note(Note("Leaf [[A-1]]", code="A-3", parent="A-2"))
    theirs.note(Note("Root points down: [[A-3]]", replaces="A-1"))
    export(theirs, Wanted(str(tmp_path / "out")))
    with knowbase.create(str(tmp_path / "mine.db")) as mine:
        for code in ("A-1", "A-2", "A-3"):
            mine.note(Note(f"Mine {code}", code=code))

        def step(_: Any) -> None:
            if mine.status().documents > 3:
                raise KeyboardInterrupt

        assert take_export(mine, str(tmp_path / "out"), progress=step).interrupted
        assert mine.status().documents == 4
        take_export(mine, str(tmp_path / "out"))
        here = by_start(mine)
        assert here["Child"].parent == here["Root"].code
        assert here["Leaf"].parent == here["Child"].code
        assert ("REFERENCES", "to", "Leaf") in links_of(mine, here["Root"].code)
        assert ("REFERENCES", "to", "Root") in links_of(mine, here["Leaf"].code)


def test_sessions_and_synonyms_of_both_stay(theirs: Base, mine: Base, tmp_path: Path) -> None:
    for base, summary in ((theirs, "Theirs"), (mine, "Mine")):
        base.sessions.start("s1", "web")
        base.note(Note(f"A note of {summary}", session="s1"))
        base.sessions.end("s1", summary)
    theirs.synonyms.add(["HPA", "autoscaler"])
    theirs.synonyms.add(["heron", "bird"])
    mine.synonyms.add(["autoscaler", "scaler"])
    found = brought(theirs, mine, tmp_path / "out")
    rows = {part.name: part.rows for part in found.parts}
    assert (rows["saved searches"], rows["synonyms"]) == (0, 2)
    assert mine.sessions.show("s1").session.summary == "Mine"
    assert len(mine.sessions.show("s1").used) == 2
    groups = {frozenset(one.words) for one in mine.synonyms.all().synonyms}
    assert groups == {frozenset({"HPA", "autoscaler", "scaler"}), frozenset({"heron", "bird"})}
    take_export(mine, str(tmp_path / "out"))
    assert {frozenset(one.words) for one in mine.synonyms.all().synonyms} == groups


# Markdown that somebody has changed


def page_of(folder: Path, code: str) -> Path:
    (found,) = (one for one in folder.rglob("*.md") if one.name.startswith(code))
    return found


def replaced(page: Path, old: str, new: str) -> None:
    text = page.read_text("utf-8")
    assert old in text
    page.write_text(text.replace(old, new), "utf-8")


def texts(base: Base) -> list[str]:
    return sorted(one.title for one in base.documents().documents)


def test_a_page_is_known_by_its_id_whatever_it_is_called(theirs: Base, tmp_path: Path) -> None:
    out = tmp_path / "out"
    theirs.note(Note("A heron by the lake", title="Heron"))
    theirs.note(Note("A moss in the shade", title="Moss"))
    export(theirs, Wanted(str(out)))
    replaced(page_of(out, "KB-1"), 'title: "Heron"', 'title: "Grey heron"')
    page_of(out, "KB-2").rename(out / "note/about moss.md")
    replaced(out / "note/about moss.md", "in the shade", "in the sun")
    for number in (2, 0):
        found = take_export(theirs, str(out))
        assert (found.added, found.changed, found.notices) == (0, number, ())
        assert texts(theirs) == ["Grey heron", "Moss"]
    assert theirs.get("KB-2").text.strip() == "A moss in the sun"
    export(theirs, Wanted(str(out)))  # which calls the first one otherwise
    assert [one.name for one in out.rglob("KB-1*.md")] == ["KB-1-grey-heron.md"]
    assert take_export(theirs, str(out)).added == 0
    assert texts(theirs) == ["Grey heron", "Moss"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('title: "Heron"', "title: {Heron"),
        ('title: "Heron"', "title: [Heron"),
        ("---\nid:", "--\nid:"),
        ("---\nid:", "---\nidentity:"),
        ("confidence: 0.5", "confidence: much"),
    ],
)
def test_a_page_with_broken_front_matter_is_refused_and_the_rest_comes_in(
    theirs: Base, tmp_path: Path, old: str, new: str
) -> None:
    out = tmp_path / "out"
    theirs.note(Note("Grey and patient", title="Heron", confidence=0.5))
    theirs.note(Note("Green and patient", title="Moss"))
    export(theirs, Wanted(str(out)))
    replaced(page_of(out, "KB-1"), old, new)
    replaced(page_of(out, "KB-2"), "Green", "Very green")
    found = take_export(theirs, str(out))
    assert [one.path for one in found.failed] == ["note/KB-1-heron.md"]
    assert "front matter" in found.failed[0].reason
    assert "left out" not in found.failed[0].reason
    assert (found.added, found.changed, texts(theirs)) == (0, 1, ["Heron", "Moss"])
    assert theirs.get("KB-1").text == "Grey and patient"
    with pytest.raises(Conflict, match="KB-1-heron"):
        export(theirs, Wanted(str(out)))


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("salience: 0.9", "salience: 0.7", ("salience", 0.7)),
        ('project: "web"', 'project: "shop"', ("project", "shop")),
        ('owner: "ann"', 'owner: "bob"', ("metadata", {"owner": "bob"})),
        ("created_at:", 'created_at: "2020-02-02"\nolder:', ("created_at", "2020-02-02T")),
    ],
)
def test_whatever_is_changed_in_a_page_comes_in(
    theirs: Base, tmp_path: Path, old: str, new: str, field: tuple[str, Any]
) -> None:
    out = tmp_path / "out"
    theirs.note(Note("---\nowner: ann\n---\nGrey", title="Heron", project="web", salience=0.9))
    export(theirs, Wanted(str(out)))
    replaced(page_of(out, "KB-1"), old, new)
    assert take_export(theirs, str(out)).changed == 1
    value = getattr(theirs.get("KB-1").document, field[0])
    assert value == field[1] or str(value).startswith(str(field[1]))
    assert take_export(theirs, str(out)).changed == 0
    export(theirs, Wanted(str(out)))


def test_pages_end_with_their_last_line(theirs: Base, tmp_path: Path) -> None:
    theirs.note(Note("No end"))
    theirs.note(Note("An end\n"))
    export(theirs, Wanted(str(tmp_path / "out")))
    ends = [one.read_text("utf-8")[-5:] for one in sorted((tmp_path / "out").rglob("*.md"))]
    assert ends == [" end\n", " end\n"]


def test_the_page_of_a_file_says_where_the_change_belongs(tmp_path: Path) -> None:
    """What the refusal says leads out of it."""
    kb, out = Kb(tmp_path), tmp_path / "out"
    kb.write("docs/deploy.md", "# Deploying\n\nOn Fridays.\n")
    with knowbase.create(str(tmp_path)) as base:
        base.add(str(tmp_path / "docs"))
        base.note(Note("A note", code="N-1"))
        export(base, Wanted(str(out)))
        replaced(out / "files/docs/deploy.md", "On Fridays.", "On Mondays.")
        found = take_export(base, str(out))
        assert any("docs/deploy.md says what it says: put the change" in n for n in found.notices)
        with pytest.raises(Conflict, match="files/docs/deploy") as refused:
            export(base, Wanted(str(out)))
        assert refused.value.hint == (
            "put the change into docs/deploy.md and kb sync, or overwrite it with --discard"
        )
        replaced(page_of(out, "N-1"), "A note", "A changed note")
        with pytest.raises(Conflict) as refused:
            export(base, Wanted(str(out)))
        assert str(refused.value.hint).startswith("kb import the others first; put the change")
        take_export(base, str(out))
        kb.write("docs/deploy.md", "# Deploying\n\nOn Mondays.\n")
        base.sync()
        export(base, Wanted(str(out)))
        assert take_export(base, str(out)).notices == ()


# What others keep


def test_what_was_said_of_an_import_is_not_what_its_origin_says(
    theirs: Base, tmp_path: Path
) -> None:
    file = tmp_path / "mem.json"
    file.write_text(json.dumps([{"id": "1", "memory": "Likes herons", "categories": ["birds"]}]))
    asked: tuple[tuple[dict[str, Any], tuple[int, int, int]], ...] = (
        ({"tags": ("Old",), "project": "p"}, (1, 0, 0)),
        ({}, (0, 0, 1)),
        ({"tags": ("#old",)}, (0, 0, 1)),
        ({"tags": ("new",)}, (0, 1, 0)),
        ({"project": "q"}, (0, 1, 0)),
        ({}, (0, 0, 1)),
    )
    for more, counts in asked:
        found = take_others(theirs, Others(str(file), "mem0", **more))
        assert (found.added, found.changed, found.unchanged) == counts
    one = theirs.get("KB-1").document
    assert (set(one.tags), one.project) == ({"birds", "old", "new"}, "q")


def test_lines_of_the_memory_server_that_make_no_sense_are_said(
    theirs: Base, tmp_path: Path
) -> None:
    file = tmp_path / "memory.jsonl"
    known = '{"type":"entity","name":"Ada","entityType":"person","observations":["Writes"]}'
    file.write_text(f'{known}\n\n[1]\n{{"type":"relation","from":"Ada"}}\n{known[:20]}')
    found = take_others(theirs, Others(str(file), "mcp-memory"))
    assert (found.added, [tuple(one) for one in found.failed]) == (
        1, [("line 3", "it is neither an entity nor a relation, nor are 2 more")],
    )  # fmt: skip
    file.write_text(json.dumps({"entities": [json.loads(known), {"name": 7}], "relations": [3]}))
    found = take_others(theirs, Others(str(file), "mcp-memory"))
    assert (found.unchanged, [one.path for one in found.failed]) == (1, ["entity 2"])
