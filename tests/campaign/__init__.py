"""The campaign: everything that could take a base down, tried in large numbers.

`python3 dev.py soak` runs it; each module but the first few is one part with a `run`.
"""
