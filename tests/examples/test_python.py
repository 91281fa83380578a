"""The Python examples run as their readers run them: in each mode, in parallel, without pytest.

They also run as tests of this repository; here each way runs in a process of its own.
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
#: Prefixes of variables that this repository or this test run sets and a reader does not.
_OWN_PREFIXES = ("HOSTING_", "PYTEST_", "PYTHONPATH")


def run(*arguments: str, cold: bool = False) -> subprocess.CompletedProcess[str]:
    """Run Python in the folder of the examples, with warnings as errors."""
    return warm.run(
        [sys.executable, "-W", "error", "-m", *arguments],
        cwd=FOLDER,
        env={k: v for k, v in os.environ.items() if not k.startswith(_OWN_PREFIXES)},
        cold=cold,
    )


def run_pytest(mode: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pytest there, without this repository's settings and conftest.py."""
    return run(
        "pytest",
        "-c",
        os.devnull,
        "--rootdir",
        str(FOLDER),
        "--confcutdir",
        str(FOLDER),
        "-p",
        "no:cacheprovider",
        # Nor has a reader these plugins, which take long to load.
        "-p",
        "no:schemathesis",
        "-p",
        "no:hypothesispytest",
        "-p",
        "no:fakefs",
        "-W",
        "error",
        "--strict-markers",
        "-o",
        f"asyncio_mode={mode}",
        "-o",
        "asyncio_default_fixture_loop_scope=function",
        *arguments,
    )


def test_the_python_examples_pass_in_strict_mode():
    # With the conduct rules: examples must be careful clients.
    process = run_pytest("strict", "--ignore-glob=*_auto.py", "--hosting-emulator-conduct=error")

    assert process.returncode == 0, process.stdout
    assert " passed" in process.stdout
    assert "skipped" not in process.stdout


def test_the_python_examples_pass_in_auto_mode_with_several_workers():
    """A few are enough: in auto mode, all of them run as tests of this repository."""
    process = run_pytest("auto", "-n", "2", *EXAMPLES[:2], *EXAMPLES[-2:])

    assert process.returncode == 0, process.stdout
    assert "2 workers" in process.stdout
    assert "skipped" not in process.stdout


@pytest.mark.parametrize("mode", ["auto", "strict"])
def test_the_python_examples_pass_with_pytest_asyncio_alone(mode: str):
    process = run_pytest(mode, "-p", "no:aiohttp", f"test_pytest_asyncio_{mode}.py")

    assert process.returncode == 0, process.stdout
    assert "1 passed" in process.stdout


def test_the_unittest_example_passes_without_pytest():
    process = run("unittest", "-v", "test_unittest", cold=True)

    assert process.returncode == 0, process.stderr
    assert "Ran 2 tests" in process.stderr


@pytest.mark.parametrize("library", ["requests", "httpx", "urllib3", "aiohttp", "unittest"])
def test_every_http_library_has_a_python_example(library: str):
    assert f"test_{library}.py" in EXAMPLES
