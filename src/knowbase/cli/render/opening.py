"""What a person reads of opening a file."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.operations.opening import Opened


def render_opened(_: Painter, opened: "Opened") -> Iterable[str]:
    import shlex

    yield safe(shlex.join(opened.command))
