"""What the packaging tests share: the built distributions, and clean environments to try them in.

Nothing here reads the development environment: each environment is new, and each process is
started away from the repository, with no variable that could lead Python back into it.
"""

import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).parents[2]


class Distributions(NamedTuple):
    wheel: Path
    sdist: Path


def clean_variables(**more: str) -> dict[str, str]:
    """Return the process's variables without those that change where Python looks for code."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        and not name.startswith("HOSTING_EMULATOR_")
    }
    # Compiling all that is installed takes longer than installing it, and little of it is run.
    return {**kept, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1", **more}


def run(command: Sequence[str | Path], cwd: Path, **variables: str) -> str:
    """Run a command to its end and return its stdout; fail with all it said."""
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_variables(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def make_environment(folder: Path) -> Path:
    """Make a virtual environment with nothing in it; return its folder of commands."""
    venv.create(folder, symlinks=True)
    return folder / "bin"


def pip(commands: Path, *words: str | Path, cwd: Path) -> str:
    """Run our pip on another environment: one of its own takes seconds to install."""
    return run([sys.executable, "-m", "pip", "--python", commands / "python", *words], cwd=cwd)


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The sdist, and the wheel built from that sdist: so the sdist holds all a wheel needs."""
    folder = tmp_path_factory.mktemp("dist")
    run([sys.executable, "-m", "build", "--outdir", folder, REPOSITORY], cwd=folder)
    return Distributions(
        wheel=next(folder.glob("*.whl")),
        sdist=next(folder.glob("*.tar.gz")),
    )
