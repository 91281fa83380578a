"""Describes the machine that runs a benchmark, because figures mean nothing without it."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from benchmarks.load import tool
from hosting_emulator import __version__


def machine() -> str:
    """Return one sentence with the processor, cores, operating system and package versions."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("aiohttp", "msgspec", "rpds-py"))
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}, "
        f"{platform.python_implementation()} {platform.python_version()}, {packages}, "
        f"hosting-emulator {__version__}; load made by {tool()}."
    )


def busy() -> str:
    """Return the load average over the last minute."""
    if not hasattr(os, "getloadavg"):
        return "unknown"
    return f"{os.getloadavg()[0]:.1f}"


def _processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return platform.processor() or platform.machine()
