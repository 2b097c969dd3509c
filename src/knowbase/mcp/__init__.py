"""knowbase for agents: its operations as MCP tools, its documents as resources.

`server.py` is read first; `tools.py` says which operations agents get. Importing the SDK takes
most of a second, so nothing here is imported before `kb mcp` or `kb serve` needs it.
"""
