"""The main benchmark: `make bench`, or `make bench ARGS=--quick`.

Prints one table to stdout. The full benchmark, which takes about ten minutes, also writes the table
and a chart to docs/maintainers. The exit code is 1 if a figure misses its limit. The benchmark
needs an otherwise idle machine with at least two cores (one for the server, one for the load) and
2 GB of memory.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from datetime import UTC, datetime

from benchmarks import (
    durability,
    growth,
    history,
    memory,
    page,
    startup,
    throughput,
    worlds,
)
from benchmarks.machine import busy, machine
from benchmarks.report import Figure, render

#: For each part of the table, the full and the quick measurement.
PARTS: dict[str, tuple[Callable[[], list[Figure]], Callable[[], list[Figure]]]] = {
    throughput.PART: (lambda: throughput.measure(7, 2), lambda: throughput.measure(1, 1)),
    durability.PART: (lambda: durability.measure(3, 3), lambda: durability.measure(1, 1)),
    growth.PART: (lambda: growth.measure(60), lambda: growth.measure(10, growth.QUICK_SIZES)),
    worlds.PART: (lambda: worlds.measure(200), lambda: worlds.measure(30)),
    startup.PART: (lambda: startup.measure(11), lambda: startup.measure(3)),
    memory.PART: (memory.measure, lambda: memory.measure(memory.QUICK_COUNT)),
    history.PART: (lambda: history.measure(3), lambda: history.measure(1)),
}


def measure(*, quick: bool = False, only: str = "") -> list[Figure]:
    """Return all figures, or only those of one part. Print the name of each part to stderr."""
    figures: list[Figure] = []
    for part, forms in PARTS.items():
        if only in ("", part):
            print(f"measuring {part}, load average {busy()} …", file=sys.stderr, flush=True)
            figures += forms[quick]()
    return figures


def main() -> int:
    """Measure, print the table, and return the exit code."""
    parser = argparse.ArgumentParser(description="Check the emulator's speed against its limits.")
    parser.add_argument(
        "--quick", action="store_true", help="take only a minute or two, and write no files"
    )
    parser.add_argument(
        "--only", choices=PARTS, default="", help="measure only this part, and write no files"
    )
    options = parser.parse_args()
    day, before = datetime.now(UTC).date(), busy()
    figures = measure(quick=options.quick, only=options.only)
    heading = f"Measured {day} on {machine()} Load average {before} before, {busy()} after."
    print(heading, render(figures), sep="\n\n")
    if not options.quick and not options.only:
        page.write(figures, heading)
        print(f"\nWrote {page.PAGE} and {page.PICTURE}.")
    return 0 if all(figure.holds for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
