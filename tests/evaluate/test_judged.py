"""Reading judged sets: whatever is wrong is said with its place."""

from pathlib import Path

import pytest

from knowbase.errors import InvalidInput
from knowbase.evaluate.judged import Without, read_folders, read_questions


def judged(folder: Path, qrels: str = "query-id\tcorpus-id\tscore\n1\ta\t2\n1\tb\t0\n") -> Path:
    (folder / "qrels").mkdir(parents=True)
    (folder / "corpus.jsonl").write_text('{"_id": "a", "title": "", "text": "words"}\n')
    (folder / "queries.jsonl").write_text(
        '{"_id": "1", "text": "first"}\n\n{"_id": "2", "text": "nobody judged it"}\n'
    )
    (folder / "qrels" / "test.tsv").write_text(qrels)
    return folder


def test_only_questions_with_a_right_answer_are_asked(tmp_path: Path) -> None:
    (folder,) = read_folders(str(judged(tmp_path / "set")), "test")
    assert folder.name == "set"
    assert [(one.id, one.relevant) for one in folder.questions] == [("1", {"a": 2.0})]


def test_a_folder_of_folders_is_all_of_them(tmp_path: Path) -> None:
    judged(tmp_path / "all" / "one")
    judged(tmp_path / "all" / "deep" / "two")
    found = read_folders(str(tmp_path / "all"), "test")
    assert [folder.name for folder in found] == ["deep/two", "one"]


def test_qrels_as_trec_writes_them_are_read_too(tmp_path: Path) -> None:
    (folder,) = read_folders(str(judged(tmp_path / "set", "1 0 a 1\n1 0 b 3\n")), "test")
    assert folder.questions[0].relevant == {"a": 1.0, "b": 3.0}


def test_another_split_is_named_and_an_unknown_one_lists_those_there(tmp_path: Path) -> None:
    folder = judged(tmp_path / "set")
    (folder / "qrels" / "dev.tsv").write_text("2\ta\t1\n")
    assert [one.id for one in read_folders(str(folder), "dev")[0].questions] == ["2"]
    with pytest.raises(InvalidInput) as caught:
        read_folders(str(folder), "train")
    assert caught.value.field == "qrels"
    assert caught.value.hint == "one of dev, test"


def test_a_folder_without_a_judged_set_says_what_one_looks_like(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"no judged set") as caught:
        read_folders(str(tmp_path), "test")
    assert "corpus.jsonl" in str(caught.value.hint)


def test_own_judgments_may_have_scores_kinds_and_things_to_do_without(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text(
        '{"query": "one", "relevant": ["KB-1", "docs/a.md:b"]}\n'
        '{"query": "two", "relevant": {"KB-1": 2, "KB-2": 0}, "id": "x", "kind": "k"}\n'
        '{"query": "three", "without": {"document": "KB-3", "text": "gone"}}\n'
    )
    one, two, three = read_questions(str(path))
    assert (one.id, one.relevant) == ("1", {"KB-1": 1.0, "docs/a.md:b": 1.0})
    assert (two.id, two.kind, two.relevant) == ("x", "k", {"KB-1": 2.0})
    assert (three.relevant, three.without) == ({}, Without("KB-3", "gone"))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "line 2 is not JSON"),
        ("[1]", "line 2 is not a JSON object"),
        ('{"relevant": []}', "line 2 has no query"),
        ('{"query": "q", "relevent": []}', "line 2 has an unknown field 'relevent'"),
        ('{"query": "q", "relevant": {"a": "b"}}', "line 2 relevant must be"),
        ('{"query": "q", "relevant": [], "without": "x"}', "line 2 without must be"),
        ('{"query": "q", "relevant": [], "without": {"text": "x"}}', "line 2 has no document"),
    ],
)
def test_a_mistake_in_a_judgments_file_is_said_with_its_line(
    tmp_path: Path, line: str, said: str
) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"query": "fine", "relevant": []}\n' + line + "\n")
    with pytest.raises(InvalidInput) as caught:
        read_questions(str(path))
    assert said in caught.value.message
    assert caught.value.field == "target"


def test_a_file_that_is_not_there_or_holds_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_questions(str(tmp_path / "none.jsonl"))
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InvalidInput, match="holds no question"):
        read_questions(str(tmp_path / "empty.jsonl"))
