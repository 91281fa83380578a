"""Valid requests as bytes, which tests then modify."""

from __future__ import annotations

from dataclasses import dataclass

from tests.support.server_in_loop import ServerInLoop

BODY = b'{"enabled": true}'


@dataclass(frozen=True)
class Requests:
    """A read, a write without its body, and a read that ends the connection."""

    get: bytes
    put: bytes
    last: bytes

    @classmethod
    def of(cls, server: ServerInLoop) -> Requests:
        line, _, rest = server.request.removesuffix(b"\r\n\r\n").partition(b"\r\n")
        headers = rest.removesuffix(b"\r\nConnection: close")
        path = line.split(b" ")[1].rpartition(b"/")[0] + b"/powered-by-flag"
        put = b"PUT " + path + b" HTTP/1.1\r\n" + headers
        return cls(
            get=line + b"\r\n" + headers + b"\r\n\r\n",
            put=put + b"\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n",
            last=server.request,
        )
