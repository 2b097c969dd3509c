"""What a base takes on the disk: a plain store is not there."""

from collections.abc import Mapping


class PlainSpace:
    """See `knowbase.store.contract.SpaceStore` for what each method promises."""

    def space(self) -> Mapping[str, int]:
        return {}

    def compact(self) -> bool:
        return True
