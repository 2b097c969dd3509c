"""What a person reads of embedding models."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, counted, safe

if TYPE_CHECKING:
    from knowbase.embed.survey import Usable
    from knowbase.ingest.embedding import Embedding
    from knowbase.operations.models import ModelList
    from knowbase.values.vectors import Model


def _describe(model: "Model") -> str:
    return safe(f"{model.name} ({model.revision}, {model.dimensions} dimensions)")


def render_models(paint: Painter, result: "ModelList") -> Iterable[str]:
    for one in result.usable:
        yield f"{paint('cyan', safe(_short(one.model)))}: {safe(one.about)}"
        yield "  " + _usable(paint, one)
    for stored in result.base:
        use = "in use" if stored.active else "not in use"
        how_many = f"{stored.vectors} of {counted(result.chunks, 'chunk')}"
        yield f"in this base: {_describe(stored.model)}, {how_many}, {use}"


def _short(model: str) -> str:
    """A folder as its owner writes it."""
    home = os.path.expanduser("~")
    return "~" + model.removeprefix(home) if model.startswith(home + os.sep) else model


def _usable(paint: Painter, one: "Usable") -> str:
    if one.problem is not None:
        return paint("red", "not usable: ") + safe(
            one.problem + (f" ({one.hint})" if one.hint else "")
        )
    facts = [f"{one.dimensions} dimensions", f"reads {one.max_tokens} tokens"]
    if one.size_bytes is not None:
        facts.append(f"{one.size_bytes / 1e6:.0f} MB")
    if one.texts_per_second is not None:
        facts.append(f"{one.texts_per_second:,.0f} texts/s here")
    return " · ".join(facts)


def _longer(number: int) -> str:
    return "1 text is longer" if number == 1 else f"{number} texts are longer"


def render_embedding(paint: Painter, result: "Embedding") -> Iterable[str]:
    used = _describe(result.model)
    yield f"{counted(result.embedded, 'chunk')} embedded with {used}, {result.there} had one"
    if result.cut:
        yield (
            paint("red", "note: ") + f"{_longer(result.cut)} than the {result.max_tokens}"
            " tokens that this model reads: their ends are found by words only"
        )
    if result.interrupted:
        yield paint("red", "interrupted: ") + "what was embedded is stored; run it again"
    elif result.switched and result.previous is not None:
        yield f"searches use it from now on, no longer {_describe(result.previous)}"
    for model in result.dropped:
        yield f"dropped the vectors of {_describe(model)}"
    for warning in result.warnings:
        yield paint("red", "warning: ") + safe(warning)
