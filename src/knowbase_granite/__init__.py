"""The default embedding model as data: granite-embedding-30m-english, int8 ONNX."""

from os.path import dirname, join

NAME = "granite-embedding-30m-english"
DIMENSIONS = 384
MAX_TOKENS = 512
MODEL = join(dirname(__file__), "model.onnx")
TOKENIZER = join(dirname(__file__), "tokenizer.json")
SHA256 = {
    MODEL: "c38d758a539b3a5bb3a57c0dfc2c378c24337929405d18619ffd6c2f71fa2d99",
    TOKENIZER: "33465117406b9007673e8ba283f7f1383d9b5094df947481af60eec94ed7d7bd",
}
REVISION = "int8-" + SHA256[MODEL][:8]
