"""TypeScript checks the JSDoc types of the dashboard's modules."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

import pytest

TYPESCRIPT = "typescript@5.9.3"
#: Spends less time on optimizing code that runs for a second.
CHECK = 'node --no-opt "$(command -v tsc)" -p .'
TYPES = Path(__file__).parents[1] / "browser" / "types"


@pytest.mark.packaging
@pytest.mark.skipif(shutil.which("npx") is None, reason="node is not installed")
def test_the_modules_of_the_dashboard_pass_the_typescript_compiler(tmp_path: Path):
    with as_file(files("hosting_emulator.dashboard").joinpath("static")) as static:
        shutil.copytree(
            static, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("vendor")
        )
    shutil.copytree(TYPES, tmp_path, dirs_exist_ok=True)  # declarations of the vendored modules

    process = subprocess.run(
        ["npx", "--yes", "--package", TYPESCRIPT, "--call", CHECK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert process.returncode == 0, process.stdout + process.stderr
