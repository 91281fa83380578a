"""Finds the boundaries between requests in the bytes that a client sends.

aiohttp parses requests. This module splits the byte stream first, so that aiohttp receives complete
request heads and well-formed bodies, one request at a time. Bytes with an ambiguous boundary are
refused here, because two readers could see different requests in the same bytes (RFC 9112, section
11.2). This module does not use sockets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

#: The limits of aiohttp's parser: bytes in a line, bytes in a head, and number of headers.
LONGEST_LINE: Final = 8190
_LONGEST_HEAD: Final = 256 * 1024
_MOST_HEADERS: Final = 128
#: If a head is longer than this many bytes, the request log may store only part of it.
_LONG_HEAD: Final = 16 * 1024
_LONGEST_CHUNK_LINE: Final = 1024
#: After cutting off this many parts (calls of `_cut`), `cut` yields, so that the caller can let
#: other work run. A chunk has three parts: its size, its data and its end.
MOST_CUTS: Final = 100
#: The maximum number of digits in a Content-Length, not counting leading zeros. aiohttp would treat
#: the largest 64-bit number as a missing length.
_MOST_DIGITS: Final = 19

#: The bytes that are allowed between two requests (RFC 9112, section 2.2), and how many of them.
_LINE_ENDS: Final = b"\r\n"
_MOST_LINE_ENDS: Final = 64
_END: Final = b"\r\n\r\n"
_VERSIONS: Final = (b" HTTP/1.1", b" HTTP/1.0")
#: Matches the first line of nearly every request. If it matches, no further checks are needed.
_USUAL_LINE: Final = re.compile(rb"(?!CONNECT )[A-Z-]{1,32} /[^\x00- \x7f]* HTTP/1\.[01]\r\n")
#: Matches a method and a target without line ends. aiohttp's C parser would treat a bare line end
#: in the target as the end of an HTTP/0.9 request line, and the rest as a header.
_TARGET: Final = re.compile(rb"[^ ]+ /[^\x00- \x7f]* |OPTIONS \* ")
#: Matches a target in absolute form, as clients send to proxies. This server ignores the part
#: before the path (RFC 9112, section 3.2.2).
_ABSOLUTE: Final = re.compile(
    rb"([^ ]+ )https?://(?:[^/?#@ ]*@)?(?:[^][/?#:@ ]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?:/|(?=[ ?]))",
    re.IGNORECASE,
)
#: Matches the beginning of a head, even if only part of the head has arrived.
_BEGINNING: Final = re.compile(rb"[A-Z-]{1,32}(?: |\Z)")
_BARE_LINE_END: Final = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\x00")
#: The following patterns match headers in a lowercase head that announce a body or an upgrade.
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*+0*+([0-9]++)[ \t]*+\r\n")
#: Matches a Content-Length that is not all digits. aiohttp might accept it and read a different
#: length than this module does.
_BAD_LENGTH: Final = re.compile(
    rb"\r\ncontent-length[ \t]*:[ \t]*+(?![0-9]++[ \t]*+\r\n)([^\r]{0,60})"
)
_CODING: Final = re.compile(rb"\r\ntransfer-encoding[ \t]*:")
_UPGRADE: Final = re.compile(rb"\r\nconnection:[^\r]*upgrade")
_CONNECTION: Final = re.compile(rb"(?<=\r\nconnection:)[^\r]*", re.IGNORECASE)
#: The following patterns match the lines of a chunked body: a chunk's length, the end of a chunk's
#: data, and a trailer.
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")
_CHUNK_END: Final = re.compile(rb"\r\n")
_TRAILER: Final = re.compile(rb"(?:[!#-'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")

INVALID: Final = "The request is not valid HTTP/1.1."
NO_METHOD: Final = "The request line has no HTTP method."
TOO_LONG: Final = f"A line or header of the request is longer than {LONGEST_LINE} bytes."
_HEAD_TOO_LONG: Final = f"The head of the request is longer than {_LONGEST_HEAD} bytes."
BROKEN_BODY: Final = (
    "The request body does not have the length or the chunks that its headers announce."
)


class Malformed(Exception):
    """Raised if the bytes are not a valid request or body. The message says why."""


class RequestFraming:
    """Splits the bytes received on one connection into requests.

    `count` is the number of requests whose head has arrived completely or was refused. `is_partial`
    means that part of the latest request has not arrived yet, and `in_body` that the missing part
    belongs to its body. `error` is the reason why the latest request was refused, or None if no
    request was refused. Data after a refused request is not parsed.
    """

    def __init__(self) -> None:
        self.count = 0
        self.in_body = False
        self.is_partial = False
        #: Whether any head was so long that the request log may store only part of it.
        self.has_long_heads = False
        self.error: str | None = None
        #: The latest request that arrived in one piece. If a polling client sends exactly the same
        #: bytes again, they need no further checks.
        self._repeatable = b""
        #: The beginning of an incomplete head or line, and how many of its bytes have already been
        #: searched.
        self._held = bytearray()
        self._searched = 0
        self._line_ends = 0
        #: How many bytes of a body or chunk have not arrived yet.
        self._missing = 0
        self._is_chunked = False
        #: The pattern that the next line of a chunked body must match.
        self._line = _CHUNK
        #: The function that cuts off the next piece. It takes the data and an index, and returns
        #: the piece and the index after it.
        self._cut: Callable[[bytes, int], tuple[bytes, int]] = self._cut_head

    def feed(self, data: bytes) -> list[bytes]:
        """Split all of the data at once and return the pieces."""
        return list(self.cut(data))

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Yield each head when it is complete, and each body as it arrives.

        Malformed bytes are not yielded. The parts of a request that arrive in the same `data` are
        yielded as a single piece, unless there are more than MOST_CUTS parts. The iterator must be
        exhausted before this method is called again.
        """
        if data == self._repeatable and not self.is_partial:
            self.count += 1
            self._line_ends = 0
            yield data
            return
        began_partial = self.is_partial
        pieces: list[bytes] = []  # the pieces of the last request
        index = 0
        cuts = 0
        is_single = True
        try:
            while index < len(data):
                cuts += 1
                if (pieces and not self.in_body) or cuts > MOST_CUTS:
                    is_single = False
                    self.is_partial = True
                    yield b"".join(pieces)
                    pieces.clear()
                    cuts = 0
                piece, index = self._cut(data, index)
                if piece:
                    pieces.append(piece)
        except Malformed as error:
            self.error = str(error)
        self.is_partial = self.in_body or bool(self._held)
        if pieces:
            if is_single and pieces == [data] and not (began_partial or self.is_partial):
                self._repeatable = data
            yield b"".join(pieces)

    # --- Heads ----------------------------------------------------------------------------------

    def _cut_head(self, data: bytes, index: int) -> tuple[bytes, int]:
        """Cut off and check a head, and determine where the request ends."""
        if self._held:
            head, index = self._complete_head(data, index)
        else:
            if data[index] in _LINE_ENDS:
                index = self._skip_line_ends(data, index)
            end = data.find(_END, index)
            if end < 0:
                head, index = self._complete_head(data, index)
            else:  # most heads arrive in one piece
                end += len(_END)
                head = data[index:end]
                index = end
        if not head:
            return b"", index
        if not _USUAL_LINE.match(head):
            head = self._check_first_line(head)
        # Allow two more lines: the first line and the empty last line are not headers.
        if head.count(b"\n") > _MOST_HEADERS + 2:
            self._refuse(f"The request has more than {_MOST_HEADERS} headers.")
        self.count += 1
        self._line_ends = 0
        if len(head) > _LONG_HEAD:
            self.has_long_heads = True
        # Search a lowercase copy, because a case-insensitive pattern is slow.
        lower = head.lower()
        # Remove the `upgrade` option, because aiohttp would wait for the upgrade. A server may
        # ignore an upgrade (RFC 9110, section 7.8).
        if b"upgrade" in lower and _UPGRADE.search(lower):
            head = _CONNECTION.sub(_without_upgrade, head)
        self._is_chunked = b"transfer-encoding" in lower and bool(_CODING.search(lower))
        if self._is_chunked:
            self._begin_chunks(head)
            return head, index
        if b"content-length" in lower:
            self._missing = _content_length(lower)
            if self._missing <= len(data) - index:  # most bodies arrive together with their head
                end = index + self._missing
                self._missing = 0
                return head + data[index:end], end
            self.in_body = True
            self._cut = self._cut_body
        return head, index

    def _skip_line_ends(self, data: bytes, index: int) -> int:
        """Skip the line ends that some clients send between requests, and return the index after them."""
        while index < len(data) and data[index] in _LINE_ENDS:
            index += 1
            self._line_ends += 1
            if self._line_ends > _MOST_LINE_ENDS:
                self._refuse(NO_METHOD)
        return index

    def _complete_head(self, data: bytes, index: int) -> tuple[bytes, int]:
        """Add data to a head that is arriving in parts.

        Returns the head and the index after it. The returned head is empty if the head is still
        incomplete.
        """
        previous = len(self._held)
        self._held += data[index : index + _LONGEST_HEAD]
        length = self._held.find(_END, max(0, self._searched - len(_END))) + len(_END)
        if length < len(_END):
            self._check_part(self._held)
            self._searched = len(self._held)
            return b"", len(data)
        head = bytes(self._held[:length])
        self._forget()
        return head, index + length - previous

    def _check_part(self, part: bytearray) -> None:
        """Raise Malformed if a partial head can no longer turn out to be valid."""
        if not part:
            return
        if len(part) - (part.rfind(b"\r\n") + 2) > LONGEST_LINE:
            self._refuse(TOO_LONG)
        if len(part) > _LONGEST_HEAD:
            self._refuse(_HEAD_TOO_LONG)
        if not _BEGINNING.match(part):
            self._refuse(NO_METHOD)
        if _BARE_LINE_END.search(part, max(0, self._searched - 1)):
            self._refuse(INVALID)

    def _refuse(self, message: str) -> NoReturn:
        """Count a malformed head as a request, and raise Malformed."""
        self.count += 1
        self._forget()
        raise Malformed(message)

    def _forget(self) -> None:
        self._held.clear()
        self._searched = 0

    def _check_first_line(self, head: bytes) -> bytes:
        """Check the first line of a head. Return the head with the request target reduced to a path."""
        line = head[: head.index(b"\r\n")]
        if not _BEGINNING.match(line):
            self._refuse(NO_METHOD)
        if not line.endswith(_VERSIONS):
            self._refuse(TOO_LONG if len(line) > LONGEST_LINE else INVALID)
        if line.startswith(b"CONNECT "):
            self._refuse("The CONNECT method is not supported: this is not a proxy.")
        if _TARGET.match(line):
            return head
        # Use `match`, which takes linear time. `search` would take time quadratic in the line's
        # length.
        absolute = _ABSOLUTE.match(line)
        if absolute is None:
            self._refuse(INVALID)
        head = absolute[1] + b"/" + head[absolute.end() :]
        if not _TARGET.match(head):
            self._refuse(INVALID)
        return head

    # --- Bodies ---------------------------------------------------------------------------------

    def _begin_chunks(self, head: bytes) -> None:
        if head[: head.index(b"\r\n")].endswith(b"1.0"):  # RFC 9112, section 6.1
            raise Malformed(INVALID)
        self.in_body = True
        self._cut = self._cut_chunk_line
        self._line = _CHUNK

    def _cut_body(self, data: bytes, index: int) -> tuple[bytes, int]:
        piece = data[index : index + self._missing]
        self._missing -= len(piece)
        if not self._missing:
            self.in_body = self._is_chunked
            self._cut = self._cut_chunk_line if self._is_chunked else self._cut_head
        return piece, index + len(piece)

    def _cut_chunk_line(self, data: bytes, index: int) -> tuple[bytes, int]:
        """Cut off a complete line of a chunked body, and determine what comes next."""
        limit = index + _LONGEST_CHUNK_LINE
        end = data.find(b"\n", index, limit) + 1
        self._held += data[index : end or limit]
        if not end:
            if len(self._held) >= _LONGEST_CHUNK_LINE:
                raise Malformed(BROKEN_BODY)
            return b"", len(data)
        line = self._held
        self._held = bytearray()
        match = self._line.fullmatch(line)
        if match is None:
            raise Malformed(BROKEN_BODY)
        if self._line is _CHUNK:
            return self._begin_chunk(int(match[1], 16)), end
        if self._line is _CHUNK_END:
            self._line = _CHUNK
        elif line == b"\r\n":
            self.in_body = False
            self._cut = self._cut_head
        else:
            return b"", end  # trailers are dropped, because nothing reads them
        return b"\r\n", end

    def _begin_chunk(self, length: int) -> bytes:
        """Begin a chunk. Return its first line without chunk extensions, which are not supported."""
        self._missing = length
        if length:
            self._cut = self._cut_body
            self._line = _CHUNK_END
        else:
            self._line = _TRAILER
        return b"%x\r\n" % length


def _content_length(lower: bytes) -> int:
    """Return the Content-Length in a lowercase head, or 0 if the head has none. Raises Malformed."""
    bad_length = _BAD_LENGTH.search(lower)
    if bad_length is not None:
        value = bad_length[1].decode("ascii", "backslashreplace").strip()
        raise Malformed(f"The Content-Length {value!r} is not a number of bytes.")
    match = _LENGTH.search(lower)
    if match is None:
        return 0
    if len(match[1]) > _MOST_DIGITS:
        raise Malformed(INVALID)
    return int(match[1])


def _without_upgrade(match: re.Match[bytes]) -> bytes:
    """Return the value of a Connection header without the `upgrade` option."""
    options = [option.strip() for option in match[0].split(b",")]
    return b" " + b", ".join(option for option in options if option.lower() != b"upgrade")
