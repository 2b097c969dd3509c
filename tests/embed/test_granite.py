"""The packaged model: real inference, no network."""

import math
import os
import random
from pathlib import Path

import pytest
from tokenizers import Tokenizer

import knowbase_granite
from knowbase import Base, Note, SearchRequest, create
from knowbase.embed import intact, tokens_in
from knowbase.embed.granite import Granite
from knowbase.embed.pieces import LONGEST, Pieces
from knowbase.embed.runtime import open_session
from knowbase.errors import ModelUnavailable
from knowbase.values.vectors import normalize_embedding, pack, unpack
from packaged import graph, merges


@pytest.fixture(scope="module")
def granite() -> Granite:
    return Granite()


def cosine(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(unpack(one), unpack(other), strict=True))


def test_meaning_is_near_meaning(granite: Granite) -> None:
    """S1-09"""
    query = granite.embed_query("how to set up version control")
    [git, coffee] = granite.embed_documents(
        ["Install git and configure your name", "The coffee machine is descaled on Mondays"]
    )
    assert cosine(query, git) > cosine(query, coffee) + 0.1


def test_vectors_have_unit_length_and_the_models_dimensions(granite: Granite) -> None:
    """S0-09"""
    numbers = unpack(granite.embed_query("anything"))
    assert len(numbers) == granite.model.dimensions == 384
    assert math.fsum(n * n for n in numbers) == pytest.approx(1.0, abs=1e-5)


def test_a_text_has_the_same_vector_alone_and_among_others(granite: Granite) -> None:
    """S1-06: query and documents through the same model, whatever they are embedded with."""
    alone = granite.embed_query("the same text")
    texts = ["short", "the same text", "a much longer text " * 60, "the same text"] * 30
    many = list(granite.embed_documents(texts))
    assert many[1] == many[3] == alone
    assert many[:4] == [granite.embed_query(text) for text in texts[:4]]
    assert many == many[:4] * 30


def test_a_base_of_an_earlier_export_works_and_is_offered_the_new_one(tmp_path: Path) -> None:
    """It is searched and grows as before; `kb embed` makes its vectors anew."""
    earlier = Granite(revision=knowbase_granite.EARLIER[0])
    path = create(str(tmp_path)).path
    with Base(path, embedder=earlier) as base:
        base.note(Note("The coffee machine is descaled on Mondays", code="C-1"))
    with Base(path) as base:
        assert base.status().model == earlier.model
        base.note(Note("Install git and configure your name", code="G-1"))
        answer = base.search(SearchRequest("set up version control", mode="semantic"))
        assert (answer.hits[0].code, answer.notices) == ("G-1", ())
        assert base.status().newer_model == Granite().model
        assert base.embed().embedded == 2
        assert base.status().newer_model is None
        assert base.status().model == Granite().model


def test_long_empty_and_strange_texts_are_embedded(granite: Granite) -> None:
    for text in ("", " ", "\x00", "🦊" * 2_000, "word " * 5_000):
        numbers = unpack(granite.embed_query(text))
        assert all(math.isfinite(n) for n in numbers)


def test_token_spans_cover_the_words(granite: Granite) -> None:
    text = "Deploys freeze on Fridays"
    spans = granite.token_spans(text)
    assert "".join(text[start:end] for start, end in spans).replace(" ", "") == text.replace(
        " ", ""
    )


def test_a_damaged_model_is_refused_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = tmp_path / "model.onnx"
    damaged.write_bytes(b"not a model")
    monkeypatch.setattr(knowbase_granite, "MODEL", str(damaged))
    monkeypatch.setitem(knowbase_granite.SHA256, str(damaged), "0" * 64)
    with pytest.raises(ModelUnavailable, match="checksum"):
        Granite().embed_query("x")


def test_a_missing_model_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowbase_granite, "MODEL", str(tmp_path / "gone.onnx"))
    with pytest.raises(ModelUnavailable, match="missing"):
        Granite().embed_query("x")


def test_what_is_made_from_the_models_files_is_made_from_these() -> None:
    for path, content in ((knowbase_granite.GRAPH, graph()), (knowbase_granite.MERGES, merges())):
        assert Path(path).read_bytes() == content, "python tests/packaged.py"


