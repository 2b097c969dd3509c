"""Operations that say how a base is: doctor."""

from typing import TYPE_CHECKING

from knowbase.operations.declare import NoParameters, Operation

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.base.doctor import Diagnosis


def doctor(base: "Base", _: NoParameters) -> "Diagnosis":
    return base.doctor()


OPERATIONS = {
    operation.name: operation
    for operation in (
        Operation(
            "doctor",
            "Say what is wrong, the worst first, and the command that mends it",
            NoParameters,
            doctor,
            whole=True,
            examples=("kb doctor", "kb doctor --json"),
        ),
    )
}
