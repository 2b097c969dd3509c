"""The base over HTTP: routes made from the operations' declarations. Importing this loads no
web framework; `server.py` does."""
