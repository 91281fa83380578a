"""Measures how long each part of a request takes: `python -m benchmarks.request_parts`.

Requests are passed directly to the server's protocol, and responses are read from it, so the time
of the kernel and of a client is not included. The first server is a bare aiohttp handler, the second
is the emulator with its journal, and the third is the emulator with a stopwatch around each part of
the handling. The result is the lowest cost of many rounds.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import web

from hosting_emulator.bootstrap import Emulator
from hosting_emulator.engine import engine as live
from hosting_emulator.engine.pipeline import CALL_STEPS
from hosting_emulator.http import public_api
from hosting_emulator.http.server import Server
from hosting_emulator.settings import Settings
from hosting_emulator.world.value import apply

_REQUESTS, _ROUNDS = 1000, 15
Feed = Callable[[], bytes]


class Loopback(asyncio.Transport):
    """Passes requests to a protocol. Each request waits for the response to the previous one."""

    def __init__(self, feed: Feed) -> None:
        super().__init__({"peername": ("127.0.0.1", 5), "sockname": ("127.0.0.1", 6)})
        self._loop, self._feed, self._left = asyncio.get_running_loop(), feed, 0
        self.protocol: Any = None
        self.answer = b""
        self.done: asyncio.Future[None] = self._loop.create_future()

    def ask(self, count: int) -> asyncio.Future[None]:
        self._left, self.done = count, self._loop.create_future()
        self._loop.call_soon(self._next)
        return self.done

    def _next(self) -> None:
        self.protocol.data_received(self._feed())

    def write(self, data: Any) -> None:
        self.answer = bytes(data)
        self._left -= 1
        if self._left:
            self._loop.call_soon(self._next)
        elif not self.done.done():
            self.done.set_result(None)

    def is_closing(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        protocol, self.protocol = self.protocol, None
        if protocol is not None:
            protocol.connection_lost(None)


async def cost_us(factory: Callable[[], Any], feed: Feed) -> tuple[float, bytes]:
    """Return the cost of one request to a server, in microseconds, and the final response."""
    transport, protocol, costs = Loopback(feed), factory(), []
    transport.protocol = protocol
    protocol.connection_made(transport)
    for _ in range(_ROUNDS):
        began = time.process_time()
        await transport.ask(_REQUESTS)
        costs.append((time.process_time() - began) / _REQUESTS * 1e6)
    transport.close()
    return min(costs), transport.answer


class Stopwatch:
    """Adds up the time spent in each wrapped function, without the wrapped functions that it calls."""

    def __init__(self) -> None:
        self.ns: dict[str, int] = {}
        self._inside = [0]

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            self._inside.append(0)
            began = time.thread_time_ns()
            try:
                return function(*args, **options)
            finally:
                took = time.thread_time_ns() - began
                self.ns[name] = self.ns.get(name, 0) + took - self._inside.pop()
                self._inside[-1] += took

        return timed


def requests(ready: Any) -> dict[str, Feed]:
    """Return, for each call, a function that writes a request."""
    numbers = itertools.count()
    head = f"Host: 127.0.0.1\r\nAuthorization: Bearer {ready.token}\r\nAccept: */*\r\n"
    project = f"/v1/projects/{ready.project_id}"

    def text(method: str, path: str, body: str | None) -> bytes:
        more = ""
        if body is not None:
            more = f"Idempotency-Key: k{next(numbers)}\r\nContent-Length: {len(body)}\r\n"
            more += "Content-Type: application/json\r\n" if body else ""
        return f"{method} {path} HTTP/1.1\r\n{head}{more}\r\n{body or ''}".encode()

    keys = f"/v1/organizations/{ready.organization_id}/user-api-keys"
    source = '{"expected_source_generation":1}'
    return {
        "flag": partial(text, "PUT", f"{project}/powered-by-flag", '{"enabled":true}'),
        "initialize": partial(text, "POST", f"{project}/source:initialize", source),
        "key": partial(text, "POST", keys, '{"name":"ci"}'),
        "domains": partial(text, "PUT", f"{project}/domains", ""),
        "ticket": partial(text, "POST", f"{project}/dev-access-tickets", ""),
        "read": partial(text, "GET", f"{project}/edge-dns", None),
    }


async def measured(name: str, folder: Path) -> dict[str, float]:
    """Return the costs of a call: in the bare handler, in the emulator, and in each part of it."""
    emulator = Emulator(Settings(port=0, data_dir=folder / name, clock="frozen"))
    await emulator.start()
    gc.collect()  # the previous server is no longer used
    server = next(one for one in gc.get_objects() if isinstance(one, Server))
    feed = requests(emulator.ready())[name]
    whole, answer = await cost_us(server, feed)
    status, (_, body) = int(answer[9:12]), answer.split(b"\r\n\r\n", 1)
    assert status < 300, answer
    watch = Stopwatch()
    vars(public_api)["CALL_STEPS"] = [watch.around(step.__name__, step) for step in CALL_STEPS]
    vars(live)["apply"] = watch.around("tables", apply)
    engine = emulator.worlds.get("default")
    assert engine is not None
    engine.keeper.append = watch.around("journal", engine.keeper.append)  # type: ignore[method-assign]
    engine.log.record = watch.around("log", engine.log.record)  # type: ignore[method-assign]
    watched, _ = await cost_us(server, feed)
    del engine, server
    await emulator.stop()
    gc.collect()

    async def same(_: web.BaseRequest) -> web.Response:
        return web.Response(status=status, body=body, content_type="application/json")

    app = web.Application()
    method, path, _ = feed().decode().split(" ", 2)
    app.router.add_route(method, path, same)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    assert runner.server is not None
    bare, _ = await cost_us(runner.server, feed)
    await runner.cleanup()
    count = _REQUESTS * _ROUNDS
    parts = {part: ns / 1000 / count for part, ns in watch.ns.items()}
    core = sum(parts.values())
    return {"bare": bare, "whole": whole, "server": watched - core, **parts, "watched": watched}


def main() -> None:
    names = ["read", "flag", "ticket", "key", "domains", "initialize"]
    with tempfile.TemporaryDirectory() as folder:
        found = {name: asyncio.run(measured(name, Path(folder))) for name in names}
    rows = list(dict.fromkeys(part for costs in found.values() for part in costs))
    print("| µs | " + " | ".join(names) + " |")
    print("|---|" + "---:|" * len(names))
    for row in rows:
        cells = (found[name].get(row) for name in names)
        print(f"| {row} | " + " | ".join("" if c is None else f"{c:.1f}" for c in cells) + " |")


if __name__ == "__main__":
    main()
