"""A start and other frequent commands load nothing heavy that they do not need."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.emulator_process import emulator
from tests.support.imported_modules import modules_imported_by

#: Runs a command line in a process of its own, and prints whether pydantic is loaded at its end.
RUN_COMMAND = """
import sys
from hosting_emulator_cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
print("loaded:", "pydantic" in sys.modules, file=sys.stderr)
"""
#: Runs `start`, prints whether pydantic is loaded when it is ready, and stops it.
RUN_START = """
import os, signal, sys
from hosting_emulator import bootstrap
from hosting_emulator_cli.main import main
run = bootstrap.run

def run_until_ready(settings, announce, **options):
    def stop_when_ready(ready):
        announce(ready)
        print("loaded:", "pydantic" in sys.modules, file=sys.stderr)
        os.kill(os.getpid(), signal.SIGTERM)
    run(settings, stop_when_ready, **options)

bootstrap.run = run_until_ready
main()
"""


def loads_pydantic(program: str, folder: Path, *arguments: str) -> bool:
    """Run a program in a folder and return what it prints about pydantic."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_")}
    process = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr
    return process.stderr.splitlines()[-1] == "loaded: True"


@pytest.mark.parametrize("command", ["status", "env", "token"])
def test_a_command_without_a_settings_file_does_not_load_pydantic(command: str, tmp_path: Path):
    with emulator("--ephemeral") as running:
        url = str(running.ready["base_url"])

        assert not loads_pydantic(RUN_COMMAND, tmp_path, command, "--url", url)


def test_a_command_that_finds_its_emulator_by_a_settings_file_does_not_load_pydantic(
    tmp_path: Path,
):
    (tmp_path / "hosting-emulator.yaml").write_text("data-dir: kept")
    (tmp_path / "src").mkdir()
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_")}

    with emulator(cwd=tmp_path, env=environment):
        assert not loads_pydantic(RUN_COMMAND, tmp_path / "src", "status")


def test_start_without_a_settings_file_is_ready_before_it_loads_pydantic(tmp_path: Path):
    assert not loads_pydantic(RUN_START, tmp_path, "start", "--port", "0", "--ephemeral")


def test_start_judges_a_settings_file_by_pydantic(tmp_path: Path):
    (tmp_path / "hosting-emulator.yaml").write_text("{port: 0, ephemeral: true}")

    assert loads_pydantic(RUN_START, tmp_path, "start")


@pytest.mark.parametrize(
    "module",
    [
        "hosting_emulator",
        "hosting_emulator.sdk",
        "hosting_emulator.contract.calls",
        "hosting_emulator.contract.assumptions",
        "hosting_emulator.bootstrap",
        "hosting_emulator_cli.main",
        "hosting_emulator_cli.commands.start",
        "hosting_emulator_cli.commands.requests",
    ],
)
def test_importing_a_module_does_not_load_pydantic(module: str, tmp_path: Path):
    program = f"import sys, {module}\nprint('loaded:', 'pydantic' in sys.modules, file=sys.stderr)"

    assert not loads_pydantic(program, tmp_path)


def test_importing_bootstrap_loads_no_module_that_only_stories_need():
    modules = modules_imported_by("hosting_emulator.bootstrap")

    assert "hosting_emulator.engine.worlds" in modules
    assert (
        not {
            "hosting_emulator.scenario.story",
            "hosting_emulator.scenario.build",
            "hosting_emulator.engine.explanations.trail",
        }
        & modules
    )
