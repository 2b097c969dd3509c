"""What a base has learnt of its answers, in the plain store."""

from collections.abc import Collection

from knowbase.store.plain.contents import Contents
from knowbase.values.calibration import Calibration


class PlainCalibration(Contents):
    """See `knowbase.store.contract.CalibrationStore` for what each method promises."""

    def calibration(self) -> Calibration | None:
        return self._state.calibration

    def put_calibration(self, calibration: Calibration) -> None:
        self._state.calibration = calibration

    def hashes(self, chunks: Collection[int]) -> dict[int, str]:
        stored = self._state.chunks
        return {one: stored[one].chunk.hash for one in chunks if one in stored}
