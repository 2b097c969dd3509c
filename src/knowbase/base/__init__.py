"""One knowledge base as users hold it."""

from knowbase.base.base import Base, create, open  # noqa: A004 - knowbase.open reads well

__all__ = ["Base", "create", "open"]
