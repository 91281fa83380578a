"""An HTTP client with few imports, for client programs that tests start hundreds of times.

Importing `json`, `socket` and `http.client` takes four times as long as starting Python. Therefore
this module imports only built-in modules, and returns a tuple instead of a `Response`.
"""

from __future__ import annotations

import _socket
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # because importing `typing` takes as long as all other imports
    from typing import Any

#: Runs `main` of a module. Python caches the compiled code of a module, but not of a script.
_RUN = "import sys; sys.path.append(sys.argv.pop(1)); from {0} import main; main()"
_JSON_NAMES = {"__builtins__": {}, "true": True, "false": False, "null": None}


def client_command(module: str) -> tuple[str, ...]:
    """Return the command that starts the client program in a module, without arguments."""
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
    """Send a request, and return the status, the headers with lowercase names, and the JSON document.

    `address` is a URL, whose path precedes `path`. The client waits at most `piece_s` for each
    piece of the response, and at most `whole_s` for the whole response, both in seconds. Raises
    OSError or ValueError if no complete response arrives.
    """
    authority, _, prefix = address.removeprefix("http://").partition("/")
    host, _, port = authority.rpartition(":")
    deadline = None if whole_s is None else time.monotonic() + whole_s
    text = b""
    connection = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    try:
        connection.settimeout(piece_s)
        connection.connect((host, int(port)))
        connection.sendall(_request(authority, method, f"/{prefix}{path}", headers, body))
        piece = connection.recv(65536)
        while piece:
            text += piece
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError
            piece = connection.recv(65536)
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
        # The repr of a dict of strings and bools differs from JSON only in the quotes and the bools.
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
        # JSON differs from a Python literal only in these names. Other errors mean a broken response.
        document = eval(content.strip(), _JSON_NAMES)
    except (SyntaxError, NameError) as error:
        raise ValueError("no JSON") from error
    return int(lines[0].split()[1]), headers, document
