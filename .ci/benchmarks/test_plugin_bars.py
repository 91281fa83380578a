"""The pytest plugin's limits: many tests, a fresh world for each test, and runs that do not use it.

`make bench` runs these tests alone. `make test` never runs them, because they need a quiet machine.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from statistics import median

import pytest

from benchmarks.judging import judge
from benchmarks.report import Figure
from tests.plugin import thousand_tests as many

pytestmark = pytest.mark.benchmark

MOST_SECONDS = 15
MOST_GROWTH_MB = 5
MOST_WORLD_MS = 2.5
MOST_IDLE_MS = 5
ROUNDS = 25

FRESH = """
import asyncio

import pytest


@pytest.fixture
def nothing():
    yield


@pytest.fixture
def aiohttp_server():
    from aiohttp import web
    from aiohttp.test_utils import TestServer

    async def answer(request):
        return web.Response()

    async def start():
        app = web.Application()
        app.router.add_get("/", answer)
        server = TestServer(app)
        await server.start_server()
        return server

    with asyncio.Runner() as runner:
        server = runner.run(start())
        yield server
        runner.run(server.close())


@pytest.mark.parametrize("n", range(300))
def test_nothing(nothing, n):
    pass


@pytest.mark.parametrize("n", range(300))
def test_world(hosting_emulator, n):
    pass


@pytest.mark.parametrize("n", range(300))
def test_aiohttp(aiohttp_server, n):
    pass
"""
MOTO = """

@pytest.fixture(scope="session")
def moto_server():
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    yield server.get_host_and_port()
    server.stop()


@pytest.fixture
def moto(moto_server):
    import http.client

    yield
    connection = http.client.HTTPConnection(*moto_server)
    connection.request("POST", "/moto-api/reset")
    connection.getresponse().read()
    connection.close()


@pytest.mark.parametrize("n", range(300))
def test_moto(moto, n):
    pass
"""


def test_thousand_tests(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Run a thousand tests of three requests each, in one process and under xdist.

    The run under xdist must not be slower.
    """
    many.write(tmp_path)
    alone, together, growth = [], [], []
    for _ in range(3):
        began = time.perf_counter()
        (watched,) = many.run(tmp_path)
        alone.append(time.perf_counter() - began)
        growth.append(watched["memory"]["1000"] - watched["memory"]["100"])
        began = time.perf_counter()
        many.run(tmp_path, "-p", "xdist", "-n", "2")
        together.append(time.perf_counter() - began)
    seconds, both, grown = median(alone), median(together), median(growth) / 1024 / 1024
    figures = [
        Figure(
            what="1,000 tests of three requests, one process (seconds)",
            ours=f"{seconds:.1f} s",
            theirs=f"{MOST_SECONDS} s",
            ratio=seconds,
            bar=MOST_SECONDS,
            at_most=True,
        ),
        Figure(
            what="the same under xdist -n 2",
            ours=f"{both:.1f} s",
            theirs=f"{seconds:.1f} s alone",
            ratio=both / seconds,
            bar=1,
            at_most=True,
        ),
        Figure(
            what="memory from test 100 to test 1,000 (MB)",
            ours=f"{grown:.1f} MB",
            theirs=f"{MOST_GROWTH_MB} MB",
            ratio=grown,
            bar=MOST_GROWTH_MB,
            at_most=True,
        ),
    ]
    judge(capsys, figures)


def test_fresh_world(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Compare the time that a fresh world adds to an empty test with the time of other fixtures."""
    with_moto = importlib.util.find_spec("moto") is not None
    many.write(tmp_path, FRESH + (MOTO if with_moto else ""))

    (watched,) = many.run(tmp_path)

    took = {name: seconds * 1000 for name, seconds in watched["took"].items()}
    cost = {name: ms - took["test_nothing"] for name, ms in took.items()}
    others = {"test_aiohttp": "an aiohttp TestServer", "test_moto": "moto's reset"}
    ours = cost["test_world"]
    figures = [
        Figure(
            what="a fresh world for a test, set-up and tear-down (ms)",
            ours=f"{ours:.2f} ms",
            theirs=f"{MOST_WORLD_MS} ms",
            ratio=ours,
            bar=MOST_WORLD_MS,
            at_most=True,
        )
    ]
    figures += [
        Figure(
            what=f"the same beside {what}",
            ours=f"{ours:.2f} ms",
            theirs=f"{cost[name]:.2f} ms",
            ratio=ours / cost[name],
        )
        for name, what in others.items()
        if name in cost
    ]
    judge(capsys, figures)


def test_run_that_does_not_use_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    """Compare runs of an empty test with and without the plugin, with no other plugins loaded."""
    (tmp_path / "test_empty.py").write_text("def test_empty(): pass\n", encoding="utf-8")
    others = {entry.name for entry in entry_points(group="pytest11")} - {"hosting_emulator"}
    blocked = [word for name in sorted(others) for word in ("-p", f"no:{name}")]
    with_it, without = [], []
    _run_ms(tmp_path, *blocked)  # This run compiles the code, as an installation does.
    for _ in range(ROUNDS):
        with_it.append(_run_ms(tmp_path, *blocked))
        without.append(_run_ms(tmp_path, *blocked, "-p", "no:hosting_emulator"))
    # Compare consecutive runs, because the machine is about equally busy for both.
    added = median(ours - theirs for ours, theirs in zip(with_it, without, strict=True))
    figure = Figure(
        what="what the plugin adds to a run that does not use it (ms)",
        ours=f"{median(with_it):.0f} ms",
        theirs=f"{median(without):.0f} ms without",
        ratio=added,
        bar=MOST_IDLE_MS,
        at_most=True,
    )
    judge(capsys, [figure])


def _run_ms(folder: Path, *arguments: str) -> float:
    """Return the processor time of a run of pytest, which does not depend on other processes."""
    plain = ["-q", "-c", os.devnull, "--rootdir", ".", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = _children_s()
    subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *arguments, "test_empty.py"],
        cwd=folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    return (_children_s() - began) * 1000


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
