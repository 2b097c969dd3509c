"""Notes and memories: writing them, what becomes of them, sessions, use, the brief."""
