"""Has a process forked by the warm interpreter, and may stand for it: until it ends, and as it ends.

`tests.warm` writes this file's text into small programs, which are started by name; so its imports
are few.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from typing import NoReturn

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def forked(
    address: str, order: Mapping[str, object], streams: Sequence[int]
) -> tuple[int, socket.socket]:
    """Have a process forked; return its pid, and where its exit code will be read.

    Whoever closes that first has the process killed.
    """
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(address)
        text = json.dumps(order).encode() + b"\n"
        # A process may be over, and the connection with it, before nothing more is sent.
        if rest := text[socket.send_fds(connection, [text], streams) :]:
            connection.sendall(rest)
        return read_number(connection), connection
    except BaseException:
        connection.close()
        raise


def read_number(connection: socket.socket) -> int:
    """Wait for a number: a pid, or an exit code, -N after signal N."""
    found = b""
    while len(found) < 4:
        piece = connection.recv(4 - len(found))
        if not piece:
            raise EOFError("the warm interpreter is gone")
        found += piece
    return int.from_bytes(found, "little", signed=True)


def stand_for(address: str, words: Sequence[str]) -> NoReturn:
    """Be a process of these words and our arguments: signals are passed on, and its end is ours."""
    ignored = [int(n) for n in _SIGNALS if signal.getsignal(n) == signal.SIG_IGN]
    order = {
        "args": [*words, *sys.argv[1:]],
        "env": dict(os.environ),
        "cwd": os.getcwd(),  # noqa: PTH109
        "ignored": ignored,
    }
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    pid, news = forked(address, order, (0, 1, 2))
    for number in {*_SIGNALS} - {*ignored}:
        signal.signal(number, lambda number, _: os.kill(pid, number))
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    code = read_number(news)
    if code < 0:
        if -code in _SIGNALS:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
