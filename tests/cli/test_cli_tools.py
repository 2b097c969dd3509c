"""Hits for other programs, opened in an editor, and what shells complete."""

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Kb, environment
from knowbase.errors import InvalidInput
from knowbase.operations.editors import at_line, at_page, opener

DEPLOY = ("search", "deploy friday", "--fts-only", "--top", "3")


@pytest.mark.parametrize(
    ("editor", "expected"),
    [
        ("vim", "vim +7 /f.md"),
        ("/usr/bin/nvim -p", "/usr/bin/nvim -p +7 /f.md"),
        ("emacsclient -n", "emacsclient -n +7 /f.md"),
        ("code --wait", "code --wait --goto /f.md:7"),
        ("hx", "hx /f.md:7"),
        ("subl -w", "subl -w /f.md:7"),
        ("pycharm", "pycharm --line 7 /f.md"),
        ("mate", "mate -l 7 /f.md"),
        ("notepad++.exe", "notepad++.exe -n7 /f.md"),
        ("unheard-of", "unheard-of /f.md"),
    ],
)
def test_editors_are_told_the_line_as_they_take_it(editor: str, expected: str) -> None:
    assert " ".join(at_line(editor.split(), "/f.md", 7)) == expected


def test_a_pdf_is_opened_at_its_page_by_the_first_program_that_can() -> None:
    def has(*names: str) -> object:
        return lambda name: f"/usr/bin/{name}" if name in names else None

    assert at_page("/a.pdf", 3, has("evince", "firefox")) == ["evince", "-i", "3", "/a.pdf"]  # type: ignore[arg-type]
    assert at_page("/a b.pdf", 3, has("firefox")) == ["firefox", "file:///a%20b.pdf#page=3"]  # type: ignore[arg-type]
    if sys.platform == "linux":
        assert at_page("/a.pdf", 3, has("xdg-open")) == ["xdg-open", "/a.pdf"]  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="no program"):
            opener("/a.pdf", has())  # type: ignore[arg-type]


def test_a_hit_is_opened_by_its_number_at_its_line(handbook: Kb) -> None:
    hits = handbook.json(*DEPLOY)["hits"]
    for number, hit in enumerate(hits, 1):
        shown = handbook("open", str(number), "--print", env={"EDITOR": "vim"}).out
        assert shown == f"vim +{hit['line']} {handbook.folder / hit['path']}\n"


def test_a_document_is_opened_by_any_of_its_names(handbook: Kb) -> None:
    path = handbook.folder / "handbook/operations/deploying.md"
    for name in ("HB-T-0021:freeze", "deploying:freeze", "handbook/operations/deploying.md:freeze"):
        shown = handbook.json("open", name, "--print", env={"VISUAL": "code", "EDITOR": "vim"})
        assert shown["command"] == ["code", "--goto", f"{path}:{shown['line']}"]
        assert shown["line"] > 20


def test_a_number_that_no_hit_has_opens_nothing(own_handbook: Kb) -> None:
    own_handbook(*DEPLOY)
    told = own_handbook.error("open", "7", "--print", env={"EDITOR": "vim"}, code=3)
    assert "there is no hit 7: the last search has 3 hits" in told
    own_handbook("search", "nosuchwordatall", "--fts-only")
    told = own_handbook.error("open", "1", "--print", env={"EDITOR": "vim"}, code=3)
    assert "the last search has 0 hits" in told


def test_a_page_of_the_web_is_opened_in_the_browser(kb: Kb) -> None:
    for code, address in (("W-1", "https://example.org/a?b=1"), ("W-2", "file:///etc/passwd")):
        kb("note", f"---\ncode: {code}\naddress: {address}\n---\nA page\n")
    tool = kb.write("bin/xdg-open", '#!/bin/sh\necho "$@" > opened\n')
    tool.chmod(0o755)
    env = {"PATH": f"{tool.parent}:/usr/bin:/bin", "EDITOR": "vim"}
    kb("open", "W-1", env=env)
    assert (kb.folder / "opened").read_text() == "https://example.org/a?b=1\n"
    assert "has no file" in kb.error("open", "W-2", env=env, code=2)


def test_the_editor_is_run_and_its_failure_is_an_error_of_ours(own_handbook: Kb) -> None:
    tool = own_handbook.write("editor", '#!/bin/sh\necho "$@" > opened\nexit 3\n')
    tool.chmod(0o755)
    told = own_handbook.error("open", "deploying.md", env={"EDITOR": str(tool)}, code=1)
    assert "failed with exit code 3 (set VISUAL or EDITOR)" in told
    assert (own_handbook.folder / "opened").read_text().strip().endswith("deploying.md")
    missing = own_handbook.error("open", "deploying.md", env={"EDITOR": "/no/such"}, code=1)
    assert "could not be started" in missing


def test_what_has_no_file_or_lost_it_is_said(own_handbook: Kb) -> None:
    own_handbook("note", "A note", "--title", "N", "--code", "N-1")
    assert "has no file" in own_handbook.error("open", "N-1", code=2)
    (own_handbook.folder / "handbook/operations/deploying.md").unlink()
    assert "is not there" in own_handbook.error("open", "HB-T-0021", code=3)


