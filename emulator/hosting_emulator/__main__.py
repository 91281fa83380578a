"""Runs the CLI as `python -m hosting_emulator`, which works even if the command is not on the PATH."""

from __future__ import annotations

from importlib.metadata import entry_points

if __name__ == "__main__":
    (command,) = entry_points(group="console_scripts", name="hosting-emulator")
    command.load()()
