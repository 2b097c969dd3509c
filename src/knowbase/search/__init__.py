"""A search from top to bottom: understand → retrieve → rank → present."""
