"""Hits for other programs: editors, shells, spreadsheets, notes. A line a hit, nothing else."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe
from knowbase.text.snippets import END_MARK, MARK

if TYPE_CHECKING:
    from knowbase.search.answer import Answer, Hit

HEADER = "code,title,type,heading,path,line,page,score,snippet"


def formatted(name: str, paint: Painter, answer: "Answer") -> str:
    """The hits in this format."""
    end = "\0" if name == "paths0" else "\n"
    return "".join(f"{line}{end}" for line in _FORMATS[name](paint, answer))


def _place(paint: Painter, hit: "Hit") -> str:
    """The file as it is called from here; what has none goes by its code."""
    return paint.path(hit.path) if hit.path else safe(hit.code)


def _plain(hit: "Hit") -> str:
    return safe(hit.snippet.replace(MARK, "").replace(END_MARK, ""))


def _grep(paint: Painter, answer: "Answer") -> Iterable[str]:
    for hit in answer.hits:
        yield f"{_place(paint, hit)}:{hit.line}:{_plain(hit)}"


def _vimgrep(paint: Painter, answer: "Answer") -> Iterable[str]:
    for hit in answer.hits:
        yield f"{_place(paint, hit)}:{hit.line}:{_column(hit)}:{_plain(hit)}"


def _column(hit: "Hit") -> int:
    """Where the first matched word stands in its line, in bytes from 1, as editors count."""
    _, _, behind = hit.snippet.partition(MARK)
    word = behind.partition(END_MARK)[0]
    line = next((line for line in hit.text.split("\n") if word and word in line), "")
    return len(line[: line.index(word)].encode()) + 1 if line else 1


def _paths(paint: Painter, answer: "Answer") -> Iterable[str]:
    return dict.fromkeys(_place(paint, hit) for hit in answer.hits if hit.path)


def _files(paint: Painter, answer: "Answer") -> Iterable[str]:
    return dict.fromkeys(paint.file(hit.path) for hit in answer.hits if hit.path)


def _markdown(paint: Painter, answer: "Answer") -> Iterable[str]:
    from urllib.parse import quote

    for hit in answer.hits:
        title = _escaped(safe(hit.title))
        at = f"#page={hit.page}" if hit.page else ""
        link = f"[{title}]({quote(_place(paint, hit))}{at})" if hit.path else title
        heading = f" › {_escaped(safe(hit.heading))}" if hit.heading else ""
        yield f"- {link}{heading} ({safe(hit.section)})"
        yield f"  > {_plain(hit)}"


def _escaped(text: str) -> str:
    for mark in "\\[]*_`<":
        text = text.replace(mark, "\\" + mark)
    return text


def _csv(paint: Painter, answer: "Answer") -> Iterable[str]:
    import csv
    import io

    for row in (HEADER.split(","), *(_row(paint, hit) for hit in answer.hits)):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(row)
        yield line.getvalue()


def _row(paint: Painter, hit: "Hit") -> tuple[object, ...]:
    path = _place(paint, hit) if hit.path else ""
    texts = (safe(hit.code), safe(hit.title), safe(hit.type), safe(hit.heading or ""))
    return (*texts, path, hit.line, hit.page or "", f"{hit.score:.6f}", _plain(hit))


_FORMATS: dict[str, Callable[[Painter, "Answer"], Iterable[str]]] = {
    "grep": _grep,
    "vimgrep": _vimgrep,
    "paths": _paths,
    "paths0": _files,
    "md": _markdown,
    "csv": _csv,
}
