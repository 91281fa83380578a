"""A local emulator of the Project Hosting Control API.

Holds constants only; it must import nothing, so that `--help` stays fast.
"""

__version__ = "0.1.0"
#: The seed of a world for which nobody chose one: its ids are those in the documentation.
DEFAULT_SEED = "hosting-emulator"
#: Where it listens unless told otherwise.
DEFAULT_PORT = 4620
#: The world whose hosts stand directly in the zones; other worlds put their name before them.
DEFAULT_WORLD = "default"
#: The variable by which the command of `hosting-emulator exec` finds the emulator that judges it.
EXEC_URL_VARIABLE = "HOSTING_EMULATOR_EXEC_URL"
#: The variable by which an `exec` inside the command of another judges as strictly as that one.
EXEC_CONDUCT_VARIABLE = "HOSTING_EMULATOR_EXEC_CONDUCT"
