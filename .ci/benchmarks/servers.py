"""The two servers that are compared. Each runs in a separate process on one core."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

_BARE = Path(__file__).with_name("bare.py")
_EMULATOR = ("-m", "hosting_emulator_cli")


def cores() -> tuple[int | None, int | None]:
    """Return a core for the server and a core for the load.

    Both are None if the platform cannot pin processes to cores, or if there is only one core.
    """
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    found = sorted(os.sched_getaffinity(0))
    return (found[0], found[1]) if len(found) > 1 else (None, None)


def pinned(command: list[str], core: int | None) -> list[str]:
    """Return the command, pinned to a core unless `core` is None."""
    return command if core is None else ["taskset", "--cpu-list", str(core), *command]


def variables() -> dict[str, str]:
    """Return the environment of a measured process, which lets Python keep compiled files as usual."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def emulator_command(*options: str, python: Sequence[str] = _EMULATOR) -> list[str]:
    """Return the command that starts an emulator. `python` contains the interpreter's arguments."""
    return [sys.executable, *python, "start", *options]


@contextmanager
def emulator(
    folder: Path, core: int | None, *options: str, python: Sequence[str] = _EMULATOR
) -> Iterator[dict[str, Any]]:
    """Run an emulator that stores its state in `folder`, and yield the content of its ready file."""
    ready = folder / "ready.json"
    arguments = ["--port", "0", "--quiet", "--ready-file", str(ready)]
    arguments += ["--data-dir", str(folder / "state"), *options]
    command = emulator_command(*arguments, python=python)
    process = subprocess.Popen(pinned(command, core), env=variables())
    try:
        while not ready.exists():
            assert process.poll() is None, "the emulator did not start"
            time.sleep(0.01)
        yield json.loads(ready.read_text(encoding="utf-8"))
    finally:
        process.terminate()
        process.wait()


def port_of(ready: dict[str, Any]) -> int:
    """Return the port on which an emulator listens."""
    port = urlsplit(ready["base_url"]).port
    assert port is not None
    return port


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process, in MB of 1,000,000 bytes."""
    statm = Path(f"/proc/{pid}/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
    asked = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(pid)], capture_output=True, text=True, check=True
    )
    return int(asked.stdout) * 1024 / 1e6


def used_cpu_s(pid: int) -> float:
    """Return the processor time that a process has used, in seconds. Works only on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def bare(order: dict[str, Any], core: int | None) -> Iterator[int]:
    """Run the bare aiohttp server, which always returns the same response, and yield its port."""
    process = subprocess.Popen(
        pinned([sys.executable, str(_BARE)], core),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        yield int(process.stdout.readline())
    finally:
        process.terminate()
        process.wait()
        process.stdin.close()
        process.stdout.close()
