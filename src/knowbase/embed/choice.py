"""Which model: what a person writes, what a base remembers, and the embedder that comes of it."""

import os
from collections.abc import Mapping
from typing import NamedTuple

from knowbase.config import Settings
from knowbase.embed import Embedder
from knowbase.errors import InvalidInput, ModelUnavailable
from knowbase.values.vectors import Model

PACKAGED = "granite"
STATIC = "wordllama"
PACKAGED_SOURCE = f'{{"kind": "{PACKAGED}"}}'  # what most bases remember, told without a parser
KINDS = ("onnx", "sentence-transformers", "service")
EXPECTED = (
    f"{PACKAGED} (packaged), {STATIC}, a folder with model.onnx,"
    " sentence-transformers:NAME or service:NAME"
)


class Choice(NamedTuple):
    """A model and how it is to be used; the fields after the name are as in the settings."""

    kind: str = PACKAGED
    name: str = ""  # a folder, or the name of a model
    pooling: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int = 0
    dimensions: int = 0

    @property
    def source(self) -> str:
        """As a base keeps it. No address and no key: those are the settings' and the user's."""
        if self == Choice():
            return PACKAGED_SOURCE
        import json

        said = {name: value for name, value in self._asdict().items() if value}
        return json.dumps(said, ensure_ascii=False)

    @property
    def shown(self) -> str:
        """As it is written after --model."""
        if self.kind == "onnx":
            return self.name
        return f"{self.kind}:{self.name}" if self.name else self.kind


def from_source(source: str) -> Choice:
    """What a base remembers; one without a word was made with the packaged model."""
    if source in ("", PACKAGED_SOURCE):
        return Choice()
    import json

    try:
        return Choice(**json.loads(source))
    except (ValueError, TypeError) as error:
        raise ModelUnavailable(
            "this knowbase does not know how to load the base's model",
            field="embed.model",
            hint="upgrade knowbase, or choose a model with kb embed --model",
        ) from error


def choice_of(text: str, settings: Settings, folder: str) -> Choice:
    """What `text` names; a relative path starts from `folder`."""
    kind, _, name = text.partition(":")
    if text in ("", PACKAGED):
        return Choice(PACKAGED)
    if text == STATIC:
        return Choice(STATIC)
    if kind not in KINDS or not name:
        kind, name = "onnx", text
    if kind == "onnx":
        name = os.path.normpath(os.path.join(folder, os.path.expanduser(name)))
        if not os.path.isdir(name):
            raise InvalidInput(f"there is no model {text!r}", field="embed.model", hint=EXPECTED)
    return Choice(
        kind,
        name,
        settings.embed_pooling,
        settings.embed_query_prefix,
        settings.embed_document_prefix,
        settings.embed_max_tokens,
        settings.embed_dimensions,
    )


def embedder_for(
    choice: Choice,
    settings: Settings,
    environment: Mapping[str, str],
    stored: Model | None = None,
) -> Embedder:
    """The embedder, with the user's cache before it; `stored` is the model that a base has
    vectors of, if there is one."""
    embedder = _bare(choice, settings, environment, stored)
    if not settings.embed_cache_mb or choice.kind == STATIC:
        return embedder
    from knowbase.embed.cache import FILE, Cache, Cached, folder

    path = os.path.join(folder(environment), FILE)
    return Cached(embedder, Cache(path, settings.embed_cache_mb << 20))


def _bare(
    choice: Choice, settings: Settings, environment: Mapping[str, str], stored: Model | None
) -> Embedder:
    threads, providers = settings.embed_threads, settings.embed_providers
    if choice.kind == PACKAGED:
        from knowbase.embed.granite import Granite, revision_for

        return Granite(threads, revision_for(stored), providers)
    if choice.kind == STATIC:
        from knowbase.embed.static import WordLlama

        return WordLlama()
    if choice.kind == "service":
        return _service(choice, settings, environment, stored.dimensions if stored else 0)
    from knowbase.embed.recipe import Recipe

    wanted = Recipe(
        choice.pooling, choice.query_prefix or None, choice.document_prefix or None,
        choice.max_tokens,
    )  # fmt: skip
    if choice.kind == "onnx":
        from knowbase.embed.onnx import OnnxFolder

        return OnnxFolder(choice.name, wanted, threads, providers)
    from knowbase.embed.sentence import SentenceTransformers

    return SentenceTransformers(choice.name, wanted, threads)


def _service(
    choice: Choice, settings: Settings, environment: Mapping[str, str], dimensions: int
) -> Embedder:
    from knowbase.embed.http import client_for
    from knowbase.embed.recipe import Recipe, by_name
    from knowbase.embed.service import Pace, Service, Wanted

    wanted = by_name(
        choice.name, Recipe("", choice.query_prefix or None, choice.document_prefix or None)
    )
    return Service(
        Wanted(
            choice.name, wanted.query_prefix or "", wanted.document_prefix or "",
            choice.max_tokens, choice.dimensions,
        ),
        lambda: client_for(settings.embed_url, environment),
        Pace(
            settings.embed_batch, settings.embed_concurrency, settings.embed_timeout,
            settings.embed_query_timeout,
        ),
        dimensions,
    )  # fmt: skip
