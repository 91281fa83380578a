"""The control API under `/_emulator`: one file for each resource."""
