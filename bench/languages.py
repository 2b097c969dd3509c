"""Words in other languages: the keyword leg beside plain FTS5, on judged sets.

    python bench/languages.py FOLDER … [--half 0|1] [--most N]

Each FOLDER is a judged set, or a folder of them.

Plain FTS5 is `unicode61` with an OR of the question's words. No model is run.
"""

import argparse
from collections.abc import Sequence
from tempfile import TemporaryDirectory
from typing import Any

import apsw

from knowbase import config
from knowbase.embed.granite import Granite
from knowbase.evaluate.asking import System, ask
from knowbase.evaluate.corpus import Shelf
from knowbase.evaluate.judged import Folder, Question, read_documents, read_folders
from knowbase.evaluate.metrics import mean, ndcg

KEYWORD = System("keyword", "words alone", "best", "keyword")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--most", type=int, help="questions of each set")
    arguments = parser.parse_args()
    print("| set | questions | plain FTS5 | knowbase | chunks |\n|---|---|---|---|---|")
    for path in arguments.folders:
        for folder in read_folders(path, "test"):
            questions = halved(folder.questions, arguments.half)
            print(row(folder, questions[: arguments.most]), flush=True)


def halved(questions: Sequence[Question], half: int | None) -> Sequence[Question]:
    return questions if half is None else questions[half::2]


def row(folder: Folder, questions: Sequence[Question]) -> str:
    with TemporaryDirectory() as place:
        settings = config.load(None, {"KB_EMBED_VECTORS": "false"})
        base = Shelf(place, settings, Granite()).base(folder)
        asked = ask(base, questions, (KEYWORD,))
        ours = mean([one.results["keyword"].values["ndcg@10"] for one in asked])
        chunks = base.store.counts().chunks
        base.close()
    plain = mean(plain_scores(folder, questions))
    return f"| {folder.name} | {len(questions)} | {plain:.4f} | {ours:.4f} | {chunks} |"


def plain_scores(folder: Folder, questions: Sequence[Question]) -> list[float]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (id UNINDEXED, text)")
    connection.executemany(
        "INSERT INTO t VALUES (?, ?)",
        ((one, f"{title}\n{text}") for one, title, text in read_documents(folder.corpus)),
    )
    cut = connection.fts5_tokenizer("unicode61", [])
    scores = []
    for question in questions:
        words: Any = cut(question.text.encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None)
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(one[2] for one in words))
        found = connection.execute(
            "SELECT id FROM t WHERE t MATCH ? ORDER BY rank LIMIT 10", (wanted,)
        )
        scores.append(ndcg([one for (one,) in found], question.relevant, 10))
    return scores


if __name__ == "__main__":
    main()
