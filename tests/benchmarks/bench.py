"""The benchmark a user can run: `python -m tests.benchmarks.bench`, or `make bench`.

Prints one table to stdout and writes nothing else; the exit code is 1 when a bar is missed. It wants
a quiet machine with at least two cores: one for the server, one for the load.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys

from tests.benchmarks import scale, startup, throughput
from tests.benchmarks.load import CONNECTIONS, tool
from tests.benchmarks.report import Figure, render


def measure(*, rounds: int, seconds: float, only: str = "") -> list[Figure]:
    """Return every figure; `only` picks calls by a part of their name."""
    figures = throughput.measure(rounds, seconds, only)
    figures += scale.measure(max(40, rounds * 8), only)
    if not only:
        figures += startup.measure(max(7, rounds))
    return figures


def heading() -> str:
    """Return a line about the machine and the method; call it before measuring."""
    busy = f"load {os.getloadavg()[0]:.1f} before it began" if hasattr(os, "getloadavg") else ""
    return (
        f"Python {platform.python_version()}, {os.cpu_count()} cores, {busy}: server on one core, "
        f"{tool()} with {CONNECTIONS} connections on another; medians."
    )


def main() -> int:
    """Measure, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description="Measure the emulator's speed against its bars.")
    parser.add_argument("--rounds", type=int, default=5, help="how often each pair is measured")
    parser.add_argument("--seconds", type=float, default=2, help="how long each measurement takes")
    parser.add_argument("--only", default="", help="only calls whose name holds this text")
    options = parser.parse_args()
    first_line = heading()
    figures = measure(rounds=options.rounds, seconds=options.seconds, only=options.only)
    print(first_line, render(figures), sep="\n\n")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
