"""What a base takes on the disk: a matter of the server, whose tables have many bases."""

from collections.abc import Mapping


class PostgresSpace:
    """See `knowbase.store.contract.SpaceStore` for what each method promises."""

    def space(self) -> Mapping[str, int]:
        return {}

    def compact(self) -> bool:
        return True  # autovacuum does it, or VACUUM FULL by who owns the database
