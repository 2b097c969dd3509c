"""Every error that knowbase raises on purpose.

KnowbaseError                 exit code of `kb`
├── InvalidInput              2   a value that cannot be accepted; `field` names it
│   └── Conflict                  it is taken, or there already
├── NotAllowed                2   served to others: not with this access
├── NotFound                  3   no such document, section or source
├── BaseError                 4
│   ├── BaseMissing               no base there
│   ├── NotABase                  the file is something else
│   ├── BaseTooNew                written by a newer knowbase
│   ├── BaseDamaged               the database is corrupt
│   ├── BaseTaken                 a base to be copied into holds something else
│   ├── BaseLocked                another process is writing
│   ├── BaseReadOnly              cannot write there
│   ├── BaseUnreachable           the database server cannot be reached
│   │   └── BaseBusy              it takes no further connections
│   └── DiskFull                  no space left
├── EmbeddingError            5
│   ├── ModelUnavailable          the model cannot be loaded or run
│   ├── ServiceUnavailable        the embedding service gives no usable answer
│   ├── BadVector                 a vector of the wrong size, or without a direction
│   ├── ModelMismatch             the base was made with another model
│   └── VectorsUnavailable        the database cannot hold vectors
├── ReadError                 6   a file that could not be read; never stops the rest
├── TookTooLong               9   more time or memory than this may take
└── ToolMissing               8   an optional package that is not installed

`kb eval --gate` ends with 7 when a metric fell: a finding, not an error, so nothing is raised.
"""

from collections.abc import Mapping

BELOW_BASELINE = 7


class KnowbaseError(Exception):
    """One condition: a stable `code`, one sentence, and where it helps a field and a hint."""

    code = "error"
    exit_code = 1
    outside: str | None = None
    """What those whom a base is served to are told instead: its trouble is not for them."""

    def __init__(self, message: str, *, field: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.field = field
        self.hint = hint

    def as_dict(self) -> dict[str, str | None]:
        """The one shape in which every surface reports an error."""
        return {"code": self.code, "message": self.message, "field": self.field, "hint": self.hint}


class InvalidInput(KnowbaseError):
    code = "invalid_input"
    exit_code = 2


class Conflict(InvalidInput):
    code = "conflict"


class NotAllowed(KnowbaseError):
    code = "forbidden"
    exit_code = 2


class NotFound(KnowbaseError):
    code = "not_found"
    exit_code = 3


class BaseError(KnowbaseError):
    code = "base_error"
    outside = "the base cannot be used now"
    exit_code = 4


class BaseMissing(BaseError):
    code = "base_missing"


class NotABase(BaseError):
    code = "not_a_base"


class BaseTooNew(BaseError):
    code = "base_too_new"


class BaseDamaged(BaseError):
    code = "base_damaged"


class BaseTaken(BaseError):
    code = "base_taken"


class BaseLocked(BaseError):
    code = "base_locked"


class BaseReadOnly(BaseError):
    code = "base_read_only"


class BaseUnreachable(BaseError):
    code = "base_unreachable"


class BaseBusy(BaseUnreachable):
    code = "base_busy"


class DiskFull(BaseError):
    code = "disk_full"
    outside = "the server's disk is full"


class EmbeddingError(KnowbaseError):
    code = "embedding_error"
    outside: str | None = "the embedding model cannot be used now"
    exit_code = 5


class ModelUnavailable(EmbeddingError):
    code = "model_unavailable"


class ServiceUnavailable(EmbeddingError):
    code = "service_unavailable"
    retries = 0  # how often it was asked again


class BadVector(EmbeddingError):
    code = "bad_vector"


class ModelMismatch(EmbeddingError):
    code = "model_mismatch"
    outside = None

    @classmethod
    def between(cls, known: tuple[str, str, int], given: tuple[str, str, int]) -> "ModelMismatch":
        """The base's own model, and the one that was to be used; name, revision, dimensions."""
        return cls(
            f"the base was made with the model {known[0]} ({known[1]}, {known[2]} dimensions),"
            f" not {given[0]} ({given[1]}, {given[2]} dimensions)",
            field="embed.model",
            hint="kb embed --model NAME changes a base's model; or take back the setting",
        )


class VectorsUnavailable(EmbeddingError):
    code = "vectors_unavailable"

    @classmethod
    def switched_off(cls) -> "VectorsUnavailable":
        return cls(
            "vectors are switched off in this base",
            field="embed.vectors",
            hint="set embed.vectors to true",
        )


class ReadError(KnowbaseError):
    code = "unreadable"
    exit_code = 6


class TookTooLong(KnowbaseError):
    code = "timeout"
    exit_code = 9


class ToolMissing(KnowbaseError):
    code = "tool_missing"
    outside = "the server lacks an optional package for this"
    exit_code = 8


def from_dict(told: Mapping[str, str | None]) -> KnowbaseError:
    """The error that another process of this program tells, as `as_dict` has it."""
    kinds = [KnowbaseError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    found = next((kind for kind in kinds if kind.code == told["code"]), KnowbaseError)
    return found(told["message"] or "", field=told["field"], hint=told["hint"])
