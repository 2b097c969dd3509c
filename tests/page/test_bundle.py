"""The built page: small, of this host alone, and what its sources make."""

import gzip
import re
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import pytest

from knowbase.http.page import bundle

WEB = Path(__file__).parents[2] / "web"
UI = Path(str(files("knowbase.http.page").joinpath("ui")))
MOST_SCRIPT, MOST_STYLE = 60_000, 12_000  # bytes, gzipped, without the graph


def packed(name: str) -> int:
    return len(gzip.compress(bundle.built()[name].content, 9, mtime=0))


def test_it_is_small() -> None:
    """Every script but the graph's own two: all other screens together."""
    names = list(bundle.built())
    graph = {one for one in names if one.startswith("layout-") or _is_graph(one)}
    scripts = [one for one in names if one.endswith(".js") and one not in graph]
    assert sum(map(packed, scripts)) <= MOST_SCRIPT
    assert sum(packed(one) for one in names if one.endswith(".css")) <= MOST_STYLE
    assert len(graph) == 2


def _is_graph(name: str) -> bool:
    return name.endswith(".js") and b"graphml" in bundle.built()[name].content


def test_it_asks_no_other_host() -> None:
    """Names of namespaces are no addresses that anybody asks."""
    known = {"www.w3.org", "graphml.graphdrawing.org"}
    for name, one in bundle.built().items():
        if name.endswith((".js", ".css")):
            found = set(re.findall(r"(?:https?:)?//([\w.-]+\.[a-z]{2,})", one.content.decode()))
            assert found <= known, name


def test_it_makes_no_html_of_text_and_has_nothing_inline() -> None:
    for source in WEB.glob("src/**/*.ts*"):
        text = source.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert word not in text, source
        assert "dangerously" not in text, source


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None or not (WEB / "node_modules" / "esbuild").is_dir():
        pytest.skip("needs Node and its packages: python3 dev.py page")
    return found


def test_it_is_what_its_sources_make(node: str, tmp_path: Path) -> None:
    subprocess.run([node, "build.mjs", str(tmp_path / "ui")], cwd=WEB, check=True, timeout=120)
    built = {one.name: one.read_bytes() for one in (tmp_path / "ui").iterdir()}
    kept = {one.name: one.read_bytes() for one in UI.iterdir()}
    assert built.keys() == kept.keys()
    assert [name for name in built if built[name] != kept[name]] == []


def test_its_types_are_the_api_s(node: str) -> None:
    import sys

    sys.path.insert(0, str(WEB))
    from api_types import TARGET, types

    assert TARGET.read_text("utf-8") == types()
    compiler = WEB / "node_modules" / "typescript" / "bin" / "tsc"
    done = subprocess.run(
        [node, str(compiler), "--noEmit"], cwd=WEB, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.stdout == ""
