"""A local emulator of the Project Hosting Control API.

This module contains only constants. It must not import anything, so that `--help` stays fast.
"""

__version__ = "0.1.0"
#: The default seed of worlds. It generates the ids in the documentation.
DEFAULT_SEED = "hosting-emulator"
#: The default port.
DEFAULT_PORT = 4620
#: The world whose hosts are directly in the zones. Other worlds add their name as a prefix.
DEFAULT_WORLD = "default"
#: The variable that tells the command of `hosting-emulator exec` which emulator judges it.
EXEC_URL_VARIABLE = "HOSTING_EMULATOR_EXEC_URL"
#: The variable that makes a nested `exec` judge as strictly as the outer `exec`.
EXEC_CONDUCT_VARIABLE = "HOSTING_EMULATOR_EXEC_CONDUCT"
