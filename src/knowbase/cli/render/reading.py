"""What a person reads of a document that was made ready to be shown: its HTML."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.base.originals import Original
    from knowbase.rendering import Rendered


def render_rendered(_: Painter, result: "Rendered") -> Iterable[str]:
    from knowbase.rendering.tree import tree_html

    yield tree_html(result.tree)


def render_original(_: Painter, result: "Original") -> Iterable[str]:
    yield f"{safe(result.code)}: {safe(result.path)}, {result.size_bytes:,} bytes; --json has them"
