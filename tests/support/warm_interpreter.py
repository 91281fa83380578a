"""The warm interpreter, which `tests.support.warm` starts: forks a process for each job.

    python warm_interpreter.py LISTENER LIFELINE

Both arguments are descriptors of sockets. Clients connect to LISTENER and send a job. The
interpreter ends when the other end of LIFELINE is closed.
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

_PACKAGES = (
    "hosting_emulator",
    "hosting_emulator_cli",
    "hosting_emulator_lab",
    "pytest_hosting_emulator",
)
#: Other modules that a command would import when it uses them first. pytest-xdist may not be
#: installed.
_OTHER_MODULES = (
    "ctypes",
    "encodings.ascii",
    "xdist.plugin",
    "xdist.remote",
    "xdist.workermanage",
)
#: Signals to reset in the child. This process may have inherited that the first three are ignored, and it
#: handles the last one.
_RESET_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGCHLD)


class Server:
    """Forks processes, and sends each client the exit code of its process.

    If a client closes its connection, its process is killed.
    """

    def __init__(self, listener: socket.socket, lifeline: socket.socket) -> None:
        self._listener = listener
        self._lifeline = lifeline
        #: A signal writes a byte to this pipe, which wakes the loop of `serve`.
        self._wakeup_reader, self._wakeup_writer = os.pipe()
        os.set_blocking(self._wakeup_writer, False)
        #: The connections to the clients of running processes, by pid.
        self._clients: dict[int, socket.socket] = {}

    def serve(self) -> None:
        """Fork a process for each job. When the lifeline ends, kill all processes and return."""
        signal.set_wakeup_fd(self._wakeup_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        while True:
            inputs: list[Any] = [self._lifeline, self._listener, self._wakeup_reader]
            ready, _, _ = select.select([*inputs, *self._clients.values()], [], [])
            if self._wakeup_reader in ready:
                os.read(self._wakeup_reader, 4096)
            self._reap()
            for pid, client in self._clients.items():
                if self._lifeline in ready or client in ready:
                    os.kill(pid, signal.SIGKILL)
            if self._lifeline in ready:
                return
            if self._listener in ready:
                self._fork(self._listener.accept()[0])

    def _reap(self) -> None:
        """Send the exit code of each process that has ended to its client."""
        while self._clients:
            child, status = os.waitpid(-1, os.WNOHANG)
            if child == 0:
                return
            with self._clients.pop(child) as client:
                _send_number(client, os.waitstatus_to_exitcode(status))

    def _fork(self, client: socket.socket) -> None:
        """Read a client's job, and fork a process that runs it."""
        text, streams, _, _ = socket.recv_fds(client, 65536, 3)
        while text and not text.endswith(b"\n"):
            text += client.recv(65536) or b"\n"
        child = os.fork() if text.strip() else -1
        if child == 0:
            signal.set_wakeup_fd(-1)
            for connection in (self._listener, self._lifeline, *self._clients.values()):
                connection.close()
            os.close(self._wakeup_reader)
            os.close(self._wakeup_writer)
            client.close()
            _run_job(ast.literal_eval(text.decode()), streams)
        for descriptor in streams:
            os.close(descriptor)
        if child > 0:
            self._clients[child] = client
            _send_number(client, child)
        else:
            client.close()


def _send_number(client: socket.socket, number: int) -> None:
    with suppress(OSError):  # the client may be gone
        client.sendall(number.to_bytes(4, "little", signed=True))


# --- In the child ----------------------------------------------------------------------------------

#: A list with the exit code of this process. After an uncaught exception, the exit code is still 1.
_EXIT_CODE: list[Any] = [1]


