"""Has a process forked by the warm interpreter, and may stand for it: until it ends, and as it ends.

`tests.support.warm` makes small programs of it, which are started by name, hundreds of times: so its imports
are of what Python has loaded already, or built in. (`signal`, `socket` and `json` take twice as long
to import as Python takes to start.)
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


def forked(
    address: str, order: Mapping[str, object], streams: Sequence[int]
) -> tuple[int, _socket.socket]:
    """Have a process forked; return its pid, and where its exit code will be read.

    Whoever closes that first has the process killed. The order is sent as Python writes it.
    """
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.connect(address)
        text = ascii(order).encode() + b"\n"
        numbers = b"".join(number.to_bytes(4, sys.byteorder) for number in streams)
        sent = connection.sendmsg([text], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)])
        # A process may be over, and the connection with it, before nothing more is sent.
        if rest := text[sent:]:
            connection.sendall(rest)
        return read_number(connection), connection
    except BaseException:
        connection.close()
        raise


def read_number(connection: _socket.socket) -> int:
    """Wait for a number: a pid, or an exit code, -N after signal N."""
    data = b""
    while len(data) < 4:
        piece = connection.recv(4 - len(data))
        if not piece:
            raise EOFError("the warm interpreter is gone")
        data += piece
    return int.from_bytes(data, "little", signed=True)


def stand_for(address: str, words: Sequence[str]) -> NoReturn:
    """Be a process of these words and our arguments: signals are passed on, and its end is ours."""
    ignored = [number for number in _SIGNALS if _signal.getsignal(number) == _signal.SIG_IGN]
    order = {
        "args": [*words, *sys.argv[1:]],
        "env": dict(os.environ),
        "cwd": os.getcwd(),  # noqa: PTH109
        "ignored": ignored,
        "python": f"{sys.argv[0].rpartition('/')[0]}/python",
    }
    _signal.pthread_sigmask(_signal.SIG_BLOCK, _SIGNALS)
    pid, news = forked(address, order, (0, 1, 2))
    for number in {*_SIGNALS} - {*ignored}:
        _signal.signal(number, lambda number, _: os.kill(pid, number))
    _signal.pthread_sigmask(_signal.SIG_UNBLOCK, _SIGNALS)
    code = read_number(news)
    if code < 0:
        if -code in _SIGNALS:
            _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)
