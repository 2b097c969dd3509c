"""Models in folders of their own: real files, real inference."""

import json
import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

import knowbase_granite
from conftest import FIXTURES, Kb
from knowbase import deadline
from knowbase.embed.granite import Granite
from knowbase.embed.onnx import OnnxFolder
from knowbase.embed.recipe import Recipe
from knowbase.errors import BadVector, ModelUnavailable, TookTooLong
from knowbase.values.vectors import normalize_embedding, unpack

# What each word's vector is, see fixtures/models/make.py.
CLS, SEP = (0, 0, 0, 1), (0, 0, 0, 2)
ALPHA, BETA = (1, 0, 0, 0), (0, 1, 0, 0)
QUERY, PASSAGE = (0, 0, 1, 0), (0, 0, -1, 0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that gives a vector a token, to be furnished."""
    return copied("states", tmp_path / "some-model")


def copied(name: str, target: Path) -> Path:
    shutil.copytree(FIXTURES / "models" / name, target)
    return target


def write(folder: Path, name: str, content: object) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(content))


def mean(*rows: tuple[int, ...]) -> list[float]:
    return normalize_embedding([math.fsum(column) for column in zip(*rows, strict=True)])


def query(embedder: OnnxFolder, text: str) -> list[float]:
    return unpack(embedder.embed_query(text))


def document(embedder: OnnxFolder, text: str) -> list[float]:
    return unpack(next(embedder.embed_documents([text])))


def about(numbers: list[float] | tuple[int, ...]) -> object:
    return pytest.approx(list(numbers), abs=1e-6)


def test_tokens_are_averaged_markers_included_and_padding_left_out(folder: Path) -> None:
    embedder = OnnxFolder(str(folder))
    expected = mean(CLS, ALPHA, BETA, SEP)
    assert query(embedder, "alpha beta") == about(expected)
    texts = ["alpha", "alpha beta", "beta " * 40, "alpha beta"]
    found = [unpack(vector) for vector in embedder.embed_documents(texts)]
    assert found[1] == found[3] == about(expected)
    assert found[0] == about(mean(CLS, ALPHA, SEP))
    assert found[2] == about(mean(CLS, *[BETA] * 40, SEP))


def test_what_computes_is_chosen_and_what_is_not_here_refused(folder: Path, handbook: Kb) -> None:
    usual = query(OnnxFolder(str(folder)), "alpha beta")
    for name in ("cpu", "CPUExecutionProvider"):
        assert query(OnnxFolder(str(folder), providers=(name,)), "alpha beta") == usual
    env = {"KB_EMBED_PROVIDERS": "cuda9,cpu", "KB_EMBED_CACHE_MB": "0"}
    said = handbook.error("search", "deploy", "--vec-only", code=5, env=env)
    assert "'cuda9'" in said
    assert "cpu" in said


def test_what_nobody_waits_for_is_not_embedded(folder: Path) -> None:
    for embedder in (OnnxFolder(str(folder)), Granite()):
        with deadline.within(0), pytest.raises(TookTooLong):
            list(embedder.embed_documents(["one", "two"]))


def test_the_folder_says_how_tokens_become_one_vector(folder: Path) -> None:
    """S3-23"""
    write(folder, "1_Pooling/config.json", {"pooling_mode_cls_token": True})
    assert query(OnnxFolder(str(folder)), "alpha") == about(CLS)
    write(folder, "1_Pooling/config.json", {"pooling_mode": "lasttoken"})
    assert query(OnnxFolder(str(folder)), "alpha") == about(mean(SEP))
    set_by_hand = OnnxFolder(str(folder), Recipe("mean"))
    assert query(set_by_hand, "alpha") == about(mean(CLS, ALPHA, SEP))


def test_an_unknown_pooling_is_refused_and_can_be_set(folder: Path) -> None:
    write(folder, "1_Pooling/config.json", {"pooling_mode_max_tokens": True})
    with pytest.raises(ModelUnavailable, match="pooling_mode_max_tokens") as refusal:
        OnnxFolder(str(folder))
    assert "embed.pooling" in str(refusal.value.hint)
    OnnxFolder(str(folder), Recipe("cls"))


def test_a_model_that_pools_by_itself_is_taken_at_its_word(tmp_path: Path) -> None:
    embedder = OnnxFolder(str(copied("pooled", tmp_path / "pooled")), Recipe("cls"))
    assert query(embedder, "alpha") == about(mean(CLS, ALPHA, SEP))


def test_prefixes_come_from_the_folder(folder: Path) -> None:
    """S3-23"""
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    write(folder, "config_sentence_transformers.json", prompts)
    embedder = OnnxFolder(str(folder))
    assert query(embedder, "alpha") == about(mean(CLS, QUERY, ALPHA, SEP))
    assert document(embedder, "alpha") == about(mean(CLS, PASSAGE, ALPHA, SEP))
    without = OnnxFolder(str(folder), Recipe(query_prefix="none", document_prefix="beta "))
    assert query(without, "alpha") == about(mean(CLS, ALPHA, SEP))
    assert document(without, "alpha") == about(mean(CLS, BETA, ALPHA, SEP))


@pytest.mark.parametrize("name", ["multilingual-e5-small", "e5-base-v2"])
def test_prefixes_are_known_of_models_whose_folder_says_nothing(tmp_path: Path, name: str) -> None:
    """S3-23"""
    embedder = OnnxFolder(str(copied("states", tmp_path / name)))
    assert query(embedder, "alpha") == about(mean(CLS, QUERY, ALPHA, SEP))
    assert document(embedder, "alpha") == about(mean(CLS, PASSAGE, ALPHA, SEP))


@pytest.mark.parametrize(
    ("name", "pooling", "before_query", "before_document"),
    [
        ("nomic-embed-text-v1.5", "mean", "search_query: ", "search_document: "),
        ("bge-small-en-v1.5", "cls", "Represent this sentence for searching", ""),
        ("bge-m3", "cls", "", ""),
        ("gte-small", "mean", "", ""),
        ("gte-base-en-v1.5", "cls", "", ""),
        ("snowflake-arctic-embed-m-v2.0", "cls", "query: ", ""),
        ("all-MiniLM-L6-v2", "mean", "", ""),
    ],
)
def test_known_models_are_used_as_they_are_meant_to(
    tmp_path: Path, name: str, pooling: str, before_query: str, before_document: str
) -> None:
    """S3-23"""
    from knowbase.embed.recipe import recipe_of

    recipe = recipe_of(str(tmp_path), name, Recipe())
    assert recipe.pooling == pooling
    assert (recipe.query_prefix or "")[: len(before_query) or None] == before_query
    assert recipe.document_prefix == before_document


def test_a_text_is_cut_at_the_models_limit_markers_kept(folder: Path) -> None:
    write(folder, "sentence_bert_config.json", {"max_seq_length": 5})
    write(folder, "tokenizer_config.json", {"model_max_length": 10**30})
    write(folder, "config.json", {"max_position_embeddings": 512})
    embedder = OnnxFolder(str(folder))
    assert embedder.max_tokens == 5
    assert query(embedder, "alpha alpha alpha beta beta") == about(mean(CLS, *[ALPHA] * 3, SEP))
    assert OnnxFolder(str(folder), Recipe(max_tokens=9)).max_tokens == 9
    assert len(embedder.token_spans("alpha " * 30)) == 30


def test_a_document_prefix_takes_its_part_of_the_limit(folder: Path) -> None:
    embedder = OnnxFolder(str(folder), Recipe(document_prefix="passage: ", max_tokens=5))
    assert embedder.max_tokens == 4
    expected = about(mean(CLS, PASSAGE, ALPHA, ALPHA, SEP))
    assert document(embedder, "alpha alpha beta") == expected


def test_a_very_long_text_is_embedded(folder: Path) -> None:
    embedder = OnnxFolder(str(folder), Recipe(max_tokens=64))
    assert query(embedder, "alpha " * 2_000_000) == about(mean(CLS, *[ALPHA] * 62, SEP))


def test_an_empty_text_is_embedded(folder: Path) -> None:
    assert query(OnnxFolder(str(folder)), "") == about(mean(CLS, SEP))


def test_a_revision_follows_the_files_and_the_recipe(folder: Path) -> None:
    """C23: whatever changes the vectors makes another model."""
    first = OnnxFolder(str(folder)).model
    assert first == OnnxFolder(str(folder)).model
    assert (first.name, first.dimensions) == ("some-model", 4)
    prefixed = OnnxFolder(str(folder), Recipe(query_prefix="query: ")).model
    assert prefixed.revision != first.revision
    shutil.copy(FIXTURES / "models" / "pooled" / "model.onnx", folder / "model.onnx")
    assert OnnxFolder(str(folder)).model.revision not in (first.revision, prefixed.revision)


def test_a_vector_that_is_not_a_number_is_refused(folder: Path) -> None:
    with pytest.raises(BadVector, match="NaN"):
        list(OnnxFolder(str(folder)).embed_documents(["alpha", "alpha broken"]))


def test_what_is_missing_or_broken_is_named(tmp_path: Path) -> None:
    """C20"""
    with pytest.raises(ModelUnavailable, match="no model folder 'gone'"):
        OnnxFolder(str(tmp_path / "gone"))
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ModelUnavailable, match=r"has no model\.onnx"):
        OnnxFolder(str(empty))
    mute = copied("states", tmp_path / "mute")
    (mute / "tokenizer.json").unlink()
    with pytest.raises(ModelUnavailable, match=r"has no tokenizer\.json"):
        OnnxFolder(str(mute)).embed_query("x")
    (mute / "tokenizer.json").write_text("{")
    with pytest.raises(ModelUnavailable, match=r"tokenizer\.json that cannot be read"):
        OnnxFolder(str(mute)).embed_query("x")
    broken = copied("states", tmp_path / "broken")
    (broken / "model.onnx").write_bytes(b"not a model")
    with pytest.raises(ModelUnavailable, match="does not load"):
        OnnxFolder(str(broken)).embed_query("x")
    strange = copied("strange", tmp_path / "strange")
    with pytest.raises(ModelUnavailable, match="other inputs than a text's tokens: pixels"):
        OnnxFolder(str(strange)).embed_query("x")
    half = copied("states", tmp_path / "half")
    (half / "config.json").write_text("{")
    with pytest.raises(ModelUnavailable, match=r"config\.json of the model cannot be read"):
        OnnxFolder(str(half))
    dense = copied("states", tmp_path / "dense")
    write(dense, "modules.json", [{"type": "sentence_transformers.models.Dense"}])
    with pytest.raises(ModelUnavailable, match="Dense layer"):
        OnnxFolder(str(dense)).embed_query("x")


def test_files_may_lie_in_a_folder_called_onnx(tmp_path: Path) -> None:
    outer = tmp_path / "some-model"
    copied("states", outer / "onnx")
    shutil.move(outer / "onnx" / "tokenizer.json", outer / "tokenizer.json")
    assert query(OnnxFolder(str(outer)), "alpha") == about(mean(CLS, ALPHA, SEP))


def test_the_packaged_models_files_give_the_packaged_models_vectors(tmp_path: Path) -> None:
    """The real thing: a model without a mask is given texts of one length."""
    folder = tmp_path / "granite"
    folder.mkdir()
    for path in (knowbase_granite.MODEL, knowbase_granite.TOKENIZER):
        (folder / Path(path).name).symlink_to(path)
    texts = ["short", "the same text", "a much longer text " * 200, "the same text", ""]
    found = [unpack(vector) for vector in OnnxFolder(str(folder)).embed_documents(texts)]
    expected = [unpack(vector) for vector in Granite().embed_documents(texts)]
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, abs=1e-6)
    assert found[1] == found[3]


def test_a_model_that_quantises_by_batch_gets_one_text_at_a_time(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = b"\x0a\x01k\x12\x15DynamicQuantizeLinear"  # in the file's metadata
    with (folder / "model.onnx").open("ab") as file:
        file.write(b"\x72" + bytes([len(noted)]) + noted)
    run, sizes = OnnxFolder._run, []

    def counted(self: OnnxFolder, batch: Sequence[Sequence[int]]) -> list[bytes]:
        sizes.append(len(batch))
        return run(self, batch)

    monkeypatch.setattr(OnnxFolder, "_run", counted)
    assert len(list(OnnxFolder(str(folder)).embed_documents(["alpha", "beta"]))) == 2
    assert sizes == [1, 1]