def _run_job(job: dict[str, Any], streams: list[int]) -> NoReturn:
    """Turn this process into the process that a job describes, and run its command."""
    ignored = job.get("ignored", ())
    for number in _RESET_SIGNALS:
        signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)
    interrupted = signal.SIG_IGN if signal.SIGINT in ignored else signal.default_int_handler
    signal.signal(signal.SIGINT, interrupted)
    if job.get("session"):
        os.setsid()
    for stream_number, descriptor in enumerate(streams):
        os.dup2(descriptor, stream_number)
    for descriptor in {*streams} - {0, 1, 2}:
        os.close(descriptor)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
    os.chdir(job["cwd"])
    os.environ.clear()
    os.environ.update(job["env"])
    # Apply PYTHONPATH here, because Python applies it only when it starts.
    folders = job["env"].get("PYTHONPATH")
    if folders:
        sys.path[:0] = folders.split(os.pathsep)
        with suppress(ImportError):
            importlib.import_module("sitecustomize")
    try:
        _run_program(job["python"], *job["args"])
        sys.exit()
    except SystemExit as end:
        _EXIT_CODE[:] = [end.code]
        raise
    except KeyboardInterrupt:
        _EXIT_CODE[:] = [-signal.SIGINT]
        raise


def _exit_immediately() -> None:
    """End this process, as the last exit handler.

    Without this handler, Python would delete all imported modules, which takes as long as importing
    them.
    """
    (code,) = _EXIT_CODE
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120  # the exit code of Python if stdout cannot be flushed
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    os._exit(code or 0)


def _run_program(python: str, program: str, *arguments: str) -> None:
    """Run our command, or Python with some of its options and `-m`, `-c` or a script.

    `python` is the program that becomes `sys.executable`, so that processes which the program
    starts also come from the warm interpreter.
    """
    if Path(program).name == "hosting-emulator":
        sys.argv = [program, *arguments]
        from hosting_emulator_cli.main import main

        main()
    option, *rest = arguments
    # Our command passes descriptors to its child processes, which a warm process cannot inherit.
    if not any("hosting_emulator_cli" in word for word in rest):
        sys.executable = python
    is_safe_path = False
    while option in ("-u", "-P", "-W"):
        if option == "-u":
            sys.stdout.reconfigure(write_through=True)  # type: ignore[union-attr]
        elif option == "-P":
            is_safe_path = True
        else:
            action = rest.pop(0)
            assert action == "error", f"the warm interpreter does not support -W {action}"
            sys.warnoptions.append(action)
            warnings.simplefilter("error")
        option, *rest = rest
    if option == "-m":
        if not is_safe_path:
            sys.path.insert(0, str(Path.cwd()))
        sys.argv = ["-m", *rest[1:]]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif option == "-c":
        if not is_safe_path:
            sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        assert not option.startswith("-"), f"the warm interpreter does not support {option}"
        sys.path.insert(0, str(Path(option).resolve().parent))
        sys.argv = [option, *rest]
        runpy.run_path(option, run_name="__main__")


# --- Before the first job ------------------------------------------------------------------------


def import_all() -> None:
    """Import all modules that a command or a run of pytest would import."""
    import pytest

    for name in _PACKAGES:
        package = importlib.import_module(name)
        for member in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not member.name.endswith("__main__"):
                importlib.import_module(member.name)
    for name in _OTHER_MODULES:
        with suppress(ImportError):
            importlib.import_module(name)
    from pytest_hosting_emulator import BackgroundEmulator

    # Use an emulator once, so that objects that are created at first use exist before the first job.
    with BackgroundEmulator() as emulator, emulator.world():
        pass
    # Exempt our modules from assertion rewriting, because pytest warns if a plugin is already imported.
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in (*_PACKAGES, "xdist"):
            module.__doc__ = f"{module.__doc__}\n\nPYTEST_DONT_REWRITE"
    # Run pytest once without tests, so that everything it loads is loaded before the first job.
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    with TemporaryDirectory() as folder:
        pytest.main(["-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", folder, folder])
    assert threading.active_count() == 1
    gc.collect()
    gc.freeze()  # so that collections in child processes do not copy shared pages


if __name__ == "__main__":
    atexit.register(_exit_immediately)  # registered first, so that it runs last
    del sys.path[0]  # the folder of this file
    _listener, _lifeline = (socket.socket(fileno=int(number)) for number in sys.argv[1:3])
    for _socket in (_listener, _lifeline):
        _socket.set_inheritable(False)
    import_all()
    Server(_listener, _lifeline).serve()
    _EXIT_CODE[:] = [0]
