"""The default embedding model as data: granite-embedding-30m-english, int8 ONNX."""

from os.path import dirname, join

NAME = "granite-embedding-30m-english"
DIMENSIONS = 384
MAX_TOKENS = 512
MARKERS = (0, 2)
"""The tokens that a text starts and ends with."""
MODEL = join(dirname(__file__), "model.onnx")
GRAPH = join(dirname(__file__), "graph.onnx")
TOKENIZER = join(dirname(__file__), "tokenizer.json")
MERGES = join(dirname(__file__), "merges.bin")
SHA256 = {
    MODEL: "553bae7a52514387fa2c851e60be2efc41b12ce1e84268b9a1b9fc48c411e611",
    GRAPH: "eb3d7dd48baa8eb291b0e1ae4418b5764c4c6c21854e3b0b244941ca4cd500dd",
    TOKENIZER: "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd",
    MERGES: "0fcf3dc0f5a926f8c17caeae4a5db6e70688804d9f9171abf463a8aa06389238",
}
REVISION = "int8-" + SHA256[MODEL][:8]
EARLIER = ("int8-c38d758a",)
"""Revisions of other exports of the same weights, whose vectors lie in the same space."""
