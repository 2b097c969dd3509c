"""Work that one process does for all, in the plain store."""

import time

from knowbase.store.plain.contents import Contents


class PlainLeases(Contents):
    """See `knowbase.store.contract.LeaseStore` for what each method promises."""

    def lease(self, work: str, holder: str, seconds: float) -> bool:
        now = time.time()
        held_by, until = self._state.leases.get(work, (holder, now))
        if held_by != holder and until >= now:
            return False
        self._state.leases[work] = (holder, now + seconds)
        return True

    def end_lease(self, work: str, holder: str) -> None:
        if self._state.leases.get(work, ("", 0.0))[0] == holder:
            del self._state.leases[work]
