"""What a client program uses that tests start hundreds of times: a quick start, and HTTP with few imports.

Such a program cannot use the other clients of this folder: `json`, `socket` and `http.client` alone take
four times as long to import as Python takes to start. So this module imports only what is built into
Python, and returns a tuple in place of a `Response`.
"""

from __future__ import annotations

import _socket
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # it takes as long to import as all the rest
    from typing import Any

#: Runs `main` of a module beside this one, which is compiled once, as a script would not be.
_RUN = "import sys; sys.path.append(sys.argv.pop(1)); from {0} import main; main()"
_NAMES = {"__builtins__": {}, "true": True, "false": False, "null": None}


def quick_start(module: str) -> tuple[str, ...]:
    """Return the words that start a client; its own come after them."""
    return (sys.executable, "-IS", "-c", _RUN.format(module), __file__.rsplit("/", 3)[0])


def send(
    address: str,
    method: str,
    path: str,
    headers: dict[str, str],
    body: dict[str, object] | None = None,
    *,
    piece_s: float | None = None,
    whole_s: float | None = None,
) -> tuple[int, dict[str, str], Any]:
    """Send a request; return its answer's status, headers (in lower case) and document.

    `address` is a URL; what it has before `path` goes there, too. No piece of an answer may take
    longer than `piece_s`, and no answer longer than `whole_s`. Raises OSError or ValueError when the
    answer is lost.
    """
    place, _, prefix = address.removeprefix("http://").partition("/")
    host, _, port = place.rpartition(":")
    until = None if whole_s is None else time.monotonic() + whole_s
    text = b""
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(piece_s)
        connection.connect((host, int(port)))
        connection.sendall(_request(place, method, f"/{prefix}{path}", headers, body))
        while piece := connection.recv(65536):
            text += piece
            if until is not None and time.monotonic() > until:
                raise TimeoutError
    finally:
        connection.close()
    return _parse_response(text)


def _request(
    host: str, method: str, target: str, headers: dict[str, str], body: dict[str, object] | None
) -> bytes:
    lines = [f"{method} {target.replace('//', '/')} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    content = ""
    if body is not None:
        # Of texts and truth values, which Python writes alike but for these letters.
        content = repr(body).replace("'", '"').replace("True", "true").replace("False", "false")
        lines.append("Content-Type: application/json")
    lines += [f"Content-Length: {len(content)}", "Connection: close", "", ""]
    return ("\r\n".join(lines) + content).encode()


def _parse_response(text: bytes) -> tuple[int, dict[str, str], Any]:
    head, blank, content = text.partition(b"\r\n\r\n")
    if not blank:
        raise ValueError("no response")
    lines = head.decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:])
    }
    if len(content) != int(headers["content-length"]):
        raise ValueError("cut off")
    try:
        # The emulator's JSON is Python's but for these names; anything else is a broken answer.
        document = eval(content.strip(), _NAMES)
    except (SyntaxError, NameError) as error:
        raise ValueError("no JSON") from error
    return int(lines[0].split()[1]), headers, document
