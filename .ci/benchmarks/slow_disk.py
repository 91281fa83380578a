"""Starts the emulator with a slower fsync: `slow_disk.py MILLISECONDS start …`."""

from __future__ import annotations

import os
import sys
import time


def main() -> None:
    added_s = float(sys.argv.pop(1)) / 1000
    real = os.fsync

    def slow(descriptor: int) -> None:
        real(descriptor)
        time.sleep(added_s)

    os.fsync = slow  # type: ignore[assignment]
    from hosting_emulator_cli.main import main as command

    command()


if __name__ == "__main__":
    main()
