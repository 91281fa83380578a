"""Runs of pytest inside a test, in a separate process, with the plugin as users have it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest

from tests.support import warm

OWN_VARIABLES = (
    "HOSTING_EMULATOR_CONTROL_TOKEN",
    "PYTEST_XDIST_WORKER",
    "PYTEST_XDIST_TESTRUNUID",
)
CALLING = '''
import urllib.error
import urllib.request


def ask(emulator, path, method="GET", user="owner", **headers):
    """Return the status of a call, `path` below the project."""
    request = urllib.request.Request(
        f"{emulator.base_url}/v1/projects/{emulator.project}/{path}",
        method=method,
        headers={**emulator.headers(user), **headers},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def apply_domains(emulator, key="domains-1"):
    return ask(emulator, "domains", "PUT", **{"Idempotency-Key": key})
'''


def run_pytest(
    folder: Path,
    *arguments: str,
    plugin: str = "hosting_emulator",
    cold: bool = False,
    variables: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder with only this plugin and pytest's own."""
    options = ("--basetemp=base-temp", "-p", plugin, "-p", "no:cacheprovider", "-W", "error")
    command = [sys.executable, "-m", "pytest", *options, *arguments]
    return warm.run(command, cwd=folder, env=variables, cold=cold)


def reader_variables() -> dict[str, str]:
    """Return the variables of this process without those that its own pytest sets."""
    variables = {name: value for name, value in os.environ.items() if name not in OWN_VARIABLES}
    return variables | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


class Suite:
    """A folder of tests, which may use `from calling import ask, apply_domains`."""

    def __init__(self, pytester: pytest.Pytester) -> None:
        self.pytester = pytester
        self.path = pytester.path
        pytester.makepyfile(calling=CALLING)

    def write(self, **files: str) -> None:
        """Write Python files; the keywords are their names."""
        self.pytester.makepyfile(**files)

    def ini(self, *lines: str) -> None:
        """Write the ini file."""
        self.pytester.makeini("\n".join(["[pytest]", *lines]))

    def run(
        self, *arguments: str, plugin: str = "hosting_emulator", cold: bool = False
    ) -> pytest.RunResult:
        """Run pytest with only this plugin and pytest's own.

        A `cold` run has its own interpreter, in which nothing was imported before.
        """
        began_s = time.monotonic()
        result = run_pytest(self.path, *arguments, plugin=plugin, cold=cold)
        print(result.stdout, result.stderr, sep="\n")
        return pytest.RunResult(
            result.returncode,
            result.stdout.splitlines(),
            result.stderr.splitlines(),
            time.monotonic() - began_s,
        )

    @staticmethod
    def workers(count: int) -> tuple[str, ...]:
        """Return options that distribute the tests of a run over processes of the warm interpreter."""
        python = warm.programs() / "python"
        return ("-p", "xdist.plugin", "--dist=load", f"--tx={count}*popen//python={python}")

    def passes(self, *arguments: str, cold: bool = False) -> pytest.RunResult:
        """Run pytest, and check that all its tests pass."""
        result = self.run(*arguments, cold=cold)
        outcomes = result.parseoutcomes()
        assert result.ret == 0, result.stdout.str()
        assert set(outcomes) == {"passed"}, outcomes
        return result


@pytest.fixture
def imported_modules() -> Iterator[dict[str, ModuleType]]:
    """Modules that `pytester` must not remove. It is set up before `pytester` and ends after it.

    `pytester` removes the modules that were imported during a test. An emulator in a thread of this
    process may have imported them, and could not look up the names in its annotations any more.
    """
    modules: dict[str, ModuleType] = {}
    yield modules
    for name, module in modules.items():
        sys.modules.setdefault(name, module)


@pytest.fixture
def suite(
    imported_modules: dict[str, ModuleType],
    pytester: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Suite]:
    """An empty folder in which tests can be written and run."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in OWN_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    yield Suite(pytester)
    imported_modules.update(sys.modules)
