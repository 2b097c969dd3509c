"""What one wants to do, and the commands for it."""

GOALS = {
    "put in": ("init", "add", "note", "notes", "remember", "sync", "watch", "ignore", "rm"),
    "find": ("search", "open", "get", "list", "browse", "tags", "saved", "query", "why-not"),
    "connect": ("links", "related", "path", "relate", "communities", "rank", "graph"),
    "recall": ("brief", "timeline", "context", "session", "sessions", "feedback"),
    "keep current": ("supersede", "forget", "restore", "archive", "extend", "expire", "tag"),
    "look back": ("log", "history", "diff", "undo"),
    "look after": (
        "status", "config", "check", "backup", "repair", "compact", "move", "embed", "models",
        "profiles", "eval",
    ),
    "share": ("mcp", "serve", "token", "tokens"),
}  # fmt: skip
"""A command that is not named here is shown under "more"."""
