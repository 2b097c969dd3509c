"""Operations that say how a base is: doctor, searches."""

from typing import TYPE_CHECKING

from knowbase.operations.declare import NoParameters, Operation

if TYPE_CHECKING:
    from knowbase.base import Base
    from knowbase.base.doctor import Diagnosis
    from knowbase.search.log import Searches


def doctor(base: "Base", _: NoParameters) -> "Diagnosis":
    return base.doctor()


def searches(base: "Base", _: NoParameters) -> "Searches":
    return base.searches()


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
        Operation(
            "searches",
            "Show how many searches a server has answered, how fast, and what found nothing",
            NoParameters,
            searches,
            whole=True,
            examples=("kb searches --base http://127.0.0.1:8620",),
        ),
    )
}
