"""Where one request ends and the next begins, in the bytes that a client sends.

aiohttp parses requests; this only cuts, so that it gets whole heads and well-formed bodies, each
request apart from those beside it. What cannot be cut without a doubt is refused here: two readers
of a doubtful length could see two different requests (RFC 9112, 11.2). It knows no socket.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NoReturn

#: What aiohttp bears of a line; of all lines of a head together, and how many there may be.
LONGEST_LINE: Final = 8190
_LONGEST_HEAD: Final = 256 * 1024
_MOST_HEADERS: Final = 128
#: A head that is longer is worth a look at what is kept of it.
_LARGE_HEAD: Final = 16 * 1024
_LONGEST_CHUNK_LINE: Final = 1024
#: After so many cuts the caller gets a piece and can let others run: a chunk takes three cuts.
MOST_CUTS: Final = 100
#: Of a Content-Length, but for the zeros before it.
_MOST_DIGITS: Final = 19

#: What may stand between two requests (RFC 9112, 2.2), and how much of it.
_LINE_ENDS: Final = b"\r\n"
_MOST_LINE_ENDS: Final = 64
_END: Final = b"\r\n\r\n"
_VERSIONS: Final = (b" HTTP/1.1", b" HTTP/1.0")
#: The first line of nearly every request: there is nothing to say about it.
_USUAL_LINE: Final = re.compile(rb"(?!CONNECT )[A-Z-]{1,32} /[^\x00- \x7f]* HTTP/1\.[01]\r\n")
#: Where a bare line end stands in it, aiohttp's parser in C sees HTTP/0.9 and a header behind it.
_TARGET: Final = re.compile(rb"[^ ]+ /[^\x00- \x7f]* |OPTIONS \* ")
#: A target as proxies send it: what is before its path says nothing here (RFC 9112, 3.2.2).
_ABSOLUTE: Final = re.compile(
    rb"([^ ]+ )https?://(?:[^/?#@ ]*@)?(?:[^][/?#:@ ]*|\[[0-9A-Fa-f:.]+\])(?::[0-9]*)?(?:/|(?=[ ?]))",
    re.IGNORECASE,
)
#: What the part of a head that is here already has to begin with.
_BEGINNING: Final = re.compile(rb"[A-Z-]{1,32}(?: |\Z)")
_BARE_LINE_END: Final = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\x00")
#: What tells of a body, and of an upgrade, in a head in lower case.
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*+0*+([0-9]++)[ \t]*+\r\n")
#: A Content-Length that aiohttp could take for another one than we do.
_BAD_LENGTH: Final = re.compile(
    rb"\r\ncontent-length[ \t]*:[ \t]*+(?![0-9]++[ \t]*+\r\n)([^\r]{0,60})"
)
_CODING: Final = re.compile(rb"\r\ntransfer-encoding[ \t]*:")
_UPGRADE: Final = re.compile(rb"\r\nconnection:[^\r]*upgrade")
_CONNECTION: Final = re.compile(rb"(?<=\r\nconnection:)[^\r]*", re.IGNORECASE)
#: The lines of a chunked body: how large a chunk is, the end of its data, and what follows the last.
_CHUNK: Final = re.compile(rb"([0-9A-Fa-f]{1,15})(?:;[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")
_CHUNK_END: Final = re.compile(rb"\r\n")
_TRAILER: Final = re.compile(rb"(?:[!#-'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\x0a-\x1f\x7f]*)?\r\n")

INVALID: Final = "The request is not valid HTTP/1.1."
NO_METHOD: Final = "The request line has no HTTP method."
TOO_LONG: Final = f"A line or header of the request is longer than {LONGEST_LINE} bytes."
BROKEN_BODY: Final = (
    "The request body does not have the length or the chunks that its headers announce."
)


class Malformed(Exception):
    """Bytes that are no request, or no body; the text says what is wrong with them."""


class RequestFraming:
    """Cuts the bytes of one connection. `count` requests have begun, the last may be here in part.

    `partial` says whether a part of a request is still to come, `wrong` what is wrong with the last.
    """

    def __init__(self) -> None:
        self.count = 0
        self.in_body = self.partial = False
        #: Whether any head has been so long that not all of it is kept in the request log.
        self.large = False
        self.wrong: str | None = None
        #: A whole request, as it came: who polls sends the very same again.
        self._known = b""
        self._held = bytearray()
        self._searched = self._line_ends = self._missing = 0
        self._chunked, self._line = False, _CHUNK
        #: What comes next; it is given data and where to go on, and returns a piece and its end.
        self._cut: Callable[[bytes, int], tuple[bytes, int]] = self._head

    def feed(self, data: bytes) -> list[bytes]:
        """Cut all the data at once. Returns the pieces."""
        return list(self.cut(data))

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Yield a head as soon as it is whole, and a body as it comes; nothing that is wrong.

        What belongs to one request is one piece, unless it takes more than MOST_CUTS cuts. The data
        that follows may be cut only once this iterator has ended.
        """
        if data == self._known and not self.partial:
            self.count += 1
            self._line_ends = 0
            yield data
            return
        began = self.partial
        pieces: list[bytes] = []  # of the last request
        at = 0
        cuts = 0
        is_single = True
        try:
            while at < len(data):
                cuts += 1
                if (pieces and not self.in_body) or cuts > MOST_CUTS:
                    is_single = False
                    self.partial = True
                    yield b"".join(pieces)
                    pieces.clear()
                    cuts = 0
                piece, at = self._cut(data, at)
                if piece:
                    pieces.append(piece)
        except Malformed as error:
            self.wrong = str(error)
        self.partial = self.in_body or bool(self._held)
        if pieces:
            if is_single and pieces == [data] and not (began or self.partial):
                self._known = data
            yield b"".join(pieces)

    # --- heads ----------------------------------------------------------------------------------

    def _head(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Check a whole head, and learn from it where the request ends."""
        held = len(self._held)
        if not held:
            while at < len(data) and data[at] in _LINE_ENDS:  # some clients send them in between
                at += 1
                self._line_ends += 1
                if self._line_ends > _MOST_LINE_ENDS:
                    self._refuse(NO_METHOD)
        end = -1 if held else data.find(_END, at)
        if end >= 0:  # most heads come in one piece
            end += len(_END)
            head = data[at:end]
        else:
            self._held += data[at : at + _LONGEST_HEAD]
            length = self._held.find(_END, max(0, self._searched - len(_END))) + len(_END)
            if length < len(_END):
                self._check_part(self._held)
                self._searched = len(self._held)
                return b"", len(data)
            head, end = bytes(self._held[:length]), at + length - held
            self._forget()
        if not _USUAL_LINE.match(head):
            head = self._take_line(head)
        # Its first line and its last, which is empty, are none of its headers.
        if head.count(b"\n") > _MOST_HEADERS + 2:
            self._refuse(f"The request has more than {_MOST_HEADERS} headers.")
        self.count += 1
        self._line_ends = 0
        if len(head) > _LARGE_HEAD:
            self.large = True
        # To look for a few words is quick; patterns that ignore case are not.
        lower = head.lower()
        # No upgrade is ever made (RFC 9110, 7.8, leaves that to us), and aiohttp would wait for one.
        if b"upgrade" in lower and _UPGRADE.search(lower):
            head = _CONNECTION.sub(_without_upgrade, head)
        self._chunked = b"transfer-encoding" in lower and bool(_CODING.search(lower))
        if self._chunked:
            if head[: head.index(b"\r\n")].endswith(b"1.0"):  # RFC 9112, 6.1
                raise Malformed(INVALID)
            self.in_body, self._cut, self._line = True, self._chunk_line, _CHUNK
        elif b"content-length" in lower and (wrong := _BAD_LENGTH.search(lower)):
            shown = wrong[1].decode("ascii", "backslashreplace").strip()
            raise Malformed(f"The Content-Length {shown!r} is not a number of bytes.")
        elif b"content-length" in lower and (found := _LENGTH.search(lower)):
            if len(found[1]) > _MOST_DIGITS:  # aiohttp takes 2^64 - 1 for none
                raise Malformed(INVALID)
            missing = int(found[1])
            if missing <= len(data) - end:  # most bodies come with their head
                return head + data[end : end + missing], end + missing
            self.in_body, self._cut, self._missing = True, self._body, missing
        return head, end

    def _check_part(self, part: bytearray) -> None:
        """Refuse a part of a head that can no longer become a whole one."""
        if not part:
            return
        if len(part) - (part.rfind(b"\r\n") + 2) > LONGEST_LINE or len(part) > _LONGEST_HEAD:
            self._refuse(TOO_LONG)
        if not _BEGINNING.match(part):
            self._refuse(NO_METHOD)
        if _BARE_LINE_END.search(part, max(0, self._searched - 1)):
            self._refuse(INVALID)

    def _refuse(self, message: str) -> NoReturn:
        self.count += 1
        self._forget()
        raise Malformed(message)

    def _forget(self) -> None:
        self._held.clear()
        self._searched = 0

    def _take_line(self, head: bytes) -> bytes:
        """Check the first line of a head, and return the head with its target as a path."""
        line = head[: head.index(b"\r\n")]
        if not _BEGINNING.match(line):
            self._refuse(NO_METHOD)
        if not line.endswith(_VERSIONS):
            self._refuse(TOO_LONG if len(line) > LONGEST_LINE else INVALID)
        if line.startswith(b"CONNECT "):
            self._refuse("The method CONNECT is not supported: this is not a proxy.")
        if not _TARGET.match(line):
            absolute = _ABSOLUTE.match(line)  # at its beginning: a search takes its length squared
            head = absolute[1] + b"/" + head[absolute.end() :] if absolute else b""
            if not _TARGET.match(head):
                self._refuse(INVALID)
        return head

    # --- bodies ---------------------------------------------------------------------------------

    def _body(self, data: bytes, at: int) -> tuple[bytes, int]:
        piece = data[at : at + self._missing]
        self._missing -= len(piece)
        if not self._missing:
            self.in_body = self._chunked
            self._cut = self._chunk_line if self._chunked else self._head
        return piece, at + len(piece)

    def _chunk_line(self, data: bytes, at: int) -> tuple[bytes, int]:
        """Check a line of a chunked body, once it is whole, and learn from it what comes next."""
        end = data.find(b"\n", at, at + _LONGEST_CHUNK_LINE) + 1
        self._held += data[at : end or at + _LONGEST_CHUNK_LINE]
        if not end:
            if len(self._held) >= _LONGEST_CHUNK_LINE:
                raise Malformed(BROKEN_BODY)
            return b"", len(data)
        line, self._held = self._held, bytearray()
        found = self._line.fullmatch(line)
        if found is None:
            raise Malformed(BROKEN_BODY)
        if self._line is _CHUNK:
            self._missing = int(found[1], 16)
            if self._missing:
                self._cut, self._line = self._body, _CHUNK_END
            else:
                self._line = _TRAILER
            return b"%x\r\n" % self._missing, end  # without its extensions: nobody here knows any
        if self._line is _CHUNK_END:
            self._line = _CHUNK
        elif line == b"\r\n":
            self.in_body, self._cut = False, self._head
        else:
            return b"", end  # a trailer is passed over
        return b"\r\n", end


def _without_upgrade(options: re.Match[bytes]) -> bytes:
    named = (option.strip() for option in options[0].split(b","))
    return b" " + b", ".join(option for option in named if option.lower() != b"upgrade")
