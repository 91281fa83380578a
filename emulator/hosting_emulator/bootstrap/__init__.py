"""Bootstrap: the one place that builds everything, opens the sockets and closes them again."""

from hosting_emulator.bootstrap.emulator import Emulator, load_models, run, warm_up
from hosting_emulator.bootstrap.logs import log_requests, log_to_stderr

__all__ = ["Emulator", "load_models", "log_requests", "log_to_stderr", "run", "warm_up"]
