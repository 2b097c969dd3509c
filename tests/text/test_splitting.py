"""S3-27: sections become chunks; nothing is lost, limits are kept, overlaps are exact."""

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from knowbase.embed.granite import Granite
from knowbase.text.splitting import Limits, embedding_text, measure_of, split
from knowbase.values.documents import Chunk
from knowbase.values.reading import Section
from stores import spans

SMALL = Limits(max_tokens=40, overlap=0.1, min_overlap=4)

words = st.text("ab.é漢 ", min_size=1, max_size=12)
separators = st.sampled_from((" ", "\n", "\n\n", ". ", "\n \n"))
prose = st.lists(st.tuples(words, separators), min_size=30, max_size=250).map(
    lambda pairs: "".join(word + separator for word, separator in pairs)
)


def chunks(text: str, limits: Limits = SMALL, heading: str | None = "Goals") -> list[Chunk]:
    section = Section("goals", heading, "## Goals\n", text, 10)
    return list(split(section, "Title", spans, limits))


@settings(max_examples=300, deadline=None)
@given(prose)
def test_the_pieces_without_their_overlaps_are_the_text(text: str) -> None:
    assert "".join(chunk.text[chunk.overlap :] for chunk in chunks(text)) == text


@settings(max_examples=300, deadline=None)
@given(prose)
def test_no_piece_is_longer_than_the_limit(text: str) -> None:
    for chunk in chunks(text):
        read = embedding_text(chunk, "Title", spans, SMALL)
        assert len(spans(read)) + SMALL.markers <= SMALL.max_tokens
        assert chunk.tokens <= SMALL.max_tokens


@settings(max_examples=300, deadline=None)
@given(prose)
def test_each_piece_repeats_a_tenth_of_the_one_before_and_no_less_than_the_least(
    text: str,
) -> None:
    pieces = chunks(text)
    for before, after in pairwise(pieces):
        repeated = after.text[: after.overlap]
        assert before.text.endswith(repeated)
        tokens = len(spans(before.text))
        wanted = max(SMALL.min_overlap, math.ceil(tokens * SMALL.overlap))
        assert wanted <= len(spans(repeated)) <= wanted + 1


@settings(max_examples=200, deadline=None)
@given(prose)
def test_each_piece_knows_its_line(text: str) -> None:
    at = 0
    for chunk in chunks(text):
        start = at - chunk.overlap
        assert chunk.line == 11 + text.count("\n", 0, start)
        at = start + len(chunk.text)


def test_a_short_section_is_one_chunk_however_short() -> None:
    [chunk] = chunks("one word")
    assert (chunk.text, chunk.chunk_index, chunk.overlap) == ("one word", 0, 0)
    [empty] = chunks("")
    assert empty.text == ""


def test_a_long_section_is_split_at_paragraphs() -> None:
    paragraph = " ".join(["word"] * 15) + "\n\n"
    pieces = chunks(paragraph * 5)
    assert len(pieces) > 1
    assert all(piece.text.endswith("\n\n") for piece in pieces)


def test_pieces_share_slug_and_heading_and_are_numbered() -> None:
    """S3-28"""
    pieces = chunks("word " * 100)
    assert {(piece.slug, piece.heading) for piece in pieces} == {("goals", "Goals")}
    assert [piece.chunk_index for piece in pieces] == list(range(len(pieces)))
    assert [piece.header for piece in pieces] == ["## Goals\n"] + [""] * (len(pieces) - 1)


def test_the_hash_is_of_what_is_embedded() -> None:
    """S3-29"""
    [one] = chunks("text")
    [same] = chunks("text")
    [other_heading] = chunks("text", heading="Other")
    assert one.hash == same.hash != other_heading.hash


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog. " * 300,
        "\n\n".join("A paragraph of some thirty words or so, to be repeated." for _ in range(200)),
        "naïve café 漢字かな交じり文 " * 400,
        "x" * 20_000,
        " " * 20_000 + "word",
        "def f(x):\n    return {x: [x]}\n\n\n" * 200,
        "🦊" * 3_000,
    ],
)
def test_the_real_tokenizer_agrees_with_the_limits(text: str) -> None:
    """S3-27, S3-28: 512 tokens as the model counts them, overlaps of at least 50; by letters in a
    language that it does not know."""
    limits, granite = Limits(), Granite()
    spans = measure_of(text, granite.token_spans)
    section = Section("s", "A heading", "", text, 1)
    pieces = list(split(section, "A title", granite.token_spans, limits))
    assert "".join(piece.text[piece.overlap :] for piece in pieces) == text
    for piece in pieces:
        read = embedding_text(piece, "A title", granite.token_spans, limits)
        assert len(spans(read)) + 2 <= 512
    for piece in pieces[1:]:
        assert len(spans(piece.text[: piece.overlap])) >= 49


def test_a_long_title_leaves_room_for_the_text() -> None:
    section = Section("s", "heading " * 300, "", "body text", 1)
    [chunk] = split(section, "title " * 300, spans, Limits())
    read = embedding_text(chunk, "title " * 300, spans, Limits())
    assert read.endswith("body text")
    assert len(spans(read)) <= 512 // 5 + 2
