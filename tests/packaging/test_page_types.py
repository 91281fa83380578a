"""TypeScript checks the JSDoc types of the dashboard's modules."""

from __future__ import annotations

import shutil
import subprocess
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from tests.support.node_packages import node_modules

TYPES = Path(__file__).parents[1] / "browser" / "types"


@pytest.mark.packaging
def test_the_modules_of_the_dashboard_pass_the_typescript_compiler(tmp_path: Path):
    with as_file(files("hosting_emulator.dashboard").joinpath("static")) as static:
        shutil.copytree(
            static, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("vendor")
        )
    shutil.copytree(TYPES, tmp_path, dirs_exist_ok=True)  # declarations of the vendored modules

    # `--no-opt` spends less time on optimizing code that runs for a second.
    process = subprocess.run(
        ["node", "--no-opt", node_modules() / ".bin" / "tsc", "-p", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )

    assert process.returncode == 0, process.stdout + process.stderr
