"""A LlamaIndex retriever: pip install 'knowbase[llamaindex]'.

>>> from knowbase.retrievers.llamaindex import KnowbaseRetriever
>>> retriever = KnowbaseRetriever(knowbase.open(), top=5, path="docs/")
>>> retriever.retrieve("how do I renew a certificate")
"""

import asyncio
from typing import TYPE_CHECKING

from knowbase.errors import InvalidInput, ToolMissing
from knowbase.retrievers import Searched, found

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError:
    raise ToolMissing(
        "the LlamaIndex retriever needs llama-index-core",
        hint="pip install 'knowbase[llamaindex]'",
    ) from None

if TYPE_CHECKING:
    from typing import Unpack

    from knowbase.base.keywords import SearchKeywords


class KnowbaseRetriever(BaseRetriever):
    """Finds in a base, or through a client of a server; takes the keywords of `base.search`."""

    def __init__(self, base: Searched, **keywords: "Unpack[SearchKeywords]") -> None:
        if not callable(getattr(base, "search", None)):
            raise InvalidInput("base cannot be this", field="base", hint="a Base or a Client")
        self._base = base
        self._keywords = keywords
        super().__init__()

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        hits = found(self._base, query_bundle.query_str, self._keywords)
        return [
            NodeWithScore(
                node=TextNode(
                    id_=one.id,
                    text=one.text,
                    metadata=one.metadata,
                    excluded_llm_metadata_keys=["id", "section", "created_at"],
                ),
                score=one.hit.score,
            )
            for one in hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)
