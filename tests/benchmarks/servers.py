"""The two servers that are compared, each a process of its own on one core."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_BARE = Path(__file__).with_name("bare.py")


def cores() -> tuple[int | None, int | None]:
    """Return a core for the server and one for the load; None where they cannot be chosen."""
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    found = sorted(os.sched_getaffinity(0))
    return (found[0], found[1]) if len(found) > 1 else (None, None)


def pinned(command: list[str], core: int | None) -> list[str]:
    """Return a command that runs on one core only."""
    return command if core is None else ["taskset", "--cpu-list", str(core), *command]


def free_port() -> int:
    """Return a port that nobody listens on just now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


def variables() -> dict[str, str]:
    """Return the environment of a measured process: compiled code is kept, as an install keeps it."""
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def emulator_command(*options: str) -> list[str]:
    """Return what starts an emulator, as the installed command does."""
    return [sys.executable, "-m", "hosting_emulator_cli", "start", *options]


@contextmanager
def emulator(folder: Path, core: int | None, *options: str) -> Iterator[dict[str, Any]]:
    """Run an emulator that keeps its state in `folder`; yields what it says when it is ready."""
    ready = folder / "ready.json"
    command = emulator_command("--port", "0", "--quiet", "--ready-file", str(ready))
    command += ["--data-dir", str(folder / "state"), *options]
    process = subprocess.Popen(pinned(command, core), env=variables())
    try:
        while not ready.exists():
            assert process.poll() is None, "the emulator did not start"
            time.sleep(0.01)
        yield json.loads(ready.read_text(encoding="utf-8"))
    finally:
        process.terminate()
        process.wait()


@contextmanager
def bare(order: dict[str, Any], core: int | None) -> Iterator[int]:
    """Run a bare aiohttp server that gives one answer; yields its port."""
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
