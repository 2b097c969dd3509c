"""Listing, counting, settings, help and completion."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import knowbase
from conftest import Kb, environment
from knowbase.cli.commands import NAMES

COMMANDS = NAMES


def test_documents_are_listed_newest_first(kb: Kb) -> None:
    """C29"""
    for number in range(3):
        kb("note", f"Note number {number}", "--tags", f"t{number},all")
    lines = kb("list").out.splitlines()
    assert lines[0] == "KB-3  Note number 2 (note) #all #t2"
    assert [line.split()[0] for line in lines[:3]] == ["KB-3", "KB-2", "KB-1"]
    assert lines[3] == "3 of 3 documents"


def test_a_listing_can_be_narrowed_and_paged(handbook: Kb) -> None:
    assert handbook.json("list", "--type", "code")["total"] == 3
    assert handbook.json("list", "--tags", "ops,production")["total"] == 5
    whole = handbook.json("list", "--limit", "100")["documents"]
    assert len(whole) == 37
    page = handbook.json("list", "-n", "10", "--offset", "5")
    assert page["documents"] == whole[5:15]
    assert page["total"] == 37
    assert handbook.json("list", "--offset", "100")["documents"] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--limit", "0"), "limit cannot be 0 (from 1 to 10000)"),
        (("--limit", "many"), "limit cannot be 'many' (it must be a whole number)"),
        (("--offset", "-1"), "offset cannot be -1 (from 0"),
        (("--type", "poem"), "unknown type 'poem'"),
        (("--limit",), "--limit needs a value"),
        (("--json=yes",), "--json takes no value"),
        (("more",), "kb list takes no 'more'"),
    ],
)
def test_a_bad_value_names_the_field_and_what_is_allowed(
    handbook: Kb, arguments: tuple[str, ...], words: str
) -> None:
    """C5 C32"""
    assert words in handbook.error("list", *arguments, code=2)


def test_tags_are_counted_most_used_first(handbook: Kb) -> None:
    tags = handbook.json("tags")["tags"]
    counts = [tag["documents"] for tag in tags]
    assert counts == sorted(counts, reverse=True)
    assert {"tag": "production", "documents": 6} in tags
    lines = handbook("tags").out.splitlines()
    assert "     6  production" in lines
    assert lines[-1] == f"{len(tags)} tags"


def test_status_says_what_the_base_holds(handbook: Kb) -> None:
    status = handbook.json("status")
    assert status["documents"] == 40
    (source,) = status["sources"]
    assert (source["path"], source["tags"], source["parent"]) == ("handbook", [], None)
    assert not source["is_watched"]
    assert status["model"]["name"] == "granite-embedding-30m-english"
    assert status["model"]["dimensions"] == 384
    assert status["size_bytes"] >= handbook.base.stat().st_size
    out = handbook("status").out
    assert "documents  40 (33 markdown, 3 code, 2 html, 2 text)" in out
    assert "source     handbook" in out


def test_an_empty_base_has_a_status_too(kb: Kb) -> None:
    status = kb.json("status")
    assert (status["documents"], status["model"]) == (0, None)
    assert "none used yet" in kb("status").out
    assert kb.json("search", "anything")["hits"] == []


def test_each_setting_says_where_it_comes_from(kb: Kb) -> None:
    kb.write(
        "kb.toml",
        "[search]\ndefault_top = 4\n\n[chunk]\nmin_overlap = 30\n\n[index]\nhidden = true\n",
    )
    config = kb.json("config", env={"KB_CHUNK_MIN_OVERLAP": "20"})
    found = {line["key"]: (line["value"], line["origin"]) for line in config["settings"]}
    assert found["search.default_top"] == (4, "kb.toml")
    assert found["chunk.min_overlap"] == (20, "KB_CHUNK_MIN_OVERLAP")
    assert found["index.hidden"] == (True, "kb.toml")
    assert found["chunk.max_tokens"] == (512, "default")
    assert config["base"] == str(kb.base)
    assert all(line["about"] for line in config["settings"])
    assert re.search(r"^search\.default_top +4 +kb\.toml", kb("config").out, re.M)


def test_config_shows_one_setting_or_a_section(kb: Kb) -> None:
    def shown(*key: str) -> list[str]:
        return [one["key"] for one in kb.json("config", *key)["settings"]]

    assert shown("search.default_top") == ["search.default_top"]
    assert shown("search") == [one for one in shown() if one.startswith("search.")]
    assert len(shown("search")) > 1
    assert "search.default_top" in kb.error("config", "search.defaulttop", code=2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[search]\ndefault_tpo = 5\n", "'search.default_tpo' (the nearest is search.default_top)"),
        ("[serach]\ndefault_top = 5\n", "the nearest is search.default_top"),
        ("[search]\ndefault_top = -1\n", "search.default_top cannot be -1 (from 0 to 1000)"),
        ("[search]\ndefault_top = 1001\n", "search.default_top cannot be 1001 (from 0 to 1000)"),
        ("[search]\ndefault_top = 2.5\n", "cannot be 2.5 (it must be a whole number)"),
        ("[profiles.kb]\nunit = 'page'\n", "profiles.kb.unit cannot be 'page' (one of chunk"),
        ("[index]\nhidden = 'maybe'\n", "it must be true or false"),
        ("[chunk]\noverlap = 'half'\n", "it must be a number"),
        ("[search\n", "kb.toml: "),
        ("top = 5\n", "unknown setting 'top'"),
    ],
)
def test_a_mistake_in_the_settings_file_is_named(kb: Kb, text: str, words: str) -> None:
    kb.write("kb.toml", text)
    line = kb.error("list", code=2)
    assert "kb.toml: " in line
    assert words in line


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("KB_SEARCH_DEFAULT_TPO", "5", "the nearest is search.default_top"),
        ("KB_SEARCH_DEFAULT_TOP", "five", "it must be a whole number"),
        ("KB_SEARCH_DEFAULT_TOP", "-1", "from 0 to 1000"),
        ("KB_STORE_BUSY_TIMEOUT", "601", "from 0 to 600"),
    ],
)
def test_a_mistake_in_a_variable_is_named(kb: Kb, variable: str, value: str, words: str) -> None:
    line = kb.error("list", code=2, env={variable: value})
    assert f"{variable}: " in line
    assert words in line


def test_not_a_number_is_no_setting(kb: Kb) -> None:
    kb.error("list", code=2, env={"KB_STORE_BUSY_TIMEOUT": "nan"})


def test_a_key_without_a_section_is_named_as_it_is_written(kb: Kb) -> None:
    kb.write("kb.toml", "top = 5\n")
    assert kb.json("list", code=2)["error"]["field"] == "top"


def test_profiles_are_listed_and_one_is_shown_by_its_name(kb: Kb) -> None:
    listed = kb.json("profiles")["profiles"]
    assert {"best", "memory"} <= {line["name"] for line in listed}
    assert [line["fields"] for line in listed] == [[]] * len(listed)
    (shown,) = kb.json("profiles", "show", "memory")["profiles"]
    assert shown["name"] == "memory"
    assert {"field", "value", "origin", "about"} == set(shown["fields"][0])
    for words in (("profiles", "memory"), ("profiles", "--json", "show", "memory")):
        assert kb.json(*words)["profiles"] == [shown]
    assert kb.json("profiles", "show")["profiles"] == listed
    assert "'nobody'" in kb.error("profiles", "show", "nobody", code=2)


def test_every_command_prints_one_json_object(tmp_path: Path) -> None:
    kb = Kb(tmp_path)
    kb.write("docs/a.md", "# A\n\nalpha\n")
    assert set(kb.json("init")) == {"base", "is_new", "profile", "cluster"}
    assert kb.json("add", "docs")["added"] == ["docs/a.md"]
    assert kb.json("note", "A note")["code"] == "KB-2"
    assert kb.json("search", "alpha")["returned"] == 2
    assert set(kb.json("get", "KB-1")) == {"document", "sections", "text", "current"}
    assert kb.json("list")["total"] == 2
    assert kb.json("tags") == {"tags": []}
    assert kb.json("rm", "--yes", "KB-2")["documents"][0]["code"] == "KB-2"
    assert kb.json("sync")["unchanged"] == 1
    assert kb.json("status")["documents"] == 1
    assert kb.json("config")["base"] == str(kb.base)


def test_text_of_any_script_is_plain_in_json(handbook: Kb) -> None:
    assert "東京オフィスの出張規程" in handbook("list", "--json", "--tags", "東京").out


def test_the_version_is_shown(tmp_path: Path) -> None:
    assert Kb(tmp_path)("--version").out == f"kb {knowbase.__version__}\n"


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), ("help",)])
def test_help_names_every_command_and_the_exit_codes(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    out = Kb(tmp_path)(*arguments).out
    for name in (*COMMANDS, "completion"):
        assert f"\n  {name} " in out
    assert "exit codes: 0 done" in out
    assert "kb init && kb add" in out


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_help_of_a_command_needs_no_base_and_shows_its_options(
    tmp_path: Path, command: str, flag: str
) -> None:
    out = Kb(tmp_path)(*command.split(), flag).out
    assert out.startswith(f"usage: kb {command} ")
    for option in ("--base BASE", "--json", "--quiet", "--debug", "-h, --help"):
        assert option in out


@pytest.mark.parametrize("command", [*COMMANDS, "completion"])
def test_the_help_of_a_command_has_examples(tmp_path: Path, command: str) -> None:
    out = Kb(tmp_path)(*command.split(), "--help").out
    assert f"  kb {command}" in out.partition("examples:\n")[2]


def test_the_help_of_search_shows_all_that_it_can(tmp_path: Path) -> None:
    out = Kb(tmp_path)("search", "--help").out
    for option in (
        "--tags TAG,TAG", "--type TYPE", "-n, --top N", "--threshold SCORE", "--fts-only",
        "--vec-only", "--include STATE", "--mode MODE", "--unit UNIT",
    ):  # fmt: skip
        assert option in out


@pytest.mark.parametrize("arguments", [("--json", "--help"), ("--debug", "completion", "bash")])
def test_common_options_may_stand_before_anything(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    Kb(tmp_path)(*arguments)


def completed(kb: Kb, *words: str) -> set[str]:
    """What bash offers for the last of the words."""
    script = (
        f'eval "$({sys.executable} -m knowbase.cli completion bash)"\n'
        f"COMP_WORDS=({' '.join(repr(word) for word in words)})\n"
        f"COMP_CWORD={len(words) - 1}\n_kb\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True, text=True, cwd=kb.folder, env=environment(), check=True,
    )  # fmt: skip
    assert done.stderr == ""
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_and_files(kb: Kb) -> None:
    kb.write("docs/a.md", "# A\n")
    assert completed(kb, "kb", "s") == {
        "saved", "search", "searches", "serve", "session", "sessions", "status", "supersede",
        "sync", "synonyms",
    }  # fmt: skip
    assert completed(kb, "kb", "") == {
        *(name.partition(" ")[0] for name in COMMANDS), "completion", "help",
    }  # fmt: skip
    assert completed(kb, "kb", "session", "s") == {"start", "show"}
    assert completed(kb, "kb", "search", "--t") == {
        "--tags", "--tags-match", "--type", "--tier", "--top", "--threshold",
    }  # fmt: skip
    assert completed(kb, "kb", "search", "--mode", "k") == {"keyword"}
    assert completed(kb, "kb", "mcp", "") == {"clients", "install"}
    assert completed(kb, "kb", "mcp", "install", "--client", "c") == {
        "claude-code", "cursor", "codex",
    }  # fmt: skip
    assert "--explain" not in completed(kb, "kb", "saved", "list", "--")
    assert "--explain" in completed(kb, "kb", "saved", "run", "--")
    assert completed(kb, "kb", "completion", "b") == {"bash"}
    assert completed(kb, "kb", "help", "qu") == {"query"}
    assert completed(kb, "kb", "help", "in-") == {"in-and-out"}
    assert completed(kb, "kb", "rm", "--d") == {"--dry-run", "--debug"}
    assert completed(kb, "kb", "add", "do") == {"docs"}


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_have_a_script_too(kb: Kb, shell: str) -> None:
    script = kb("completion", shell).out
    assert all(word in script for name in COMMANDS for word in name.split())
    assert "fts-only" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


@pytest.mark.parametrize("arguments", [(), ("powershell",)])
def test_an_unknown_shell_names_the_known_ones(kb: Kb, arguments: tuple[str, ...]) -> None:
    assert "bash, zsh, fish" in kb.error("completion", *arguments, code=2)