def test_hits_are_printed_for_other_programs(handbook: Kb) -> None:
    hits = handbook.json(*DEPLOY)["hits"]
    places = [f"{hit['path']}:{hit['line']}:" for hit in hits]
    grep = handbook(*DEPLOY, "--format", "grep").out.splitlines()
    assert [line.startswith(place) for line, place in zip(grep, places, strict=True)] == [True] * 3
    vim = handbook(*DEPLOY, "--format", "vimgrep").out.splitlines()
    columns = [
        line[len(place) :].partition(":")[0] for line, place in zip(vim, places, strict=True)
    ]
    assert all(column.isdecimal() and int(column) > 0 for column in columns)
    paths = handbook(*DEPLOY, "--format", "paths").out.split()
    assert paths == list(dict.fromkeys(hit["path"] for hit in hits))
    rows = list(csv.DictReader(io.StringIO(handbook(*DEPLOY, "--format", "csv").out)))
    assert [(row["code"], row["line"]) for row in rows] == [
        (hit["code"], str(hit["line"])) for hit in hits
    ]
    marked = handbook(*DEPLOY, "--format", "md").out
    assert marked.startswith(f"- [{hits[0]['title']}]({hits[0]['path']})")
    assert "<mark>" not in "".join((*grep, *vim, marked))


def test_names_with_odd_characters_reach_other_programs(kb: Kb) -> None:
    names = ["two words.md", "two\nlines.md"]
    for name in names:
        kb.write(name, f"# T\n\nzebra {names.index(name)}\n")
    kb("add", ".")
    out = kb("search", "zebra", "--format", "paths0").out
    assert sorted(out.removesuffix("\0").split("\0")) == sorted(names)
    assert "\n" not in kb("search", "zebra", "--format", "grep", "--top", "1").out.strip()


def test_a_format_that_there_is_not_is_refused_and_notes_go_aside(handbook: Kb) -> None:
    assert "one of grep" in handbook.error("search", "x", "--format", "xml", code=2)
    assert "exclude" in handbook.error("search", "x", "--format", "csv", "--json", code=2)
    result = handbook("search", "tag:nope", "--format", "paths")
    assert result.out == ""
    assert "no document has the tag" in result.err
    assert "one of graphqlite" in handbook.error("graph", "export", "x", "--format", "y", code=2)


# what shells complete


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Kb:
    kb = Kb(tmp_path_factory.mktemp("tagged"))
    kb("init")
    kb("note", "Deploys freeze", "--tags", "production,ops,two words", "--code", "OPS-1")
    kb.write("in/quokka.md", "# Q\n\nwords\n")
    kb.write("in/a/twin.md", "# A\n\nwords\n")
    kb.write("in/b/twin.md", "# B\n\nwords\n")
    kb("add", "in", "--defer")
    tool = kb.write("bin/kb", f'#!/bin/sh\nexec {sys.executable} -m knowbase.cli "$@"\n')
    tool.chmod(0o755)
    return kb


def shell(kb: Kb, name: str, script: str) -> list[str]:
    """What a shell prints that has our completion."""
    path = f"{kb.folder / 'bin'}:{environment()['PATH']}"
    quick = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    done = subprocess.run(
        [name, *quick, "-c", script],
        capture_output=True, text=True, cwd=kb.folder, env=environment(PATH=path), check=False,
    )  # fmt: skip
    return [line.partition("\t")[0] for line in done.stdout.splitlines() if line]


def _typing(words: list[str]) -> str:
    """Ask for what may become of the last word."""
    return f"COMP_WORDS=({' '.join(words)})\nCOMP_CWORD={len(words) - 1}\nCOMPREPLY=()\n_kb\n"


CASES = {
    "kb search --tags pro": ["production"],
    "kb search --tags ops,pro": ["ops,production"],
    "kb search --type mark": ["markdown"],
    "kb search --profile entr": ["entries"],
    "kb get OPS": ["OPS-1"],
    "kb links quok": ["quokka.md"],
}
FREE = "kb search --top b"  # a number: no file such as "bin"


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_values(tagged: Kb) -> None:
    script = 'eval "$(kb completion bash)"\n'
    for line in (*CASES, "kb list --tags two", "kb list --tags = op", "kb get twi", FREE):
        script += _typing(line.split())
        script += 'printf "%s\\n" "${COMPREPLY[*]}:"\n'
    found = shell(tagged, "bash", script)
    expected = [*(" ".join(values) for values in CASES.values()), "two\\ words", "ops", "", ""]
    assert found == [f"{one}:" for one in expected]


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_values(tagged: Kb) -> None:
    script = "kb completion fish | source\n"
    for line in CASES:
        script += f"complete -C '{line}'\n"
    found = shell(tagged, "fish", script)
    assert [one for one in found if one in {v for vs in CASES.values() for v in vs}] == [
        value for values in CASES.values() for value in values
    ]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
def test_zsh_completes_values(tagged: Kb) -> None:
    script = 'autoload -Uz compinit && compinit -u -D\neval "$(kb completion zsh)"\n'
    script += "emulate -L sh\nsetopt ksharrays kshglob braceexpand\n"
    for line in CASES:
        script += _typing(line.split())
        script += 'printf "%s\\n" "${COMPREPLY[0]}"\n'
    script += _typing(FREE.split()) + 'printf "%s\\n" "${#COMPREPLY[@]}"\n'
    assert shell(tagged, "zsh", script) == [*(values[0] for values in CASES.values()), "0"]


def test_a_folder_that_nothing_lies_in_is_said(tagged: Kb) -> None:
    assert "no document has the path '/nosuch/'" in tagged("browse", "nosuch").out
    assert tagged.json("browse", "nosuch")["total"] == 0


def test_whatever_is_wrong_shells_get_nothing(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    assert kb("completion", "values", "tag", "x").out.strip() == ""
    assert kb("completion", "values", "nope").out.strip() == ""
    assert kb("completion", "values").out.strip() == ""
