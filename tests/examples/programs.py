"""Running the examples in other languages under `exec`."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support import warm
from tests.support.warm import COMMAND

HERE = Path(__file__).parent


def need(program: str) -> None:
    """Skip the test if a program is missing; in CI fail it."""
    if shutil.which(program) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{program} is needed for this test")
        pytest.skip(f"{program} is not installed")


def run(folder: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `exec` in the folder of an example, to its end."""
    # Node's test runner sets variables for its children, which change what they print.
    names = {k: v for k, v in os.environ.items() if not k.startswith(("HOSTING_", "NODE_"))}
    return warm.run([COMMAND, "exec", *arguments], cwd=HERE / folder, env=names)
