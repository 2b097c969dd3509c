"""The default embedding model as data: granite-embedding-30m-english, int8 ONNX."""

from os.path import dirname, join

NAME = "granite-embedding-30m-english"
DIMENSIONS = 384
MAX_TOKENS = 512
MODEL = join(dirname(__file__), "model.onnx")
TOKENIZER = join(dirname(__file__), "tokenizer.json")
SHA256 = {
    MODEL: "553bae7a52514387fa2c851e60be2efc41b12ce1e84268b9a1b9fc48c411e611",
    TOKENIZER: "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd",
}
REVISION = "int8-" + SHA256[MODEL][:8]
EARLIER = ("int8-c38d758a",)
"""Revisions of other exports of the same weights, whose vectors lie in the same space."""
