"""kb models, kb embed, kb add --defer, as their users run them."""

import shutil
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from children import PATIENCE, in_terminal, start, wait_until, without_styles

import services
from conftest import FIXTURES, Kb

KEY = "sk-a-secret-that-nobody-sees"
PAGES = 30


@pytest.fixture
def server() -> Iterator[services.Service]:
    with services.service() as running:
        yield running


@pytest.fixture
def tiny(kb: Kb) -> Path:
    """A model in a folder of its own, beside the base."""
    return Path(shutil.copytree(FIXTURES / "models" / "states", kb.folder / "models" / "tiny"))


@pytest.fixture
def served(kb: Kb, server: services.Service) -> Kb:
    """Pages in a base, and a service that takes one text at a time."""
    kb.write(
        "kb.toml",
        f"[embed]\nurl = '{server.url}'\nbatch = 1\nconcurrency = 1\ncache_mb = 0\n",
    )
    for number in range(PAGES):
        kb.write(f"docs/{number:03}.md", f"# Page {number}\n\nThe words of page {number}.\n")
    return kb


def vectors(kb: Kb) -> dict[str, int]:
    return {one["model"]["name"]: one["vectors"] for one in kb.json("status")["models"]}


def test_text_first_vectors_later(served: Kb, tiny: Path) -> None:
    """S3-24 C20"""
    out = served("add", "docs", "--defer").out
    assert f"0 chunks embedded, 0 reused, {PAGES} wait for kb embed" in out
    answer = served.json("search", "page 7")
    assert answer["semantic_coverage"] == 0.0
    assert (answer["search_modes_used"], answer["fallback_mode"]) == (["keyword"], True)
    assert "no text here has a vector yet" in answer["notices"][0]
    assert "vector yet" in served.error("search", "page 7", "--vec-only", code=5)
    assert "0 % has a vector (kb embed makes the rest)" in served("search", "page 7").out
    assert "has a vector" not in served("search", "page 7", "--fts-only").out
    out = served("embed", "--model", "models/tiny").out
    assert out.startswith(f"{PAGES} chunks embedded with tiny (")
    assert served.json("search", "page 7")["semantic_coverage"] == 1.0
    assert "has a vector" not in served("search", "page 7").out


def test_a_killed_change_of_model_goes_on_and_nothing_is_sent_twice(
    served: Kb, server: services.Service, tiny: Path
) -> None:
    """C23"""
    served("add", "docs", "--defer")
    served("embed", "--model", "models/tiny")
    many = [f"words number {n}" for n in range(80)]
    for number, text in enumerate(many):
        served.write(f"docs/more-{number:03}.md", f"# {text}\n")
    served("sync", "--defer")
    served("embed")
    server.always = services.slow(0.01)
    process = start(served, "embed", "--model", "service:other")
    try:
        wait_until(lambda: stored(served, 2) >= 64)
    finally:
        process.send_signal(signal.SIGKILL)
    process.communicate(timeout=PATIENCE)
    done = vectors(served)
    assert 64 <= done["other"] < PAGES + 80
    assert done["tiny"] == PAGES + 80
    answer = served.json("search", "page 7")
    assert (answer["fallback_mode"], answer["semantic_coverage"]) == (False, 1.0)
    server.asked.clear()
    result = served.json("embed", "--model", "service:other", "--drop-old")
    assert (result["embedded"], result["there"]) == (PAGES + 80 - done["other"], done["other"])
    assert result["switched"] is True
    assert [one["name"] for one in result["dropped"]] == ["tiny"]
    assert len(server.texts) <= PAGES + 80 - done["other"] + 1  # and the probe
    assert vectors(served) == {"other": PAGES + 80}


def stored(kb: Kb, model: int) -> int:
    """How many vectors the model has, read without knowbase."""
    with closing(sqlite3.connect(kb.base)) as connection:
        sql = "SELECT count(*) FROM embedded WHERE model = ?"
        return int(connection.execute(sql, (model,)).fetchone()[0])


