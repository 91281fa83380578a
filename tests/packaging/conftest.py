"""What the packaging tests share: the built distributions, and clean environments to try them in.

Nothing here reads the development environment: each environment is new, and each process is
started away from the repository, with no variable that could lead Python back into it.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
from collections.abc import Mapping, Sequence
from importlib.metadata import distribution
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from build import ProjectBuilder
from packaging.requirements import Requirement

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


def link(commands: Path, *requirements: str) -> None:
    """Give an environment what these requirements bring, and all that this asks for: linked from ours.

    To have an index find and send it takes most of the time of an installation.
    """
    (site,) = (commands.parent / "lib").glob("python*/site-packages")
    left = [(Requirement(requirement), "") for requirement in requirements]
    seen = set[tuple[str, str]]()
    while left:
        asked, extra = left.pop()
        if asked.marker is not None and not asked.marker.evaluate({"extra": extra}):
            continue
        found = distribution(asked.name)
        assert asked.specifier.contains(found.version, prereleases=True), asked
        for part in {path.parts[0] for path in found.files or ()} - {"..", "__pycache__"}:
            if not (site / part).exists():
                (site / part).symlink_to(Path(str(found.locate_file(part))))
        for extra in {"", *asked.extras} - {extra for name, extra in seen if name == asked.name}:
            seen.add((asked.name, extra))
            left += [(Requirement(text), extra) for text in found.requires or ()]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The sdist, and the wheel built from that sdist: so the sdist holds all a wheel needs.

    Both are built in one environment that has what pyproject.toml names to build with, as
    `python -m build` does in two.
    """
    folder = tmp_path_factory.mktemp("dist")
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    commands = make_environment(folder / "environment")
    pip(commands, "install", *settings["build-system"]["requires"], cwd=folder)

    def step(
        cmd: Sequence[str], cwd: str | None = None, extra_environ: Mapping[str, str] | None = None
    ) -> None:
        run(cmd, Path(cwd or folder), **(extra_environ or {}))

    def built(kind: Literal["sdist", "wheel"], source: Path) -> Path:
        builder = ProjectBuilder(source, python_executable=str(commands / "python"), runner=step)
        return Path(builder.build(kind, folder))

    sdist = built("sdist", REPOSITORY)
    with tarfile.open(sdist) as file:
        file.extractall(folder / "source", filter="data")
    (source,) = (folder / "source").iterdir()
    return Distributions(wheel=built("wheel", source), sdist=sdist)