def test_the_mapped_model_gives_the_same_bits_as_the_whole_one() -> None:
    """Optimised or not, its weights mapped or copied: a vector stays what it was."""
    import numpy as np

    whole = open_session(knowbase_granite.MODEL, threads=1)
    mapped = open_session(knowbase_granite.GRAPH, threads=1, ready=True)
    for length in (3, 17, 128, 512):
        ids = np.random.default_rng(length).integers(4, 50_000, (2, length))
        [expected], [found] = (one.run(None, {"input_ids": ids}) for one in (whole, mapped))
        assert found.tobytes() == expected.tobytes()


def plain_texts() -> list[str]:
    """Each letter that can be cut up here, in its surroundings; and texts at random."""
    chance = random.Random(20)
    letters = [chr(number) for number in (*range(0x250), *range(0x2010, 0x2028))]
    letters += [*"‰€₿←→∑⌘─╬■☃✓❵"]
    around = ("{0}", " {0}", "a{0}", "{0}a", "1{0}2", "{0}{0}{0}", "a {0} b", "{0}'s", "  {0}\n")
    texts = [form.format(letter) for letter in letters for form in around]
    some = [*" '\n\tabest<>/12é", " the", "ing", "'ll", "getUser", "Straße"]
    for drawn in (letters, some):
        for _ in range(500):
            texts.append("".join(chance.choices(drawn, k=chance.randrange(40))))
    return texts


def test_a_short_text_is_cut_up_as_by_the_tokenizer() -> None:
    tokenizer = Tokenizer.from_file(knowbase_granite.TOKENIZER)
    pieces = Pieces(knowbase_granite.MERGES)
    assert list(knowbase_granite.MARKERS) == tokenizer.encode("").ids
    for text in plain_texts():
        found = pieces.ids(text)
        assert found in (None, tokenizer.encode(text, add_special_tokens=False).ids), text
    assert pieces.ids("Wie weit reicht das für <b>Käse</b>?") is not None
    for text in ("東京", "a <mask> b", "🦊", "x" * (LONGEST + 1)):
        assert pieces.ids(text) is None


def test_tokens_of_a_text_are_counted_as_the_tokenizer_counts_them(granite: Granite) -> None:
    pieces = Pieces(knowbase_granite.MERGES)
    counted = 0
    for text in (*plain_texts(), " ".join(plain_texts()), Path(__file__).read_text("utf-8")):
        places = granite._tokenizer.encode(text, add_special_tokens=False).offsets
        found = pieces.count(text)
        counted += found is not None
        assert found in (None, len(places)), text
        assert len(granite.token_spans(text)) == len(places)
        assert list(granite.token_spans(text)) == places
    assert counted > 1000
    assert pieces.count("x" * 1000) is None
    assert len(granite.token_spans("x" * 1000)) > 100


def test_a_short_query_has_the_vector_and_the_tokens_of_the_tokenizer(granite: Granite) -> None:
    query, other = "how do I roll back a failed deployment?", Granite()
    found = other.embed_query(query), tokens_in(query, other)
    assert "_tokenizer" not in vars(other), "it was not loaded"
    assert len(granite.token_spans(query)) == found[1]
    assert granite.embed_query(query) == found[0]


def test_the_models_files_are_looked_through_once_and_when_they_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, read = tmp_path / "model.onnx", []
    file.write_bytes(b"right")
    monkeypatch.setattr(intact, "_sha256", lambda path: read.append(path) or file.read_text())  # type: ignore[func-returns-value]
    environment = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
    for _ in range(3):
        intact.check({str(file): "right"}, environment)
    assert len(read) == 1
    times = file.stat()
    file.write_bytes(b"wrong")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    for _ in range(2):
        with pytest.raises(ModelUnavailable, match="checksum"):
            intact.check({str(file): "right"}, environment)
    (tmp_path / "cache" / "knowbase" / "intact").write_bytes(b"\xff nonsense")
    with pytest.raises(ModelUnavailable, match="checksum"):
        intact.check({str(file): "right"}, environment)


def test_normalising_leaves_a_vector_without_length_alone() -> None:
    """S0-09"""
    assert normalize_embedding([3.0, 4.0]) == pytest.approx([0.6, 0.8])
    assert normalize_embedding([1e-13, 0.0]) == [1e-13, 0.0]
    assert normalize_embedding([]) == []
    assert unpack(pack([0.5, -2.0])) == [0.5, -2.0]
