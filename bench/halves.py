"""What vectors at half precision cost in quality: the same questions, with both.

    python bench/halves.py FOLDER …      each a judged set (corpus.jsonl, queries.jsonl, qrels/)

Each document of a set is embedded once, as one text. Every question is compared with all of them,
by vectors as the model makes them and as stores keep them: nDCG@10 of both, how many of the first
ten and hundred are the same, and the largest difference between two similarities.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from knowbase.embed.granite import Granite
from knowbase.evaluate.judged import Folder, read_folders
from knowbase.evaluate.metrics import mean, ndcg
from knowbase.store.halves import as_kept
from measure import Row, report

FIRST, MANY = 10, 100


def matrix(vectors: "list[bytes]") -> Any:
    return np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1).astype("f8")


def measured(folder: Folder) -> list[Row]:
    lines = Path(folder.corpus).read_text(encoding="utf-8").splitlines()
    documents = [json.loads(line) for line in lines]
    names = np.array([str(one["_id"]) for one in documents])
    granite = Granite()
    texts = [f"{one.get('title', '')}\n{one['text']}" for one in documents]
    made = [*granite.embed_documents(texts)]
    asked = matrix([granite.embed_query(one.text) for one in folder.questions])
    singles = asked @ matrix(made).T
    halves = asked @ matrix([as_kept(one) for one in made]).T
    order = [np.argsort(-scores, axis=1, kind="stable")[:, :MANY] for scores in (singles, halves)]
    quality = [
        mean(
            [
                ndcg([str(one) for one in names[row[:FIRST]]], question.relevant, FIRST)
                for row, question in zip(rows, folder.questions, strict=True)
            ]
        )
        for rows in order
    ]
    same = {
        most: np.mean(
            [
                len(set(one[:most].tolist()) & set(other[:most].tolist())) / most
                for one, other in zip(*order, strict=True)
            ]
        )
        for most in (FIRST, MANY)
    }
    return [
        Row(f"{folder.name}: nDCG@10, single precision", [quality[0]]),
        Row(f"{folder.name}: nDCG@10, half precision", [quality[1]]),
        Row(f"{folder.name}: the same among the first 10", [float(same[FIRST])]),
        Row(f"{folder.name}: the same among the first 100", [float(same[MANY])]),
        Row(f"{folder.name}: largest difference", [float(np.abs(singles - halves).max())]),
    ]


def main() -> None:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    rows = [
        row for path in given.folders for one in read_folders(path, "test") for row in measured(one)
    ]
    report("halves", rows, as_json=given.json)


if __name__ == "__main__":
    main()
