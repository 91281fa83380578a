"""Starts processes in the warm interpreter, or lets a program behave as if it were such a process.

The small programs of `tests.support.warm` import this module and are started hundreds of times.
Therefore the module imports only built-in modules, and modules that Python has already loaded.
Importing `signal`, `socket` and `json` would take twice as long as starting Python.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found]
import _socket
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import NoReturn

_SIGNALS = (_signal.SIGINT, _signal.SIGTERM, _signal.SIGHUP, _signal.SIGQUIT)


def fork_process(
    address: str, job: Mapping[str, object], streams: Sequence[int]
) -> tuple[int, _socket.socket]:
    """Let the warm interpreter fork a process for a job.

    Return the pid of the process, and a connection from which its exit code can be read. Closing
    the connection kills the process. The job is sent as a Python literal.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(address)
        text = ascii(job).encode() + b"\n"
        numbers = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
        sent = connection.sendmsg([text], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
        # Skip an empty rest, because the process may have ended as soon as the whole job was sent.
        rest = text[sent:]
        if rest:
            connection.sendall(rest)
        return read_number(connection), connection
    except BaseException:
        connection.close()
        raise


def read_number(connection: _socket.socket) -> int:
    """Wait for a number, which is a pid or an exit code. The exit code is -N after signal N."""
    data = b""
    while len(data) < 4:
        piece = connection.recv(4 - len(data))
        if not piece:
            raise EOFError("the warm interpreter is gone")
        data += piece
    return int.from_bytes(data, "little", signed=True)


def run_as_warm_process(address: str, words: Sequence[str]) -> NoReturn:
    """Run a command with this program's arguments in a warm process, and end with its exit code.

    `words` are the command. Signals are passed on to the warm process.
    """
    ignored = [number for number in _SIGNALS if _signal.getsignal(number) == _signal.SIG_IGN]
    job = {
        "args": [*words, *sys.argv[1:]],
        "env": dict(os.environ),
        "cwd": os.getcwd(),  # noqa: PTH109
        "ignored": ignored,
        "python": f"{sys.argv[0].rpartition('/')[0]}/python",
    }
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _SIGNALS)
    pid, connection = fork_process(address, job, (0, 1, 2))
    for number in {*_SIGNALS} - {*ignored}:
        _signal.signal(number, lambda number, _: os.kill(pid, number))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _SIGNALS)
    code = read_number(connection)
    if code < 0:
        if -code in _SIGNALS:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
