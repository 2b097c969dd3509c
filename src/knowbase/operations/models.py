"""Operations on embedding models: models, embed."""

import os
from typing import TYPE_CHECKING, Annotated, NamedTuple

from knowbase.errors import InvalidInput
from knowbase.operations.declare import Operation
from knowbase.operations.tasks import check_reader
from knowbase.values.parameters import Param

if TYPE_CHECKING:
    from collections.abc import Callable

    from knowbase.base import Base
    from knowbase.embed.survey import Usable
    from knowbase.ingest.embedding import Embedding, Step
    from knowbase.values.vectors import StoredModel


class ModelsRequest(NamedTuple):
    folders: Annotated[
        tuple[str, ...],
        Param("folders with ONNX models to try too", positional=True, metavar="FOLDER"),
    ] = ()
    quick: Annotated[bool, Param("do not measure how fast they are")] = False


class ModelList(NamedTuple):
    """What can be used here, and what the base has vectors of."""

    usable: "tuple[Usable, ...]"
    base: "tuple[StoredModel, ...]"
    chunks: int


def models(base: "Base", request: ModelsRequest) -> ModelList:
    if request.folders:
        check_reader(base)
    for folder in request.folders:
        if not os.path.isdir(folder):
            raise InvalidInput(f"there is no folder {folder!r}", field="folders")
    return ModelList(
        base.models.usable(request.folders, measure=not request.quick),
        tuple(base.store.models()),
        base.store.counts().chunks,
    )


class Embed(NamedTuple):
    model: Annotated[
        str | None, Param("the model to change to; see kb models", metavar="MODEL")
    ] = None
    drop_old: Annotated[bool, Param("then remove the vectors of all other models")] = False
    reindex: Annotated[bool, Param("then write the index of the vectors anew")] = False
    worker: Annotated[
        bool, Param("share the work with others that do so, on any machine (PostgreSQL)")
    ] = False
    lease: Annotated[
        int,
        Param(
            "with --worker: after how many seconds others take over from one who died",
            least=1,
            most=86_400,
            metavar="SECONDS",
        ),
    ] = 120


def embed(
    base: "Base", request: Embed, progress: "Callable[[Step], None]" = lambda _: None
) -> "Embedding":
    return base.embed(
        request.model,
        drop_old=request.drop_old,
        reindex=request.reindex,
        progress=progress,
        lease=request.lease if request.worker else None,
    )


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "models",
            "List the embedding models that are usable here, and how fast",
            ModelsRequest,
            models,
            near=True,
            whole=True,
            examples=("kb models", "kb models ~/models --quick"),
        ),
        Operation(
            "embed",
            "Make the vectors that are missing, or all of them with another model",
            Embed,
            embed,
            writes=True,
            local=True,
            progress=True,
            examples=(
                "kb embed",
                "kb embed --model ~/models/bge-small-en-v1.5",
                "kb embed --model service:nomic-embed-text --drop-old",
                "kb embed --worker",
            ),
        ),
    )
}
