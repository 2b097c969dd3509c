"""What other programs keep, each in a file of its own: what it gives becomes documents."""
