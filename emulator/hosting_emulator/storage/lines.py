"""Checked lines: one line of JSON that knows whether it is whole, `{"crc32":"…","<kind>":{…}}`."""

from __future__ import annotations

from zlib import crc32

_START, _END = b'{"crc32":"', b"}"
_SUM = len(_START) + 8


def checked_line(kind: bytes, payload: bytes) -> bytes:
    """Return the line of some JSON, with its newline."""
    return b'{"crc32":"%08x","%b":%b}\n' % (crc32(payload), kind, payload)


def payload_of(line: bytes, kind: bytes) -> bytes | None:
    """Return the JSON of a line without its newline; None when it is not whole, or not this kind."""
    middle = b'","%b":' % kind
    start = _SUM + len(middle)
    if not (line.startswith(_START) and line.endswith(_END)) or line[_SUM:start] != middle:
        return None
    payload = line[start : -len(_END)]
    return payload if line[len(_START) : _SUM] == b"%08x" % crc32(payload) else None
