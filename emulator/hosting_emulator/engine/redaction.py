"""Cutting a world's secrets out of whatever is shown or handed on.

Clients put secrets in odd places and spell them in odd ways, and what is told of their requests must
not spread them. So a secret is known by its value and by its form, wherever it stands, also inside
percent-encoding, base64 and JSON escapes. Each look takes time in proportion to the text.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from hosting_emulator.world.streams import SECRET_LENGTH, digest
from hosting_emulator.world.value import World

REDACTED = "<redacted>"
#: A ticket in a URL; the value of a new API key, which is shown once.
_PLACES = re.compile(r"(?<=ticket=)[^&\s\"]+|(?<=\"value\":\")[^\"]+(?=\",\"request_id\")")
#: What a secret can stand in, encoded or not; what it can stand in as it is; what a JWT stands in.
_RUN = re.compile(r"[\w.~%+/=\\-]{20,}", re.ASCII)
_PIECE = re.compile(r"[\w-]{20,}", re.ASCII)
_DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]*+)+", re.ASCII)
#: The beginning of a JWT whose end was cut off: its header, and some of its payload.
_CUT_JWT = re.compile(r"eyJ[\w-]{12,}\Z", re.ASCII)
#: An API key, whatever the prefix was when it was made.
_KEY = re.compile(rf"(?=([a-z]{{2,8}}_[\w-]{{{SECRET_LENGTH}}}))", re.ASCII)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_BASE_64 = re.compile(r"[A-Za-z0-9+/_-]{24,}")
_JOINTS = str.maketrans("/-_", "   ")
#: Of a key's value this much after its prefix is enough to be kept secret.
_TELLING = 20
#: In a longer piece of text without a break no secret is looked for by its value.
_LONGEST_PIECE = 256
#: Where a text is cut, what could be nearly all of a secret.
_BEGUN = re.compile(rb"(?<![\w-])[\w-]+\Z")
_ENCODINGS_DEEP = 2
#: The schemes that an Authorization header may show; anything else there may be the secret itself.
_SCHEMES = frozenset({"bearer", "basic", "digest", "token", "apikey", "negotiate"})
_SECRET_HEADERS = frozenset({"cookie", "set-cookie", "x-control-token"})
#: Patterns of the secrets of this process, which belong to no world (see `keep_secret`).
_PROCESS_SECRETS: dict[str, re.Pattern[str]] = {}
#: A shorter secret would be found in innocent words.
_SHORTEST_SECRET = 6


def keep_secret(secret: str) -> None:
    """Cut a secret of this process, such as the control token, out of whatever is shown from now on.

    It is found as it is, percent-encoded once or more often, and with JSON escapes.
    """
    if len(secret) < _SHORTEST_SECRET:
        return
    spelled = (
        f"(?:{re.escape(character)}|%(?:25)*(?i:{ord(character):02x})"
        f"|\\\\u00(?i:{ord(character):02x}))"
        for character in secret
    )
    _PROCESS_SECRETS[secret] = re.compile("".join(spelled))


def decodings(text: str) -> Iterator[str]:
    """Yield what stands in a text percent-encoded, in base64 or with JSON escapes, once or twice."""
    for run in _RUN.findall(text):
        for once in _decodings(run):
            yield once
            yield from _decodings(once)


def beginning(text: bytes, length: int) -> bytes:
    """Return so many bytes of a text, or less: a part of a secret would not be known as one."""
    begun = _BEGUN.search(text, max(0, length - _LONGEST_PIECE), length)
    return text[: begun.start() if begun else length]


class Redactor:
    """Cuts the secrets of one world out of text: tokens, and values of API keys and tickets."""

    def __init__(self, world: World) -> None:
        self._indexes = world.indexes
        self._prefix = world.assumptions.key_prefix

    def text(self, found: str) -> str:
        """Return a text without secrets, and fit to be written as JSON whatever bytes came."""
        found = found.encode("utf-8", "backslashreplace").decode()
        found = _without_process_secrets(found)
        return _RUN.sub(self._run, _PLACES.sub(REDACTED, found))

    def body(self, body: bytes) -> str | None:
        """Return a body as text without secrets; None when it is not text."""
        try:
            return self.text(body.decode())
        except UnicodeDecodeError:
            return None

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[Sequence[str]]:
        """Return headers without secrets; of an Authorization header its scheme is left."""
        shown: list[Sequence[str]] = []
        for name, value in headers:
            scheme, space, _ = value.strip().partition(" ")
            if name.lower() in ("authorization", "proxy-authorization"):
                known = space and scheme.lower() in _SCHEMES
                shown.append((name, f"{scheme} {REDACTED}" if known else REDACTED))
            else:
                secret = name.lower() in _SECRET_HEADERS
                shown.append((self.text(name), REDACTED if secret else self.text(value)))
        return shown

    def _run(self, found: re.Match[str]) -> str:
        plain = self._plain(found[0])
        return REDACTED if self._encoded(plain, _ENCODINGS_DEEP) else plain

    def _encoded(self, run: str, deep: int) -> bool:
        """Tell whether a text is a secret once an encoding is undone, or another within that."""
        for decoded in _decodings(run):
            if self._plain(decoded) != decoded or (deep > 1 and self._encoded(decoded, deep - 1)):
                return True
        return False

    def _plain(self, text: str) -> str:
        text = _without_process_secrets(text)
        if "eyJ" in text:
            text = _DOTTED.sub(_without_jwt, text)
        return _PIECE.sub(self._piece, text)

    def _piece(self, found: re.Match[str]) -> str:
        piece, prefix = found[0], self._prefix
        if len(piece) == SECRET_LENGTH:
            return REDACTED
        at = piece.find(prefix)
        if at >= 0 and len(piece) - at - len(prefix) >= _TELLING:
            return piece[:at] + REDACTED
        known = SECRET_LENGTH < len(piece) <= _LONGEST_PIECE and self._holds_known(piece)
        return REDACTED if known else piece

    def _holds_known(self, piece: str) -> bool:
        """Tell whether a key, a ticket or a dev session of this world stands somewhere within a text."""
        ends = range(SECRET_LENGTH, len(piece) + 1)
        digests = [digest(piece[end - SECRET_LENGTH : end]) for end in ends]
        held = [f"{kind}:{one}" for kind in ("ticket", "session") for one in digests]
        held += [f"api_key:{digest(found[1])}" for found in _KEY.finditer(piece)]
        return any(each in self._indexes for each in held)


def _without_process_secrets(text: str) -> str:
    for pattern in _PROCESS_SECRETS.values():
        text = pattern.sub(REDACTED, text)
    return text


def _without_jwt(found: re.Match[str]) -> str:
    """Cut a JWT out of words with dots between them: it begins `eyJ` and has three parts.

    One that was cut off may have two.
    """
    words = found[0].split(".")
    for number, word in enumerate(words[:-1]):
        at = word.find("eyJ")
        is_last = number == len(words) - 2
        if at >= 0 and (not is_last or _CUT_JWT.search(word, at)):
            return ".".join([*words[:number], word[:at] + REDACTED])
    return found[0]


def _decodings(run: str) -> Iterator[str]:
    if "%" in run:
        yield unquote(run)
    if "\\u" in run:
        yield _ESCAPE.sub(lambda code: chr(int(code[1], 16)), run)
    # Slash, hyphen and underscore are letters of base64, and stand between the parts of paths and names.
    for found in [*_BASE_64.findall(run), *_BASE_64.findall(run.translate(_JOINTS))]:
        text = found.translate({ord("+"): "-", ord("/"): "_"})
        if len(text) % 4 == 1:  # it was cut off
            text = text[:-1]
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if decoded.isascii():
            yield decoded.decode("ascii")
