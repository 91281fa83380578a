"""The time from the command's start to the first 200 response, compared with two slow imports."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.report import Figure
from benchmarks.servers import emulator, emulator_command, variables

PART = "start-up"
BAR = 1.5
_IMPORTS = "import aiohttp.web, pydantic"


def measure(rounds: int) -> list[Figure]:
    """Return the figure, with the medians of `rounds` alternating starts and imports."""
    ours, theirs = [], []
    request = _first_request()
    # The first start and the first import do not count, because they fill the disk cache.
    _start_s(request)
    _import_s()
    for _ in range(rounds):
        ours.append(_start_s(request))
        theirs.append(_import_s())
    figure = Figure(
        what="start to the first 200 (a page of deployments)",
        ours=f"{median(ours) * 1000:.0f} ms",
        theirs=f"{median(theirs) * 1000:.0f} ms to import aiohttp and pydantic",
        ratio=median(ours) / median(theirs),
        bar=BAR,
        at_most=True,
        part=PART,
    )
    return [figure]


def _first_request() -> bytes:
    """Return a request with a token that is valid in every emulator with the same seed."""
    with tempfile.TemporaryDirectory() as folder, emulator(Path(folder), None) as ready:
        return (
            f"GET /v1/projects/{ready['project_id']}/deployments HTTP/1.1\r\nHost: localhost\r\n"
            f"Authorization: Bearer {ready['token']}\r\n\r\n"
        ).encode()


def _free_port() -> int:
    """Return a port on which no process is listening."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def _start_s(request: bytes) -> float:
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = emulator_command("--quiet", "--port", str(port), "--data-dir", folder)
        began = time.perf_counter()
        process = subprocess.Popen(command, env=variables())
        try:
            while not _answered(port, request):
                assert process.poll() is None, "the emulator did not start"
                time.sleep(0.001)
            return time.perf_counter() - began
        finally:
            process.terminate()
            process.wait()


def _answered(port: int, request: bytes) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port)) as connection:
            connection.sendall(request)
            answer = connection.recv(4096)
    except ConnectionError:
        return False
    assert answer.startswith(b"HTTP/1.1 200 "), answer
    return True


def _import_s() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", _IMPORTS], env=variables(), check=True)
    return time.perf_counter() - began
