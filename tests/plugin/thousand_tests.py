"""A suite of a thousand small tests, and the time and memory that a run of it takes."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from tests.support import warm

TESTS = 1000

CONFTEST = '''
import gc
import json
import os
import resource
import statistics
import time
from pathlib import Path

import pytest


def resident():
    """Return the memory that this process has now, in bytes."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


class Watch:
    """Memory after each hundred tests, and how long a test takes, set-up to tear-down."""

    def __init__(self):
        self.done = 0
        self.memory = {}
        self.took = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        began = time.perf_counter()
        result = yield
        self.took.setdefault(item.originalname, []).append(time.perf_counter() - began)
        self.done += 1
        if self.done % 100 == 0:
            self.memory[self.done] = resident()
        return result

    def pytest_sessionfinish(self):
        if self.done:
            medians = {name: statistics.median(took) for name, took in self.took.items()}
            told = {"memory": self.memory, "took": medians}
            Path(f"watched-{os.getpid()}.json").write_text(json.dumps(told))


def pytest_configure(config):
    config.pluginmanager.register(Watch())
'''
MANY = """
import http.client
import json
from urllib.parse import urlsplit

import pytest


@pytest.mark.parametrize("n", range({tests}))
def test_it(hosting_emulator, n):
    parts = urlsplit(hosting_emulator.base_url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port)
    headers = hosting_emulator.headers("owner", key="domains-1")
    below = f"{{parts.path}}/v1/projects/{{hosting_emulator.project}}"

    def ask(method, path):
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())

    try:
        status, page = ask("GET", f"{{below}}/deployments")
        assert status == 200
        status, operation = ask("PUT", f"{{below}}/domains")
        assert (status, operation["state"]) == (202, "queued")
        hosting_emulator.clock.until(operation)
        status, operation = ask("GET", f"{{parts.path}}/v1/operations/{{operation['id']}}")
        assert (status, operation["state"]) == (200, "succeeded")
    finally:
        connection.close()
"""
#: Does not use the plugin. Its memory grows by pytest's own reports and finalizers, some 3 kB a test.
PLAIN = """
import pytest


@pytest.fixture(scope="session")
def of_session():
    yield


@pytest.fixture
def of_test(of_session):
    yield


@pytest.mark.parametrize("n", range({tests}))
def test_it(of_test, n):
    pass
"""


def write(folder: Path, tests: str = MANY.format(tests=TESTS)) -> None:
    """Write the suite, in which each test has a fresh world and sends three requests."""
    (folder / "conftest.py").write_text(CONFTEST, encoding="utf-8")
    (folder / "test_many.py").write_text(tests, encoding="utf-8")


def run(folder: Path, *arguments: str, cold: bool = True) -> list[dict[str, dict[str, float]]]:
    """Run the suite to its end; return the measurements of each process that ran tests.

    `memory` is the bytes after each hundred tests, `took` the median seconds of each test function.
    A run that is not `cold` comes from the warm interpreter.
    """
    for old in folder.glob("watched-*.json"):
        old.unlink()
    plugins = ["-p", "hosting_emulator", "-p", "no:cacheprovider"]
    plain = ["-q", "-c", os.devnull, "--rootdir", "."]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    result = warm.run(
        [sys.executable, "-m", "pytest", *plain, *plugins, *arguments, "test_many.py"],
        cwd=folder,
        env={**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cold=cold,
        timeout=600,
    )
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    return [json.loads(path.read_bytes()) for path in sorted(folder.glob("watched-*.json"))]
