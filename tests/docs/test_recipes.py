"""The commands of the CI recipes of the guide run, with an emulator as a service.

Their packages are already installed.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.docs.recipes import Job, jobs
from tests.examples.programs import need
from tests.support import warm

REPOSITORY = Path(__file__).parents[2]
GUIDE = (REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8")
JOBS = list(jobs(GUIDE))
#: The command of the image, which these tests run with another address, port and disk.
IMAGE_COMMAND = '["start"]'

TEST = """
import urllib.request


def test_deployments(hosting_emulator):
    url = f"{hosting_emulator.base_url}/v1/projects/{hosting_emulator.project}/deployments"
    request = urllib.request.Request(url, headers=hosting_emulator.headers("reader"))
    with urllib.request.urlopen(request) as response:
        assert response.status == 200
"""
#: Plugins that this repository's other tests need take long to load.
PLUGINS = {
    "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    "PYTEST_PLUGINS": "pytest_hosting_emulator.plugin,xdist.plugin",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with tests in Python and Node."""
    (tmp_path / "test_deployments.py").write_text(TEST, encoding="utf-8")
    shutil.copytree(REPOSITORY / "docs" / "examples" / "node", tmp_path, dirs_exist_ok=True)
    return tmp_path


@contextmanager
def service(env: dict[str, str]) -> Iterator[int]:
    """Run an emulator as the image does and yield its port."""
    process = warm.start(
        [warm.COMMAND, "start", "--ephemeral", "--port", "0", "--json"],
        env=_machine() | env,
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:  # up to the end of the object, or of the process
            lines.append(line)
            if line == "}\n":
                break
        ready = json.loads("".join(lines))
        yield int(ready["base_url"].rpartition(":")[2])
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _machine() -> dict[str, str]:
    own_prefixes = ("HOSTING_", "PYTEST_", "NODE_", "CI")
    variables = {k: v for k, v in os.environ.items() if not k.startswith(own_prefixes)}
    folders = (str(warm.programs()), str(Path(sys.executable).parent), os.environ["PATH"])
    return variables | {"PATH": os.pathsep.join(folders)}


def _run(command: str, folder: Path, env: dict[str, str]) -> str:
    process = subprocess.run(
        ["bash", "-euc", command],
        cwd=folder,
        env=_machine() | PLUGINS | env,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
    return process.stdout


def test_the_image_starts_with_the_command_that_the_recipe_tests_use():
    assert f"CMD {IMAGE_COMMAND}\n" in (REPOSITORY / "Dockerfile").read_text(encoding="utf-8")


def test_the_guide_has_recipes_with_and_without_a_service():
    kinds = {(job.name.split()[0], job.service is not None) for job in JOBS}

    assert kinds == {
        ("plain", False),
        (".github/workflows/tests.yml", False),
        (".github/workflows/service.yml", True),
        (".gitlab-ci.yml", False),
    }


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_the_commands_of_a_recipe_job_succeed(job: Job, folder: Path):
    commands = [command for command in job.commands if not command.startswith("pip install -r ")]
    if any("node " in command for command in commands):
        need("node")
    assert commands

    if job.service is None:
        printed = [_run(command, folder, job.env) for command in commands]
    else:
        with service(job.service) as port:
            env = {name: value.replace("4620", str(port)) for name, value in job.env.items()}
            printed = [_run(command, folder, env) for command in commands]

    assert "passed in" in printed[-1] or "pass 1" in printed[-1]


@pytest.mark.slow
def test_the_service_of_a_recipe_serves_pytest(folder: Path):
    job = next(job for job in JOBS if job.service is not None)
    assert job.service is not None
    token = {name: value for name, value in job.env.items() if name.endswith("_TOKEN")}

    with service(job.service) as port:
        command = f"pytest --hosting-emulator-url=http://127.0.0.1:{port}"
        assert "1 passed in" in _run(command, folder, token)
