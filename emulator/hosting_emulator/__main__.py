"""Runs the command `hosting-emulator` as `python -m hosting_emulator`, without its folder on the PATH."""

from __future__ import annotations

from importlib.metadata import entry_points

if __name__ == "__main__":
    (command,) = entry_points(group="console_scripts", name="hosting-emulator")
    command.load()()
