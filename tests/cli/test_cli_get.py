"""Showing a document, or one section of it."""

import re

import pytest

from conftest import FIXTURES, Kb

GIT = FIXTURES / "handbook" / "engineering" / "git-setup.md"
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.S)


def without_front_matter(text: str) -> str:
    return FRONT_MATTER.sub("", text)


@pytest.mark.parametrize("code", ["HB-T-0002", "hb-t-0002", "Hb-T-0002"])
def test_a_document_is_found_by_its_code_in_any_case(handbook: Kb, code: str) -> None:
    """C26"""
    assert handbook.json("get", code)["document"]["code"] == "HB-T-0002"


def test_a_document_is_found_by_id_number_and_path(handbook: Kb) -> None:
    """C26"""
    document = handbook.json("get", "HB-T-0002")["document"]
    for reference in (
        document["id"],
        str(document["seq"]),
        "handbook/engineering/git-setup.md",
        f"{handbook.folder}/handbook/engineering/git-setup.md",
    ):
        assert handbook.json("get", reference)["document"] == document


def test_a_path_starts_from_the_working_folder(handbook: Kb) -> None:
    """C26"""
    inside = handbook.folder / "handbook" / "operations"
    for reference in ("../engineering/git-setup.md", "./../engineering/git-setup.md"):
        found = handbook.json("get", reference, cwd=inside)
        assert found["document"]["code"] == "HB-T-0002"


def test_every_markdown_document_comes_back_as_its_source(handbook: Kb) -> None:
    """C16 S3-29"""
    for path in ("engineering/git-setup.md", "engineering/style-guide.md", "welcome.md"):
        source = (FIXTURES / "handbook" / path).read_text(encoding="utf-8")
        assert handbook("get", f"handbook/{path}").out == without_front_matter(source)
        assert handbook.json("get", f"handbook/{path}")["text"] == without_front_matter(source)


def test_a_long_section_was_split_and_comes_back_whole(kb: Kb) -> None:
    """S3-27"""
    words = " ".join(f"word{number} and so on." for number in range(400))
    text = f"# Long\n\nBefore.\n\n## Middle\n\n{words}\n\n## End\n\nAfter.\n"
    kb.write("long.md", text)
    report = kb.json("add", "long.md")
    assert report["chunks_embedded"] > 5
    assert kb("get", "long.md").out == text
    content = kb.json("get", "long.md")
    assert content["text"] == text
    assert [section["heading"] for section in content["sections"]] == [None, "Middle", "End"]


def test_the_tightest_chunk_settings_lose_nothing(kb: Kb) -> None:
    kb.write("kb.toml", "[chunk]\nmax_tokens = 128\noverlap = 0.5\nmin_overlap = 64\n")
    title = " ".join(f"Title{number} alpha" for number in range(40))
    words = " ".join(f"word{number}" for number in range(120))
    text = f"# {title}\n\n{words}.\n"
    kb.write("long.md", text)
    kb("add", "long.md")
    assert kb.json("get", "long.md")["text"] == text


@pytest.mark.parametrize("reference", ["HB-T-0002", "handbook/engineering/git-setup.md"])
def test_one_section_is_shown_by_its_slug(handbook: Kb, reference: str) -> None:
    """S3-28"""
    content = handbook.json("get", f"{reference}:install-git")
    assert [section["section"] for section in content["sections"]] == ["HB-T-0002:install-git"]
    assert content["text"].startswith("## Install git\n")
    assert content["text"] in GIT.read_text(encoding="utf-8")
    assert "## Add your key" not in content["text"]


def test_the_sections_of_a_document_are_its_text(handbook: Kb) -> None:
    content = handbook.json("get", "HB-T-0002")
    assert "".join(section["text"] for section in content["sections"]) == content["text"]
    assert content["sections"][0]["section"] == "HB-T-0002:_preamble"
    assert [section["line"] for section in content["sections"]] == sorted(
        section["line"] for section in content["sections"]
    )


def test_a_section_of_another_script_has_a_slug_too(handbook: Kb) -> None:
    content = handbook.json("get", "handbook/offices/shanghai-passwords.md:忘记密码")
    assert content["text"].startswith("## 忘记密码")


def test_metadata_of_the_front_matter_is_kept(handbook: Kb) -> None:
    document = handbook.json("get", "HB-P-0041")["document"]
    assert document["title"] == "Data deletion requests"
    assert document["parent"] == "HB-I-0001"
    assert document["roles"] == ["pm", "dev", "qa"]
    assert document["confidence"] == 0.9
    assert document["metadata"] == {"legal_basis": "GDPR article 17"}


def test_what_is_put_away_can_still_be_shown(handbook: Kb) -> None:
    """C14"""
    assert handbook.json("get", "HB-D-0001")["document"]["superseded_by"] == "HB-D-0003"


@pytest.mark.parametrize("reference", ["HB-T-0002x", "hb-t-00002"])
def test_an_unknown_code_is_an_error_that_names_the_nearest(handbook: Kb, reference: str) -> None:
    """C22"""
    line = handbook.error("get", reference, code=3)
    assert repr(reference) in line
    assert "did you mean" in line
    assert "HB-T-0002" in line


def test_an_unknown_section_is_an_error(handbook: Kb) -> None:
    line = handbook.error("get", "HB-T-0002:no-such", code=3)
    assert "HB-T-0002 has no section 'no-such'" in line


@pytest.mark.parametrize(
    "reference", ["", "0", "-1", "99999999999999999999", "a\u2028b", "🎉", ":"]
)
def test_a_strange_reference_is_not_found(handbook: Kb, reference: str) -> None:
    handbook.error("get", "--", reference, code=3)


def test_the_number_of_a_removed_document_is_never_given_again(kb: Kb) -> None:
    """C26 S0-22"""
    kb("note", "First")
    kb("rm", "--yes", "KB-1", "--yes")
    assert kb.json("note", "Second")["code"] == "KB-2"
    kb.error("get", "1", code=3)


@pytest.mark.parametrize("end", ["", "\n\n\n"])
def test_line_ends_at_the_end_come_back_as_they_were(kb: Kb, end: str) -> None:
    kb.write("page.md", f"# Page\n\nThe last line.{end}")
    kb("add", "page.md")
    assert kb.json("get", "page.md")["text"] == f"# Page\n\nThe last line.{end}"
    assert kb("get", "page.md").out == f"# Page\n\nThe last line.{end}"


def test_control_characters_come_back_when_nobody_watches(kb: Kb) -> None:
    text = "# Page\n\nOne page\fand the next, \x1b[1mbold\x1b[0m.\n"
    kb.write("page.md", text)
    kb("add", "page.md")
    assert kb("get", "page.md").out == text
