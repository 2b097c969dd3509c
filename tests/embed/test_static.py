"""Static vectors of wordllama, where it is installed (the extra `static`)."""

from importlib.util import find_spec
from pathlib import Path

import pytest

from knowbase.embed.static import NAME, TENSOR, TOKENIZER, WEIGHTS, WordLlama, package_folder
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import unpack

INSTALLED = find_spec("wordllama") is not None


@pytest.mark.skipif(INSTALLED, reason="wordllama is installed")
def test_a_missing_package_is_said_with_what_to_install() -> None:
    with pytest.raises(ModelUnavailable, match="need the package wordllama") as refusal:
        WordLlama().embed_query("x")
    assert "knowbase[static]" in str(refusal.value.hint)


@pytest.fixture(scope="module")
def static() -> WordLlama:
    if not INSTALLED:
        pytest.skip("wordllama is not installed")
    return WordLlama()


def test_vectors_are_those_of_the_library(static: WordLlama) -> None:
    """S3-23"""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer
    from wordllama.inference import WordLlamaInference

    files = Path(str(package_folder()))
    library = WordLlamaInference(
        load_file(files / WEIGHTS)[TENSOR], Tokenizer.from_file(str(files / TOKENIZER))
    )
    texts = ["Deploys freeze on Fridays", "東京 🦊", "word " * 900, "x"]
    expected = library.embed(texts, norm=True)
    for vector, row in zip(static.embed_documents(texts), expected, strict=True):
        assert unpack(vector) == pytest.approx(list(map(float, row)), abs=1e-5)
    assert (static.model.name, static.model.dimensions) == (NAME, 256)


def test_meaning_is_near_meaning(static: WordLlama) -> None:
    def cosine(one: bytes, other: bytes) -> float:
        return sum(a * b for a, b in zip(unpack(one), unpack(other), strict=True))

    query = static.embed_query("set up version control")
    [git, coffee] = static.embed_documents(
        ["Install git and configure it", "The coffee machine is descaled on Mondays"]
    )
    assert cosine(query, git) > cosine(query, coffee) + 0.1


def test_an_empty_text_and_a_very_long_one_are_embedded(static: WordLlama) -> None:
    for text in ("", " ", "\x00", "word " * 100_000):
        assert sum(number * number for number in unpack(static.embed_query(text))) == (
            pytest.approx(1.0, abs=1e-5)
        )


def test_token_spans_lie_in_the_text(static: WordLlama) -> None:
    text = "Deploys freeze on Fridays"
    spans = static.token_spans(text)
    assert spans[0][0] == 0
    assert max(end for _, end in spans) == len(text)
