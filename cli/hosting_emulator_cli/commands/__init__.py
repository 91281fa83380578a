"""The commands, with one file for each command or group.

Heavy imports are inside functions, so that each command starts fast.
"""
