"""The control API below `/_emulator`: one file for each resource."""
