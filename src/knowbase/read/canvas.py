"""Obsidian's canvas: cards on a board, as a Markdown text from top to bottom."""

from typing import Any

from knowbase.errors import ReadError
from knowbase.read.file import File
from knowbase.values.reading import Reading


def read_canvas(file: File) -> Reading:
    """The cards' texts, the files that they show as links, and what is written at the arrows."""
    import json

    from knowbase.read.markdown import read_markdown

    try:
        board = json.loads(file.text)
    except (ValueError, RecursionError) as error:
        raise ReadError("The canvas is not valid JSON.") from error
    cards = sorted(_listed(board, "nodes"), key=_place)
    shown = [_shown(card) for card in cards]
    arrows = [str(arrow.get("label") or "") for arrow in _listed(board, "edges")]
    parts = [part.strip() for part in (*shown, *arrows) if part.strip()]
    return read_markdown("\n\n".join(parts), file.stem, file.most)._replace(title=file.stem)


def _listed(board: Any, key: str) -> list[dict[str, Any]]:
    items = board.get(key) if isinstance(board, dict) else None
    return [one for one in items if isinstance(one, dict)] if isinstance(items, list) else []


def _place(card: dict[str, Any]) -> tuple[float, float]:
    x, y = (card.get(name) for name in "xy")
    return (
        float(y) if isinstance(y, int | float) else 0.0,
        float(x) if isinstance(x, int | float) else 0.0,
    )


def _shown(card: dict[str, Any]) -> str:
    kind = card.get("type")
    if kind == "file" and card.get("file"):
        return f"[[{card['file']}]]"
    if kind == "link":
        return f"<{card.get('url', '')}>"
    return str(card.get("label" if kind == "group" else "text") or "")
