"""Seals are of what values say: however they are computed, those that are stored still fit."""

from hashlib import blake2b

from hypothesis import given
from hypothesis import strategies as st

from knowbase.store.seals import SIZE, canonical, seals_of
from knowbase.values.copies import ChunkCopy, Copy
from knowbase.values.documents import Chunk, Document
from knowbase.values.vectors import Model

TEXT = st.text(st.characters() | st.sampled_from("'\"\\%\0\n\ud800"), max_size=40)
COUNT = st.integers(0, 2**40)
CHUNKS = st.builds(
    Chunk,
    *(TEXT, COUNT, st.none() | TEXT, TEXT, TEXT),
    *(COUNT, COUNT, st.none() | COUNT, COUNT, TEXT),
)
VECTORS = st.just(((Model("test", "1", 1), b"\0\0\x80\x3f"),)) | st.just(())
DOCUMENT = Document(**dict.fromkeys(Document._fields))  # type: ignore[arg-type]


@given(st.lists(st.builds(ChunkCopy, COUNT, COUNT, CHUNKS, TEXT, TEXT, VECTORS), max_size=3))
def test_the_seal_of_a_text_is_of_its_chunks_without_their_vectors(chunks: list[ChunkCopy]) -> None:
    whole = b"".join(canonical(one._replace(vectors=())) for one in chunks)
    copy = Copy(DOCUMENT, {}, (), (), tuple(chunks))
    assert seals_of(copy).text == blake2b(whole, digest_size=SIZE).digest()


def test_a_seal_that_was_written_before_still_fits() -> None:
    chunk = Chunk("a", 0, "Head", "## Head\n", 'it\'s 5 % \\ "all"', 0, 1, None, 4, "00")
    copy = Copy(DOCUMENT, {}, (), (), (ChunkCopy(7, 0, chunk, "Title", "terms", ()),))
    assert (seals_of(copy).text or b"").hex() == "823026df04fe1b64"
