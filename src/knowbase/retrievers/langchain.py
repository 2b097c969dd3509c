"""A LangChain retriever: pip install 'knowbase[langchain]'.

>>> from knowbase.retrievers.langchain import KnowbaseRetriever
>>> retriever = KnowbaseRetriever(base=knowbase.open(), top=5, keywords={"path": "docs/"})
>>> retriever.invoke("how do I renew a certificate")
"""

from typing import Any

from knowbase.errors import InvalidInput, ToolMissing
from knowbase.retrievers import Found, found

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError:
    raise ToolMissing(
        "the LangChain retriever needs langchain-core", hint="pip install 'knowbase[langchain]'"
    ) from None


class KnowbaseRetriever(BaseRetriever):
    """Finds in a base, or through a client of a server. `keywords` are those of `base.search`."""

    base: Any
    top: int = 4
    keywords: dict[str, Any] = {}  # noqa: RUF012 - a field, copied for each retriever

    def model_post_init(self, context: Any, /) -> None:
        super().model_post_init(context)
        if not callable(getattr(self.base, "search", None)):
            raise InvalidInput("base cannot be this", field="base", hint="a Base or a Client")

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002 - the interface's
    ) -> list[Document]:
        hits = found(self.base, query, {"top": self.top, **self.keywords})
        return [_document(one) for one in hits]


def _document(one: Found) -> Document:
    metadata = {**one.metadata, "line": one.hit.line, "score": one.hit.score}
    return Document(one.text, id=one.id, metadata=metadata)
