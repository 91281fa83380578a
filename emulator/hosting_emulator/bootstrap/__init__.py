"""Bootstrap: the one place that builds everything, opens the sockets and closes them again."""

from hosting_emulator.bootstrap.emulator import Emulator, run, warm_up
from hosting_emulator.bootstrap.logs import log_to_stderr
from hosting_emulator.calls.inputs import load_models
from hosting_emulator.server.control.routes import visit as visit_page

__all__ = [
    "Emulator",
    "load_models",
    "log_to_stderr",
    "run",
    "visit_page",
    "warm_up",
]
