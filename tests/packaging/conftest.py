"""The built distributions and clean environments for the packaging tests.

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


def clean_variables(**overrides: str) -> dict[str, str]:
    """Return the variables of the process without those that change where Python looks for code."""
    variables = {
        name: value
        for name, value in os.environ.items()
        if name not in {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        and not name.startswith("HOSTING_EMULATOR_")
    }
    # Compiling the installed packages takes longer than installing them, and few of them run.
    return {**variables, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_COMPILE": "1", **overrides}


def run(command: Sequence[str | Path], cwd: Path, **variables: str) -> str:
    """Run a command to its end and return its stdout; a failure shows all output."""
    process = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_variables(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def make_environment(folder: Path) -> Path:
    """Create an empty virtual environment and return its folder of commands."""
    venv.create(folder, symlinks=True)
    return folder / "bin"


def pip(commands: Path, *words: str | Path, cwd: Path) -> str:
    """Run our pip on another environment: installing pip there takes seconds."""
    return run([sys.executable, "-m", "pip", "--python", commands / "python", *words], cwd=cwd)


def link(commands: Path, *requirements: str) -> None:
    """Link requirements and their dependencies from our environment into another one.

    Finding and downloading them from an index takes most of the time of an installation.
    """
    (site,) = (commands.parent / "lib").glob("python*/site-packages")
    pending = [(Requirement(requirement), "") for requirement in requirements]
    linked = set[tuple[str, str]]()
    while pending:
        requirement, extra = pending.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        package = distribution(requirement.name)
        assert requirement.specifier.contains(package.version, prereleases=True), requirement
        for part in {path.parts[0] for path in package.files or ()} - {"..", "__pycache__"}:
            if not (site / part).exists():
                (site / part).symlink_to(Path(str(package.locate_file(part))))
        for extra in {"", *requirement.extras} - {
            extra for name, extra in linked if name == requirement.name
        }:
            linked.add((requirement.name, extra))
            pending += [(Requirement(text), extra) for text in package.requires or ()]


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    """The sdist, and the wheel built from that sdist, so that the sdist must contain all a wheel needs.

    Both are built in one environment with the build requirements of pyproject.toml; `python -m build`
    uses two.
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
