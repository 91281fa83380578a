"""The dashboard under load: it stays bounded and still, and leaves nothing behind in the server.

Its speed is measured by .ci/benchmarks/test_page_load.py, which needs a quiet machine.
"""

from __future__ import annotations

import gc
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.browser.chromium import Chromium
from tests.browser.page import Page
from tests.support.counted_emulator import (
    PATIENCE_S,
    CountedEmulator,
    counted_emulator,
    limit_stored_entries,
)
from tests.support.held_connections import OPEN_DESCRIPTORS, held_connections
from tests.support.http_world import HttpWorld

#: The size of the request log and of the event ring here, so that a short storm fills them.
KEPT_COUNT = 250
STORM = 400
#: A query that makes the event of a request seven kilobytes long.
LONG = f"?more={'x' * 7000}"
FIRST_ROWS = 200
MOST_ROWS = 500
ROWS = "document.querySelectorAll('[aria-label^=\"Requests, newest\"] > li')"
NEWEST = f"Number({ROWS}[0]?.querySelector('.n').textContent)"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[CountedEmulator]:
    limit_stored_entries(monkeypatch, KEPT_COUNT)
    with counted_emulator() as running:
        yield running


def wait_until(description: str, is_true: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < end, description
        time.sleep(0.02)  # real time: another thread does it


def test_the_request_list_holds_still_and_stays_bounded_under_load(
    chromium: Chromium, api: HttpWorld, panel: Callable[[str], str]
):
    api.dns()
    with chromium.page(panel("requests")) as page:
        page.wait(f"{NEWEST} === 1")
        top = f"{ROWS}[0].getBoundingClientRect()"
        at = page.evaluate(f"({{x: {top}.x + 40, y: {top}.y + 10}})")
        page.ask("Input.dispatchMouseEvent", type="mouseMoved", **at)
        for _ in range(20):
            api.dns()

        page.find("button", "20 new")
        assert page.evaluate(f"{NEWEST}") == 1
        assert page.evaluate(f"({{x: {top}.x + 40, y: {top}.y + 10}})") == at

        page.point_away()
        page.wait(f"{NEWEST} === 21")
        for _ in range(MOST_ROWS):
            api.dns()
        page.wait(f"{NEWEST} === {21 + MOST_ROWS}")
        assert page.evaluate(f"{ROWS}.length") == MOST_ROWS


@pytest.mark.slow
@pytest.mark.skipif(not OPEN_DESCRIPTORS.exists(), reason="only Linux tells")
@pytest.mark.parametrize("count", [2, pytest.param(10, marks=pytest.mark.torture)])
def test_pages_under_load_leave_nothing_behind_in_the_server(
    chromium: Chromium, server: CountedEmulator, count: int
):
    chromium.visit(f"{server.ready.control_url}#/requests")  # loads everything that is loaded once
    server.send_reads(STORM)
    wait_until("connections stay", lambda: held_connections(server.address[1]) == 0)
    before = server.tasks()
    gc.collect()
    blocks = sys.getallocatedblocks()

    with socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(server.address)
        deaf.sendall(
            b"GET /_emulator/worlds/default/events HTTP/1.1\r\n"
            + f"Host: {server.host}\r\n\r\n".encode()
        )
        _pages(chromium, server, count)
        wait_until("the pages are not let go", lambda: server.listeners <= 1)
        server.send_reads(
            2 * STORM, LONG
        )  # no buffer holds this much, so the server notices the deaf connection
        wait_until("the deaf one is not let go", lambda: server.listeners == 0)

    wait_until("tasks stay", lambda: server.tasks() <= before)
    wait_until("connections stay", lambda: held_connections(server.address[1]) == 0)
    gc.collect()
    assert sys.getallocatedblocks() <= blocks * 1.02


def _pages(chromium: Chromium, server: CountedEmulator, count: int) -> None:
    url = f"{server.ready.control_url}#/requests"
    with ExitStack() as stack:
        pages = [stack.enter_context(chromium.page(url)) for _ in range(count)]
        for page in pages:
            page.wait(f"{NEWEST} === {server.sent}")
        # A page shows the newest request before its event stream is open.
        wait_until("a page does not listen", lambda: server.listeners == count + 1)
        frozen = pages[-1]
        frozen.ask("Page.setWebLifecycleState", state="frozen")
        server.send_reads(STORM)
        for page in pages[:-1]:
            _assert_shows_all(page, server)
        frozen.ask("Page.setWebLifecycleState", state="active")
        _assert_shows_all(frozen, server)


def _assert_shows_all(page: Page, server: CountedEmulator) -> None:
    page.wait(f"{NEWEST} === {server.sent}")
    # A page that fell behind has reloaded as many rows as it had.
    assert FIRST_ROWS <= page.evaluate(f"{ROWS}.length") <= MOST_ROWS
