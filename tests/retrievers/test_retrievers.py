"""Retrievers of frameworks, with the frameworks themselves."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import knowbase
from knowbase import Base, Note
from knowbase.errors import InvalidInput

LANGCHAIN = "langchain-core is not installed: pip install 'knowbase[langchain]'"
LLAMAINDEX = "llama-index-core is not installed: pip install 'knowbase[llamaindex]'"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Base]:
    folder = tmp_path_factory.mktemp("retrievers")
    (folder / "docs").mkdir()
    (folder / "docs" / "otters.md").write_text("# Otters\n\nOtters hold hands as they sleep.\n")
    with knowbase.create(folder) as base:
        base.add(folder / "docs")
        base.note(Note("Beavers build dams of wood", tags=["wood"], code="B-1"))
        base.note(Note("A column that is NOT NULL has a value", code="N-1"))
        yield base


def test_a_langchain_retriever_finds_documents_with_their_sources(base: Base) -> None:
    pytest.importorskip("langchain_core", reason=LANGCHAIN)
    from langchain_core.documents import Document
    from langchain_core.runnables import RunnableLambda

    from knowbase.retrievers.langchain import KnowbaseRetriever

    retriever = KnowbaseRetriever(base=base, top=1)
    [found] = retriever.invoke("how do otters sleep")
    assert found.page_content == "# Otters\n\nOtters hold hands as they sleep.\n"
    assert found.metadata["source"] == "docs/otters.md"
    assert (found.metadata["heading"], found.metadata["line"]) == (None, 3)
    [again] = asyncio.run(retriever.ainvoke("how do otters sleep"))
    assert again == found

    def codes(found: list[Document]) -> list[str]:
        return [one.metadata["code"] for one in found]

    chain = retriever | RunnableLambda(codes)
    assert chain.invoke("NOT NULL column") == ["N-1"]
    wood = KnowbaseRetriever(base=base, keywords={"tags": ["wood"]})
    assert [one.metadata["code"] for one in wood.invoke("otters")] == ["B-1"]
    with pytest.raises(InvalidInput, match="tags takes a list"):
        KnowbaseRetriever(base=base, keywords={"tags": "wood"}).invoke("otters")
    with pytest.raises(InvalidInput, match="base cannot be"):
        KnowbaseRetriever(base=5)


def test_a_llamaindex_retriever_finds_nodes_with_their_scores(base: Base) -> None:
    pytest.importorskip("llama_index.core", reason=LLAMAINDEX)
    from llama_index.core.schema import QueryBundle

    from knowbase.retrievers.llamaindex import KnowbaseRetriever

    retriever = KnowbaseRetriever(base, top=1, path="docs/")
    [found] = retriever.retrieve("how do otters sleep")
    assert found.text == "# Otters\n\nOtters hold hands as they sleep.\n"
    assert found.metadata["path"] == "docs/otters.md"
    [hit] = base.search("how do otters sleep", top=1, path="docs/").hits
    assert found.score == pytest.approx(hit.score)
    [again] = asyncio.run(retriever.aretrieve(QueryBundle("do otters hold hands")))
    # So that several questions can be fused, a node is the same whatever was asked.
    assert (again.node.node_id, again.node.hash) == (found.node.node_id, found.node.hash)
    [null] = KnowbaseRetriever(base, top=1).retrieve("NOT NULL column")
    assert null.metadata["code"] == "N-1"
    with pytest.raises(InvalidInput, match="base cannot be"):
        KnowbaseRetriever(5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("module", "package"), [("langchain", "langchain_core"), ("llamaindex", "llama_index")]
)
def test_without_the_framework_the_extra_is_named(
    tmp_path: Path, module: str, package: str
) -> None:
    (tmp_path / f"{package}.py").write_text("raise ImportError\n")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from knowbase.errors import ToolMissing\n"
        f"try:\n    import knowbase.retrievers.{module}\n"
        "except ToolMissing as error:\n    print(error.hint)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == f"pip install 'knowbase[{module}]'\n"
