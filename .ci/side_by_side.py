"""Runs make targets at the same time, so that all processors stay busy.

    side_by_side.py MAKE TARGET... WATCHED

The output of each TARGET is printed when the target ends. The output of WATCHED, which should be the
target that takes longest, is printed line by line. If a target fails, the exit code is 1, and the
last line lists the failed targets.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Sequence


def main(make: str, targets: Sequence[str]) -> int:
    """Run the targets, print their output, and return the exit code."""
    running = {target: _start(make, target) for target in targets}
    *quiet, watched = targets
    printing = threading.Lock()
    waiting = [
        threading.Thread(target=_print_at_end, args=(target, running[target], printing))
        for target in quiet
    ]
    try:
        for thread in waiting:
            thread.start()
        for line in running[watched].stdout or ():
            with printing:
                print(line, end="", flush=True)
        for thread in waiting:
            thread.join()
    except KeyboardInterrupt:  # The terminal sends the signal to the targets, too.
        pass
    failed = [target for target, process in running.items() if process.wait() != 0]
    print(f"\nfailed: {', '.join(failed)}" if failed else f"\nall passed: {', '.join(targets)}")
    return 1 if failed else 0


def _start(make: str, target: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [make, "--no-print-directory", target],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="backslashreplace",
    )


def _print_at_end(target: str, process: subprocess.Popen[str], printing: threading.Lock) -> None:
    text = process.communicate()[0]
    with printing:
        print(f"\n== {target}\n{text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
