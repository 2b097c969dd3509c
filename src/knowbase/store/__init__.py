"""Where documents live. `contract.Store` is the whole interface; each backend is a folder here."""
