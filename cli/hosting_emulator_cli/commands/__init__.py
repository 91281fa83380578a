"""The commands, one file for each command or group; heavy imports stay inside their functions."""
