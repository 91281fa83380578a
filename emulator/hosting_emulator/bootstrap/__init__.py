"""Bootstrap: the one place that builds everything, opens the sockets and closes them again."""

from hosting_emulator.bootstrap.emulator import Emulator
from hosting_emulator.bootstrap.logs import log_requests, log_to_stderr
from hosting_emulator.bootstrap.running import run, warm_up

__all__ = ["Emulator", "log_requests", "log_to_stderr", "run", "warm_up"]
