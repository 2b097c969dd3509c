"""Whether the server takes what /openapi.json says, and nothing else: Schemathesis against a
running `kb serve`.

    pip install schemathesis
    python3 bench/fuzz.py                  # 25 cases for each operation, and those of its limits
    python3 bench/fuzz.py --cases 200 --seed 7

Ends with 1 when a valid request was refused, an invalid one taken, an answer was not as described,
or the server failed. A small check of the same is in tests/serving/test_described.py.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from servers import serving, two_projects

CHECKS = (
    "not_a_server_error", "status_code_conformance", "content_type_conformance",
    "response_schema_conformance", "negative_data_rejection", "positive_data_acceptance",
    "unsupported_method",
)  # fmt: skip
NOT_ASKED = "metrics|graph/query|events|token|config|task"
"""Text for Prometheus; a language of its own; a stream; what would change the server itself."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    command = shutil.which("schemathesis", path=f"{Path(sys.executable).parent}") or shutil.which(
        "schemathesis"
    )
    if command is None:
        print("schemathesis is not installed: pip install schemathesis", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        base = two_projects(Path(folder) / "base")
        with serving(base) as server:
            arguments = [
                "run", f"{server.address}/openapi.json",
                "--checks", ",".join(CHECKS),
                "--phases", "examples,coverage,fuzzing",
                "--max-examples", str(given.cases),
                "--seed", str(given.seed),
                "--exclude-path-regex", NOT_ASKED,
                "--continue-on-failure",
            ]  # fmt: skip
            return subprocess.run([command, *arguments], check=False, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
