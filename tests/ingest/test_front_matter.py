"""What front matter and links of real folders come to in a base (S3-41)."""

import pytest

from conftest import Kb
from knowbase import Base, create

FILES = {
    "site/content/en/docs/concepts/pods/_index.md": (
        "---\ntitle: Pods\naliases: [/old/pods/]\n---\nx\n"
    ),
    "site/content/en/docs/concepts/pods/lifecycle.md": "# Lifecycle\n\nA pod lives.\n",
    "site/content/de/docs/concepts/pods/lifecycle.md": "# Leben\n\nEin Pod lebt.\n",
    "site/content/en/docs/start.md": (
        "# Start\n\n[a](/docs/concepts/pods/lifecycle/) [b](/docs/concepts/pods/#x)\n"
        "[c](/old/pods) [d](/docs/concepts/pods/lifecycle.html) [e](/docs/missing/)\n"
    ),
    "wiki/guide/setup.md": "# Setup\n\nHow to.\n",
    "wiki/home.md": "# Home\n\n[s](/guide/setup)\n",
    "vault/Coffee.md": (
        "---\naliases: [Java, Kaffee]\nblocked_by: T-2\n---\n- pairs_with [[Cake]]\n"
    ),
    "vault/Cake.md": "# Cake\n\nSee [[Kaffee^abc]] and ![[Java]].\n",
    "vault/task.md": (
        "---\nlevel: task\nshort_code: T-2\ncreated_at: 2024-01-02\nupdated_at: 2024-03-04\n"
        "archived: false\nblocked_by: [T-1, '[[Cake]]']\nexit_criteria_met: true\n"
        "estimated_complexity: 5\ndescription: Replace the boiler\n---\nThe work.\n"
    ),
    "roam/slipbox.org": ":PROPERTIES:\n:ID: 800f-66\n:END:\n#+title: Slip box\n\nNotes.\n",
    "roam/start.org": "#+title: Start\n\nSee [[id:800f-66][why]].\n",
    "roam/topic.slips.md": "---\nid: k3x\n---\n# Slips\n\n[[box|topic.boxes.large]]\n",
    "roam/topic.boxes.large.md": "# Large\n\nBoxes.\n",
    "vault/later.md": "---\ncode: T-1\nstatus: active\ndue: 2024-05-06\n---\nLater work.\n",
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    folder = tmp_path_factory.mktemp("folders")
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    made = create(str(folder))
    tops = ("site", "wiki", "roam", "vault")
    report = made.add([str(folder / top) for top in tops], defer=True)
    assert (report.warnings, report.failed) == ((), ())
    return made


def links(base: Base, path: str) -> set[tuple[str, str]]:
    found = base.graph.links(path).links
    return {(one.relation, one.document.path or "") for one in found if one.direction == "to"}


def test_links_from_the_top_of_a_site_lead_to_its_pages(base: Base) -> None:
    pods = "site/content/en/docs/concepts/pods"
    assert links(base, "site/content/en/docs/start.md") == {
        ("REFERENCES", f"{pods}/lifecycle.md"),
        ("REFERENCES", f"{pods}/_index.md"),
    }
    unresolved = base.graph.links("site/content/en/docs/start.md").unresolved
    assert [link.target for link in unresolved] == ["/docs/missing/"]
    assert links(base, "wiki/home.md") == {("REFERENCES", "wiki/guide/setup.md")}


def test_aliases_blocks_and_relations_are_links(base: Base) -> None:
    assert links(base, "vault/Cake.md") == {("REFERENCES", "vault/Coffee.md")}
    assert links(base, "vault/Coffee.md") == {
        ("PAIRS_WITH", "vault/Cake.md"),
        ("BLOCKED_BY", "vault/task.md"),
    }
    ranked = base.graph.rank(relations=("blocked_by",)).documents
    assert {one.document.code: one.links_to_it for one in ranked}["T-2"] == 1


def test_links_by_id_and_by_dotted_names_lead_to_notes(base: Base) -> None:
    assert links(base, "roam/start.org") == {("REFERENCES", "roam/slipbox.org")}
    assert links(base, "roam/topic.slips.md") == {("REFERENCES", "roam/topic.boxes.large.md")}


def test_a_work_document_has_its_fields_and_the_rest_can_be_asked_for(base: Base) -> None:
    """S3-41."""
    task = base.whole("T-2")
    assert (task.type, task.archived, task.created_at[:10], task.updated_at[:10]) == (
        "task", False, "2024-01-02", "2024-03-04",
    )  # fmt: skip
    assert links(base, "T-2") == {("BLOCKED_BY", "vault/later.md"), ("BLOCKED_BY", "vault/Cake.md")}
    for query in (
        "work meta.exit_criteria_met:true",
        "work meta.estimated_complexity:>4",
        "boiler",
        "work created:2024-01",
        "work type:task -meta.status:active",
    ):
        assert [hit.document.code for hit in base.search(query).hits] == ["T-2"], query
    found = base.documents(where=["status=active", "due>=2024-05", "due<2024-06"]).documents
    assert [one.code for one in found] == ["T-1"]


def test_the_command_asks_for_front_matter_and_shows_it(kb: Kb) -> None:
    """S3-41."""
    kb.write("a.md", "---\nstatus: active\nteam: [web, ops]\n---\n# A\n\nalpha\n")
    kb.write("b.md", "---\nstatus: done\n---\n# B\n\nalpha\n")
    kb("add", "a.md", "b.md", "--defer")
    hits = kb.json("search", "alpha", "--fts-only", "--where", "status=active")["hits"]
    assert [hit["path"] for hit in hits] == ["a.md"]
    assert kb.json("list", "--where", "status!=active", "--where", "status")["total"] == 1
    shown = kb("get", "a.md")
    assert shown.out == "# A\n\nalpha\n"
    assert "status: active · team: web, ops" in shown.err
    assert "where cannot be 'x<'" in kb.error("list", "--where", "x<", code=2)
