"""Runs the command as `python -m hosting_emulator`, even if its folder is not on the PATH."""

from __future__ import annotations

from importlib.metadata import entry_points

if __name__ == "__main__":
    (command,) = entry_points(group="console_scripts", name="hosting-emulator")
    command.load()()
