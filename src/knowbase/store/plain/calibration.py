"""What a base has learnt of its answers, in the plain store."""

from knowbase.store.plain.contents import Contents
from knowbase.values.calibration import Calibration


class PlainCalibration(Contents):
    """See `knowbase.store.contract.CalibrationStore` for what each method promises."""

    def calibration(self) -> Calibration | None:
        return self._state.calibration

    def put_calibration(self, calibration: Calibration) -> None:
        self._state.calibration = calibration
