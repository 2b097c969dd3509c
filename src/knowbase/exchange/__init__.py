"""In and out: a base as files that people and other programs read, and back; what others keep."""
