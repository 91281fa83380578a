"""The floors stay as `pyproject.toml` draws them; import-linter reads the imports."""

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
LINTER = "import sys; from importlinter.cli import lint_imports_command as lint; lint(sys.argv[1:])"


def lint(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", LINTER, "--no-cache"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_imports_go_down_the_floors_only():
    done = lint(REPOSITORY)

    assert done.returncode == 0, done.stdout + done.stderr
