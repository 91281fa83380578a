"""The `hosting-emulator` command: a thin client of the control API, plus `start`."""
