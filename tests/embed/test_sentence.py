"""Models of sentence-transformers: real ones, small and untrained. Where it is not installed,
only that is tested."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from knowbase.embed.recipe import Recipe
from knowbase.embed.sentence import SentenceTransformers
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import unpack

INSTALLED = find_spec("sentence_transformers") is not None
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "alpha", "beta", "query", "passage", ":")


@pytest.mark.skipif(INSTALLED, reason="sentence-transformers is installed")
def test_a_missing_library_is_said_with_what_to_install() -> None:
    with pytest.raises(ModelUnavailable, match="not installed") as refusal:
        SentenceTransformers("all-MiniLM-L6-v2", Recipe()).embed_query("x")
    assert "pip install" in str(refusal.value.hint)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of two layers with whatever weights it starts with, and prompts."""
    pytest.importorskip("sentence_transformers")
    import torch
    from sentence_transformers import SentenceTransformer, models
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(1)
    place = tmp_path_factory.mktemp("st")
    (place / "vocab.txt").write_text("\n".join(WORDS))
    tokenizer = BertTokenizerFast(str(place / "vocab.txt"))
    config = BertConfig(
        vocab_size=len(WORDS), hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=64,
    )  # fmt: skip
    BertModel(config).save_pretrained(place / "bert")
    tokenizer.save_pretrained(place / "bert")
    word = models.Transformer(str(place / "bert"), max_seq_length=32)
    made = SentenceTransformer(
        modules=[word, models.Pooling(word.get_word_embedding_dimension())],
        prompts={"query": "query: ", "document": "passage: "},
    )
    made.save(str(place / "tiny-bert"))
    return place / "tiny-bert"


def cosine(one: list[float], other: Any) -> float:
    return float(sum(a * b for a, b in zip(one, other, strict=True)))


def test_vectors_are_those_of_the_library_prompts_included(folder: Path) -> None:
    """S3-23"""
    from sentence_transformers import SentenceTransformer

    made = SentenceTransformers(str(folder), Recipe())
    library = SentenceTransformer(str(folder))
    assert (made.model.name, made.model.dimensions, made.max_tokens) == ("tiny-bert", 16, 32)
    texts = ["alpha", "beta beta alpha"]
    expected = library.encode(["passage: " + text for text in texts], normalize_embeddings=True)
    for vector, other in zip(made.embed_documents(texts), expected, strict=True):
        assert cosine(unpack(vector), other) == pytest.approx(1.0, abs=1e-5)
    query = library.encode("query: alpha", normalize_embeddings=True)
    assert cosine(unpack(made.embed_query("alpha")), query) == pytest.approx(1.0, abs=1e-5)
    bare = SentenceTransformers(str(folder), Recipe(query_prefix="none"))
    plain = library.encode("alpha", normalize_embeddings=True)
    assert cosine(unpack(bare.embed_query("alpha")), plain) == pytest.approx(1.0, abs=1e-5)
    assert bare.model.revision != made.model.revision
    assert made.model == SentenceTransformers(str(folder), Recipe()).model


def test_tokens_are_the_models_own(folder: Path) -> None:
    made = SentenceTransformers(str(folder), Recipe(max_tokens=16))
    assert made.token_spans("alpha beta") == [(0, 5), (6, 10)]
    assert len(made.token_spans("alpha " * 100)) == 100
    assert made.max_tokens == 16


def test_a_name_that_was_never_downloaded_is_refused(folder: Path) -> None:
    """S3-23: no call leaves the machine."""
    with pytest.raises(ModelUnavailable, match="does not load"):
        SentenceTransformers("nobody/never-downloaded", Recipe()).embed_query("x")