def test_ctrl_c_keeps_what_is_done_and_says_so(served: Kb, server: services.Service) -> None:
    """C23"""
    served("add", "docs", "--defer")
    server.always = services.slow(0.05)
    process = start(served, "embed", "--model", "service:other")
    wait_until(lambda: len(server.asked) > 5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "interrupted: what was embedded is stored; run it again" in out
    assert err == ""
    assert 0 < vectors(served)["other"] < PAGES
    assert "model      other" in served("status").out
    assert served.json("embed")["there"] > 0


def test_a_change_shows_how_far_it_is_and_how_long_it_takes(
    served: Kb, server: services.Service
) -> None:
    served("add", "docs", "--defer")
    server.always = services.slow(0.02)
    shown = without_styles(in_terminal(served, "embed", "--model", "service:other").out)
    assert f"/{PAGES} chunks · " in shown
    assert " left" in shown


def test_models_are_listed_with_what_they_cost(served: Kb, tiny: Path) -> None:
    """S3-23"""
    served("add", "docs", "--defer")
    listed = served.json("models", "models")
    found = {one["model"]: one for one in listed["usable"]}
    granite = found["granite"]
    assert (granite["dimensions"], granite["max_tokens"]) == (384, 512)
    assert granite["size_bytes"] > 30_000_000
    assert granite["texts_per_second"] > 0
    assert found[str(tiny)]["dimensions"] == 4
    assert listed["base"] == []
    assert listed["chunks"] == PAGES
    served("embed", "--model", "models/tiny")
    out = served("models", "--quick").out
    assert "granite: packaged, no download\n  384 dimensions · reads 512 tokens · 33 MB" in out
    assert "in this base: tiny (" in out
    assert f", {PAGES} of {PAGES} chunks, in use" in out
    assert "texts/s" not in out


def test_a_model_that_cannot_be_used_is_listed_with_the_reason(served: Kb, tiny: Path) -> None:
    """C20"""
    (tiny / "tokenizer.json").unlink()
    [one] = [m for m in served.json("models", "models", "--quick")["usable"] if m["problem"]
             and "tiny" in m["model"]]  # fmt: skip
    assert one["problem"] == "the model folder 'tiny' has no tokenizer.json"
    assert "not usable: the model folder 'tiny' has no" in served("models", "models").out
    assert "no folder 'nowhere'" in served.error("models", "nowhere", code=2)


def test_mistakes_are_named(served: Kb, server: services.Service, tiny: Path) -> None:
    error = served.error("embed", "--model", "nowhere", code=2)
    assert "there is no model 'nowhere' (granite (packaged), wordllama" in error
    (tiny / "model.onnx").write_bytes(b"junk")
    assert "'tiny' does not load" in served.error("embed", "--model", "models/tiny", code=5)
    server.always = services.status(404, "no such model")
    error = served.error("embed", "--model", "service:x", code=5)
    assert "HTTP 404" in error
    debugged = served("embed", "--model", "service:x", "--debug", code=5).err
    assert "HTTP 404: no such model" in debugged
    served.write("kb.toml", "[embed]\npooling = 'max'\n")
    assert "embed.pooling cannot be 'max' (one of mean, cls, last)" in served.error("list", code=2)


def test_no_secret_is_shown_or_stored(served: Kb, server: services.Service) -> None:
    """C32"""
    env = {"KB_EMBED_KEY": KEY, "OPENAI_API_KEY": KEY + "2"}
    served("add", "docs", "--defer")
    shown = ""
    for command in (
        ("embed", "--model", "service:other"), ("config",), ("config", "--json"), ("status",),
        ("models", "--quick", "--json"), ("search", "page", "--debug"),
    ):  # fmt: skip
        shown += "".join(map(str, served(*command, env=env)))
    assert server.asked[-1].key == f"Bearer {KEY}"
    server.always = services.status(401, f"the key {KEY} is wrong")
    shown += "".join(map(str, served("search", "pages", env=env)))
    shown += "".join(map(str, served("search", "x", "--vec-only", "--debug", env=env, code=5)))
    assert "HTTP 401: the key … is wrong" in shown
    assert "a-secret" not in shown
    for path in served.folder.rglob("*"):
        assert not path.is_file() or b"a-secret" not in path.read_bytes(), path


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"[embed]\nkey = '{KEY}'\n", "a key is not a setting (put it into KB_EMBED_KEY)"),
        (f"[embed]\nurl = 'https://me:{KEY}@x.example/v1'\n", "embed.url cannot hold"),
        (f"[embed]\nurl = 'https://x.example/v1?key={KEY}'\n", "embed.url cannot hold"),
    ],
)
def test_a_secret_in_a_setting_is_refused_and_not_repeated(kb: Kb, text: str, words: str) -> None:
    """C32"""
    kb.write("kb.toml", text)
    error = kb.error("config", code=2)
    assert words in error
    assert "secret" not in error


def test_a_search_by_words_loads_nothing_of_models(served: Kb, tiny: Path) -> None:
    """S1-05: whatever model the base has."""
    import subprocess
    import sys

    from conftest import environment

    served("add", "docs", "--defer")
    served("embed", "--model", "models/tiny")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "knowbase.cli", "search", "page", "--fts-only"],
        capture_output=True,
        text=True,
        cwd=served.folder,
        env=environment(),
        check=True,
    )
    for name in ("numpy", "onnxruntime", "tokenizers", "knowbase.embed", "urllib.request", "http"):
        assert f" {name}\n" not in done.stderr, name
