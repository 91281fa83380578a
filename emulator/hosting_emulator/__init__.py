"""A local emulator of the Project Hosting Control API.

This module contains only constants. It must not import anything, so that `--help` stays fast.
"""

__version__ = "0.1.0"
#: The default seed for worlds. The ids in the documentation are generated from it.
DEFAULT_SEED = "hosting-emulator"
#: The default port.
DEFAULT_PORT = 4620
#: The name of the default world. The default world's hosts are directly in the DNS zones given in
#: the assumptions. All other worlds prefix these zones with their own names.
DEFAULT_WORLD = "default"
#: The environment variable through which a command run by `hosting-emulator exec` learns which
#: emulator judges it.
EXEC_URL_VARIABLE = "HOSTING_EMULATOR_EXEC_URL"
#: The environment variable that makes a nested `exec` judge as strictly as the outer one.
EXEC_CONDUCT_VARIABLE = "HOSTING_EMULATOR_EXEC_CONDUCT"
#: The environment variable that `make run` of this repository sets. Messages to its users name
#: `make run` instead of the command behind it.
MAKE_RUN_VARIABLE = "HOSTING_EMULATOR_MAKE_RUN"
