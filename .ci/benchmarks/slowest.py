"""Shows the slowest parts of a call with cProfile: `python -m benchmarks.slowest CALL`.

First it profiles the call in the core without sockets, and then (without `--core`) the whole server
under load. A profiler makes short functions look slower than they are, so use the profile only to
choose what to change, and then measure with `bench --only calls`.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
from pathlib import Path

from benchmarks.asked import requests
from benchmarks.core import Core
from benchmarks.load import load
from benchmarks.servers import cores, emulator, port_of

_BLOCKS = 50
_CALLS = [call for call, _ in Core(100).cases()]


def of_core(call: str) -> pstats.Stats:
    """Return the profile of a call in the core, in a world with 100 deployments."""
    case = dict(Core(100).cases())[call]
    case.block()
    profile = cProfile.Profile()
    profile.enable()
    for _ in range(_BLOCKS):
        case.block()
    profile.disable()
    return pstats.Stats(profile)


def of_server(call: str, seconds: float) -> pstats.Stats:
    """Return the profile of a server from start to exit, with load for `seconds`."""
    server, client = cores()
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "profile"
        python = ("-m", "cProfile", "-o", str(found), "-m", "hosting_emulator_cli")
        with emulator(Path(folder), server, python=python) as ready:
            load(port_of(ready), [dict(requests(ready))[call]], seconds, client)
        return pstats.Stats(str(found))


def main() -> None:
    parser = argparse.ArgumentParser(description="Show what is slowest in a call.")
    parser.add_argument("call", choices=_CALLS)
    parser.add_argument("--lines", type=int, default=25, help="how many functions are shown")
    parser.add_argument("--seconds", type=float, default=5, help="how long the server is loaded")
    parser.add_argument("--core", action="store_true", help="the core only")
    parser.add_argument("--cumulative", action="store_true", help="with what a function calls")
    options = parser.parse_args()
    order = "cumulative" if options.cumulative else "tottime"
    print(f"{options.call} in the core")
    of_core(options.call).strip_dirs().sort_stats(order).print_stats(options.lines)
    if not options.core:
        print(f"{options.call}, the whole server under load")
        of_server(options.call, options.seconds).strip_dirs().sort_stats(order).print_stats(
            options.lines
        )


if __name__ == "__main__":
    main()
