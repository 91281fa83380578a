"""The page's limits: at 5,000 requests per minute, neither the page nor the emulator is slowed down.

`make test` never runs these tests, because they need a quiet machine. `make pytest ARGS='-n 0 -m
benchmark -k page'` runs them.
"""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import pytest

from benchmarks.judging import judge
from benchmarks.report import Figure
from benchmarks.servers import emulator, used_cpu_s
from tests.browser.chromium import Chromium, program
from tests.browser.page import Page

pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.skipif(program() is None, reason="chromium is not installed"),
    pytest.mark.skipif(
        not Path("/proc/self/stat").exists(), reason="only Linux shows processor time in /proc"
    ),
]

RATE_A_MINUTE = 5000
SECONDS = 20.0
ROUNDS = 3
MOST_TASK_MS = 100
#: The share of one core that an open page may cost the emulator.
MOST_LOSS = 0.05
MOST_GROWTH = 1.1
MOST_ROWS = 500
ROWS = "document.querySelectorAll('[aria-label^=\"Requests, newest\"] > li').length"
#: The durations in ms of the page's long tasks. The browser reports tasks of more than 50 ms.
WATCH = """(() => {
  window.longTasks = [];
  new PerformanceObserver(found => longTasks.push(...found.getEntries().map(one => one.duration)))
    .observe({type: "longtask"});
})()"""


class Client:
    """Sends requests one after the other, either at a steady rate or as fast as possible."""

    def __init__(self, ready: dict[str, Any]) -> None:
        self._path = f"/v1/projects/{ready['project_id']}/deployments?limit=20"
        self._headers = {"Authorization": f"Bearer {ready['token']}"}
        self._host = urlsplit(ready["base_url"]).netloc
        self._pid = ready["pid"]

    def storm(self, seconds: float) -> float:
        """Send requests at a steady rate, and return the share of one core that the emulator used."""
        pause, began, used = 60 / RATE_A_MINUTE, time.perf_counter(), used_cpu_s(self._pid)
        with self._connection() as ask:
            for number in range(round(seconds / pause)):
                time.sleep(max(0.0, began + number * pause - time.perf_counter()))
                ask()
        return (used_cpu_s(self._pid) - used) / (time.perf_counter() - began)

    def flat_out(self, seconds: float) -> float:
        """Send requests as fast as possible, and return the number of responses per second."""
        began, count = time.perf_counter(), 0
        with self._connection() as ask:
            while time.perf_counter() - began < seconds:
                ask()
                count += 1
        return count / (time.perf_counter() - began)

    @contextmanager
    def _connection(self) -> Iterator[Callable[[], None]]:
        connection = http.client.HTTPConnection(self._host)

        def ask() -> None:
            connection.request("GET", self._path, headers=self._headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200

        yield ask
        connection.close()


def test_page_watches_a_storm(capsys: pytest.CaptureFixture[str]):
    alone, watched, longest, heaps, rows, rates = [], [], [], [], [], []
    with (
        tempfile.TemporaryDirectory() as folder,
        emulator(Path(folder), None) as ready,
        Chromium(program() or "", Path(folder) / "browser") as chromium,
    ):
        client = Client(ready)
        client.storm(5)
        for _ in range(ROUNDS):
            alone.append(client.storm(SECONDS))
            without = client.flat_out(5)
            with open_page(chromium, ready) as page:
                client.storm(10)
                heaps.append([_heap_mb(page)])
                page.evaluate(WATCH)
                watched.append(client.storm(SECONDS))
                longest.append(max([0.0, *page.evaluate("longTasks")]))
                heaps[-1].append(_heap_mb(page))
                rows.append(page.evaluate(ROWS))
                rates.append((client.flat_out(5), without))
    loss = median(watched) - median(alone)
    growth = median(after / before for before, after in heaps)
    figures = [
        Figure(
            what="the page's longest task at 5,000 requests a minute (ms)",
            ours=f"{median(longest):.0f} ms (0: none above 50)",
            theirs=f"{MOST_TASK_MS} ms",
            ratio=median(longest),
            bar=MOST_TASK_MS,
            at_most=True,
        ),
        Figure(
            what="share of a core that an open page costs the emulator meanwhile",
            ours=f"{median(watched):.3f}",
            theirs=f"{median(alone):.3f} without",
            ratio=loss,
            bar=MOST_LOSS,
            at_most=True,
        ),
        Figure(
            what="requests a second on one connection, a page open (browser on the same cores)",
            ours=f"{median(ours for ours, _ in rates):,.0f}/s",
            theirs=f"{median(theirs for _, theirs in rates):,.0f}/s without",
            ratio=median(ours / theirs for ours, theirs in rates),
        ),
        Figure(
            what="the page's memory after 1,667 more requests",
            ours=f"{median(after for _, after in heaps):.1f} MB",
            theirs=f"{median(before for before, _ in heaps):.1f} MB",
            ratio=growth,
            bar=MOST_GROWTH,
            at_most=True,
        ),
    ]
    judge(capsys, figures)
    assert max(rows) <= MOST_ROWS


@contextmanager
def open_page(chromium: Chromium, ready: dict[str, Any]) -> Iterator[Page]:
    """Open the live list of requests."""
    with chromium.page(f"{ready['control_url']}#/requests") as page:
        page.find("heading", "Requests")
        page.wait(f"{ROWS} > 0")
        yield page


def _heap_mb(page: Page) -> float:
    page.ask("HeapProfiler.collectGarbage")
    used: float = page.ask("Runtime.getHeapUsage")["usedSize"]
    return used / 1e6
