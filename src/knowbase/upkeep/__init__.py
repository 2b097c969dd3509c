"""Looking after a base: backups, checks, repair."""
