"""The JSON of a result: what `--json`, MCP and HTTP give for the same value."""

from knowbase.values.plain import plain

__all__ = ["plain"]
