"""`python -m knowbase.cli`."""

from knowbase.cli import entry

entry()
