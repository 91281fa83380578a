"""Bootstrap: the one place that builds everything, opens the sockets and closes them again."""

from hosting_emulator.bootstrap.emulator import Emulator
from hosting_emulator.bootstrap.logs import log_requests, log_to_stderr
from hosting_emulator.bootstrap.running import load_early, run, warm_up

__all__ = ["Emulator", "load_early", "log_requests", "log_to_stderr", "run", "warm_up"]
