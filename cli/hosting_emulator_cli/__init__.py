"""The `hosting-emulator` command, which is mostly a thin client of the control API."""
