"""Runs of pytest inside a test, in a separate process, with the plugin as users have it."""

from __future__ import annotations

import sys
import time

import pytest

from tests.support import warm

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
        options = ("--basetemp=base-temp", "-p", plugin, "-p", "no:cacheprovider", "-W", "error")
        result = warm.run([sys.executable, "-m", "pytest", *options, *arguments], cold=cold)
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
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """An empty folder in which tests can be written and run."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name in (
        "HOSTING_EMULATOR_CONTROL_TOKEN",
        "PYTEST_XDIST_WORKER",
        "PYTEST_XDIST_TESTRUNUID",
    ):
        monkeypatch.delenv(name, raising=False)
    return Suite(pytester)
