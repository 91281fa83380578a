"""A local emulator of the Project Hosting Control API.

Holds the version only; it must import nothing, so that `--help` stays fast.
"""

__version__ = "0.1.0"
