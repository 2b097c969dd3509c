"""Putting things in: walk → read → split → embed → store, and only what changed."""
