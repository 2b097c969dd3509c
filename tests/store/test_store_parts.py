"""The contract in parts by subject: every engine has each of them, under the same name."""

from importlib import import_module

import pytest

from knowbase.store import contract

PARTS = {
    "documents": ("Documents", contract.DocumentStore),
    "retrieval": ("Retrieval", contract.RetrievalStore),
    "sessions": ("Sessions", contract.SessionStore),
    "graph": ("Graph", contract.GraphStore),
    "files": ("Files", contract.FileStore),
    "saved": ("SavedSearches", contract.SavedSearchStore),
    "calibration": ("Calibration", contract.CalibrationStore),
    "leases": ("Leases", contract.LeaseStore),
    "space": ("Space", contract.SpaceStore),
    "vectors": ("Vectors", contract.VectorStore),
    "history": ("History", contract.HistoryStore),
    "copying": ("Copying", contract.Copying),
}
APART = ("copying", "history")  # which a store has as a value of its own
OF_THE_WHOLE_STORE = {"apply", "close", *APART, "as_of", "replicas", "cluster"}
"""What concerns more than one part; each engine puts it together in one place."""


def promised(part: type) -> set[str]:
    return {name for name in dir(part) if not name.startswith("_")}


def test_every_method_of_the_contract_belongs_to_one_part() -> None:
    parts = [promised(part) for name, (_, part) in PARTS.items() if name not in APART]
    assert sum(map(len, parts)) == len(set.union(*parts))
    assert set.union(*parts) | OF_THE_WHOLE_STORE == promised(contract.Store)


@pytest.mark.parametrize("engine", ["plain", "sqlite", "postgres"])
@pytest.mark.parametrize("subject", PARTS)
def test_every_engine_has_each_part_in_a_file_of_its_name(engine: str, subject: str) -> None:
    noun, part = PARTS[subject]
    module = import_module(f"knowbase.store.{engine}.{subject}")
    own = vars(getattr(module, f"{engine.title()}{noun}"))
    assert promised(part) - OF_THE_WHOLE_STORE <= set(own)
