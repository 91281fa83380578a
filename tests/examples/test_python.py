"""The examples in Python run as their readers run them: in each mode, shared out, without pytest.

They also run as tests of this repository, in its own mode; here each way has a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import warm

FOLDER = Path(__file__).parent / "python"
EXAMPLES = sorted(path.name for path in FOLDER.glob("test_*.py"))
#: Settings of this repository, and of the run that this test is part of, are not the reader's.
_OURS = ("HOSTING_", "PYTEST_", "PYTHONPATH")


def run(*arguments: str, cold: bool = False) -> subprocess.CompletedProcess[str]:
    """Run Python in the examples' folder, warnings being errors."""
    return warm.run(
        [sys.executable, "-W", "error", "-m", *arguments],
        cwd=FOLDER,
        env={k: v for k, v in os.environ.items() if not k.startswith(_OURS)},
        cold=cold,
    )


def run_pytest(mode: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest there, without this repository's settings and conftest.py."""
    return run(
        *("pytest", "-c", os.devnull, "--rootdir", str(FOLDER), "--confcutdir", str(FOLDER)),
        *("-p", "no:cacheprovider"),
        # Nor has a reader these plugins, which take long to load.
        *("-p", "no:schemathesis", "-p", "no:hypothesispytest", "-p", "no:fakefs"),
        *("-W", "error", "--strict-markers", "-o", f"asyncio_mode={mode}"),
        *("-o", "asyncio_default_fixture_loop_scope=function", *arguments),
    )


def test_the_python_examples_pass_in_strict_mode():
    # With the rules of conduct: what we show to readers had better be careful.
    done = run_pytest("strict", "--ignore-glob=*_auto.py", "--hosting-emulator-conduct=error")

    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout


def test_the_python_examples_pass_in_auto_mode_with_several_workers():
    """A few are enough: in auto mode, all of them run as tests of this repository."""
    done = run_pytest("auto", "-n", "2", *EXAMPLES[:2], *EXAMPLES[-2:])

    assert done.returncode == 0, done.stdout
    assert "2 workers" in done.stdout
    assert "skipped" not in done.stdout


@pytest.mark.parametrize("mode", ["auto", "strict"])
def test_the_python_examples_pass_with_pytest_asyncio_alone(mode: str):
    done = run_pytest(mode, "-p", "no:aiohttp", f"test_pytest_asyncio_{mode}.py")

    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_the_unittest_example_passes_without_pytest():
    done = run("unittest", "-v", "test_unittest", cold=True)

    assert done.returncode == 0, done.stderr
    assert "Ran 2 tests" in done.stderr


@pytest.mark.parametrize("library", "requests httpx urllib3 aiohttp unittest".split())
def test_every_http_library_has_a_python_example(library: str):
    assert f"test_{library}.py" in EXAMPLES
