"""`python -m hosting_emulator`: the command `hosting-emulator`, for when its folder is not on the path."""

from __future__ import annotations

from importlib.metadata import entry_points

if __name__ == "__main__":
    (command,) = entry_points(group="console_scripts", name="hosting-emulator")
    command.load()()
