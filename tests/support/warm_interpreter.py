"""The warm interpreter itself, run by `tests.support.warm`: forks a process for whoever connects to it.

    python warm_interpreter.py ORDERS LIFE

Both are descriptors: of the socket where it listens, and of one that ends when it is to end.
"""

from __future__ import annotations

import ast
import atexit
import gc
import importlib
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import threading
import warnings
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

_NAMES = (
    "hosting_emulator",
    "hosting_emulator_cli",
    "hosting_emulator_lab",
    "pytest_hosting_emulator",
)
#: What the tests of the plugin use beside it, where it is installed.
_MORE = ("xdist.plugin", "xdist.remote", "xdist.workermanage")
#: Signals that somebody may have let us ignore, and the one that is handled here.
_PLAIN = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)


class Server:
    """Forks, and tells how each process ended; one that nobody waits for any more is killed."""

    def __init__(self, orders: socket.socket, life: socket.socket) -> None:
        self._orders = orders
        self._life = life
        self._waking, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._living: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Fork a process for each order, until life ends, and with it what was forked."""
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            watched: list[Any] = [self._life, self._orders, self._waking, *self._living.values()]
            ready, _, _ = select.select(watched, [], [])
            if self._waking in ready:
                os.read(self._waking, 4096)
            self._reap()
            for pid, waiting in self._living.items():
                if self._life in ready or waiting in ready:
                    os.kill(pid, signal.SIGKILL)
            if self._life in ready:
                return
            if self._orders in ready:
                self._fork(self._orders.accept()[0])

    def _reap(self) -> None:
        while self._living:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            with self._living.pop(child) as waiting:
                _tell(waiting, os.waitstatus_to_exitcode(status))

    def _fork(self, asking: socket.socket) -> None:
        text, streams, _, _ = socket.recv_fds(asking, 65536, 3)
        while text and not text.endswith(b"\n"):
            text += asking.recv(65536) or b"\n"
        child = os.fork() if text.strip() else -1
        if child == 0:
            signal.set_wakeup_fd(-1)
            for other in (self._orders, self._life, *self._living.values()):
                other.close()
            os.close(self._waking)
            os.close(self._wake)
            asking.close()
            _become(ast.literal_eval(text.decode()), streams)
        for descriptor in streams:
            os.close(descriptor)
        if child > 0:
            self._living[child] = asking
            _tell(asking, child)
        else:
            asking.close()


def _tell(waiting: socket.socket, number: int) -> None:
    with suppress(OSError):  # nobody asks any more
        waiting.sendall(number.to_bytes(4, "little", signed=True))


# --- In the child ----------------------------------------------------------------------------------

#: With what this process ends, once that is known; what nobody catches ends it with 1.
_ENDED: list[Any] = [1]


def _become(order: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the process that was ordered."""
    ignored = order.get("ignored", ())
    for number in _PLAIN:
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    interrupted = signal.SIG_IGN if signal.SIGINT in ignored else signal.default_int_handler
    signal.signal(signal.SIGINT, interrupted)
    if order.get("session"):
        os.setsid()
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
    for descriptor in {*streams} - {0, 1, 2}:
        os.close(descriptor)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    if folders := order["env"].get("PYTHONPATH"):  # as Python does when it starts
        sys.path[:0] = folders.split(os.pathsep)
        with suppress(ImportError):
            importlib.import_module("sitecustomize")
    try:
        _run(order["python"], *order["args"])
        sys.exit()
    except SystemExit as end:
        _ENDED[:] = [end.code]
        raise
    except KeyboardInterrupt:
        _ENDED[:] = [-signal.SIGINT]
        raise


def _leave() -> None:
    """End at once, as the last thing at exit: to take apart all that was imported takes as long."""
    (code,) = _ENDED
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120  # as Python does
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    os._exit(code or 0)


def _run(python: str, program: str, *arguments: str) -> None:
    """Do what a program does: our command, or Python with some options and `-m`, `-c` or a script.

    What Python starts with `python` comes from here, too.
    """
    if Path(program).name == "hosting-emulator":
        sys.argv = [program, *arguments]
        from hosting_emulator_cli.main import main

        main()
    option, *rest = arguments
    if not any("hosting_emulator_cli" in word for word in rest):  # it hands on descriptors
        sys.executable = python
    safe = False
    while option in ("-u", "-P", "-W"):
        if option == "-u":
            sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
        elif option == "-P":
            safe = True
        else:
            action = rest.pop(0)
            assert action == "error", f"the warm interpreter does not know -W {action}"
            sys.warnoptions.append(action)
            warnings.simplefilter("error")
        option, *rest = rest
    if option == "-m":
        if not safe:
            sys.path.insert(0, str(Path.cwd()))
        sys.argv = ["-m", *rest[1:]]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif option == "-c":
        if not safe:
            sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        assert not option.startswith("-"), f"the warm interpreter does not know {option}"
        sys.path.insert(0, str(Path(option).resolve().parent))
        sys.argv = [option, *rest]
        runpy.run_path(option, run_name="__main__")


# --- Before any ------------------------------------------------------------------------------------


def import_all() -> None:
    """Import what a command or a run of pytest would."""
    import pytest

    for name in _NAMES:
        package = importlib.import_module(name)
        for member in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not member.name.endswith("__main__"):
                importlib.import_module(member.name)
    for name in _MORE:
        with suppress(ImportError):
            importlib.import_module(name)
    from pytest_hosting_emulator import BackgroundEmulator

    # What is made when it is first used is made once as well.
    with BackgroundEmulator() as emulator, emulator.world():
        pass
    # A run of pytest would rewrite assertions in what it loads as a plugin, and warns of what is
    # loaded already.
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in (*_NAMES, "xdist"):
            module.__doc__ = f"{module.__doc__}\n\nPYTEST_DONT_REWRITE"
    # A whole run of no tests: what it loads is loaded then.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with TemporaryDirectory() as folder:
        pytest.main(["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder, folder])
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()  # what is never looked at again is never copied either


if __name__ == "__main__":
    atexit.register(_leave)  # what is registered first comes last
    del sys.path[0]  # this file's folder
    _orders, _life = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    for _end in (_orders, _life):
        _end.set_inheritable(False)
    import_all()
    Server(_orders, _life).serve()
    _ENDED[:] = [0]
