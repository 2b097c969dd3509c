"""Many processes at once on one base: no error, no lost update, nothing out of step."""

import sys
from pathlib import Path

import pytest

from campaign.writers import WRITERS, Work, soak_base, soak_store


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_writers_and_readers_in_processes_of_their_own_lose_nothing(
    backend: str, tmp_path: Path
) -> None:
    """S0-22, C26"""
    soak_store(backend, tmp_path, Work(sys.maxsize, 2, readers=WRITERS // 2))


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_every_form_of_writing_loses_nothing(backend: str, tmp_path: Path) -> None:
    soak_base(backend, tmp_path, Work(48, 60, writers=3))
