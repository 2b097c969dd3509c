"""How a model wants its texts: pooling, prefixes, length.

From what its folder says (the files of sentence-transformers), else from what is known of
models of its name; what the settings say comes before both.
"""

import json
import os
import re
from typing import Any, NamedTuple

from knowbase.config import POOLINGS
from knowbase.errors import ModelUnavailable

NO_PREFIX = "none"
USUAL_TOKENS = 512

_RETRIEVE = "Represent this sentence for searching relevant passages: "


class Recipe(NamedTuple):
    """What is done with a text before and after the model; part of the model's revision."""

    pooling: str = ""
    query_prefix: str | None = None
    document_prefix: str | None = None
    max_tokens: int = 0


_KNOWN: tuple[tuple[str, Recipe], ...] = (
    (r"nomic-embed", Recipe("mean", "search_query: ", "search_document: ")),
    (r"e5-.*instruct", Recipe()),  # wants a task description of your own: set embed.query_prefix
    (r"(^|-)e5-", Recipe("mean", "query: ", "passage: ")),
    (r"bge-.*-zh", Recipe("cls", "为这个句子生成表示以用于检索相关文章：", "")),
    (r"bge-m3", Recipe("cls", "", "")),
    (r"bge-", Recipe("cls", _RETRIEVE, "")),
    (r"arctic-embed-.*v2", Recipe("cls", "query: ", "")),
    (r"arctic-embed|mxbai-embed", Recipe("cls", _RETRIEVE, "")),
    (r"gte-.*v1\.5|granite-embedding", Recipe("cls", "", "")),
)
"""By a model's name, the first that fits. As the models' own pages say."""


def recipe_of(folder: str, name: str, wanted: Recipe) -> Recipe:
    """The recipe for the model in a folder."""
    known = _known(f"{name} {_json(folder, 'config.json').get('_name_or_path', '')}")
    stated = _stated(folder)
    pooling = wanted.pooling or stated.pooling or known.pooling or "mean"
    if pooling not in POOLINGS:
        raise ModelUnavailable(
            f"the model {name} wants the pooling {pooling!r}, which knowbase does not have",
            hint="one of " + ", ".join(POOLINGS[1:]) + " can be tried with embed.pooling",
        )
    return Recipe(
        pooling,
        _first(wanted.query_prefix, stated.query_prefix, known.query_prefix),
        _first(wanted.document_prefix, stated.document_prefix, known.document_prefix),
        wanted.max_tokens or stated.max_tokens or USUAL_TOKENS,
    )


def by_name(name: str, wanted: Recipe) -> Recipe:
    """The prefixes for a model of which nothing but its name is known."""
    known = _known(name)
    return wanted._replace(
        query_prefix=_first(wanted.query_prefix, known.query_prefix),
        document_prefix=_first(wanted.document_prefix, known.document_prefix),
    )


def _known(name: str) -> Recipe:
    lower = name.lower()
    return next((recipe for pattern, recipe in _KNOWN if re.search(pattern, lower)), Recipe())


def _first(*prefixes: str | None) -> str:
    """The first that is said; "none" is how the settings say that there is none."""
    said = next((prefix for prefix in prefixes if prefix is not None), "")
    return "" if said == NO_PREFIX else said


def _stated(folder: str) -> Recipe:
    """What the files of sentence-transformers say."""
    prompts = _json(folder, "config_sentence_transformers.json").get("prompts") or {}
    has_prompts = any(prompts.values())
    return Recipe(
        _pooling(_json(folder, "1_Pooling", "config.json")),
        prompts.get("query", "") if has_prompts else None,
        prompts.get("document", prompts.get("passage", "")) if has_prompts else None,
        _max_tokens(folder),
    )


def _pooling(config: dict[str, Any]) -> str:
    names = {
        "pooling_mode_mean_tokens": "mean",
        "pooling_mode_cls_token": "cls",
        "pooling_mode_lasttoken": "last",
    }
    chosen = [key for key, value in config.items() if key.startswith("pooling_mode_") and value]
    if len(chosen) > 1:
        return " + ".join(chosen)
    said = config.get("pooling_mode") or (names.get(chosen[0], chosen[0]) if chosen else "")
    return {"lasttoken": "last"}.get(said, said)


def _max_tokens(folder: str) -> int:
    """The smallest limit that is stated; a tokenizer without one says some huge number."""
    config = _json(folder, "config.json")
    positions = config.get("max_position_embeddings", 0)
    if config.get("model_type") in ("roberta", "xlm-roberta", "camembert"):
        positions -= 2  # they count from the padding's place
    stated = (
        _json(folder, "sentence_bert_config.json").get("max_seq_length"),
        _json(folder, "tokenizer_config.json").get("model_max_length"),
        positions,
    )
    return min((int(one) for one in stated if one and 0 < one < 10**6), default=0)


def has_dense_layer(folder: str) -> bool:
    """Whether sentence-transformers would send the pooled vector through another layer."""
    path = os.path.join(folder, "modules.json")
    if not os.path.exists(path):
        return False
    return any(str(one.get("type", "")).endswith(".Dense") for one in _read(path))


def _json(folder: str, *names: str) -> dict[str, Any]:
    path = os.path.join(folder, *names)
    found = _read(path) if os.path.exists(path) else {}
    return found if isinstance(found, dict) else {}


def _read(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError) as error:
        raise ModelUnavailable(
            f"{os.path.basename(path)} of the model cannot be read", hint="is the download whole?"
        ) from error
