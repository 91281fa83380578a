"""A local emulator of the Project Hosting Control API.

This module contains only constants. The module must not import anything, so that `--help` stays
fast.
"""

__version__ = "0.1.0"
#: The default seed of worlds. The ids in the documentation come from this seed.
DEFAULT_SEED = "hosting-emulator"
#: The default port.
DEFAULT_PORT = 4620
#: The name of the default world. The hosts of the default world are directly in the DNS zones of
#: the assumptions. Every other world puts its name in front of these zones.
DEFAULT_WORLD = "default"
#: The environment variable that tells a command run by `hosting-emulator exec` which emulator
#: judges it.
EXEC_URL_VARIABLE = "HOSTING_EMULATOR_EXEC_URL"
#: The environment variable that makes a nested `exec` judge as strictly as the outer `exec`.
EXEC_CONDUCT_VARIABLE = "HOSTING_EMULATOR_EXEC_CONDUCT"
