"""Redaction removes secrets from text before it is shown or exported.

Clients can put secrets in unexpected places, encoded in unexpected ways, but a view of a client's
requests must not leak any of them. A secret is recognized by its value or its form, anywhere in a
text, even inside two nested encodings (percent-encoding, base64 or JSON escapes). Redaction takes
time proportional to the length of the text.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator
from urllib.parse import unquote

from hosting_emulator.world.streams import SECRET_LENGTH, digest
from hosting_emulator.world.value import World

REDACTED = "<redacted>"
#: A ticket in a URL, or the value of a new API key in a response.
_SECRET_FIELDS = re.compile(r"(?<=ticket=)[^&\s\"]+|(?<=\"value\":\")[^\"]+(?=\",\"request_id\")")
#: A run of characters that may contain a secret, encoded or not.
_RUN = re.compile(r"[\w.~%+/=\\-]{20,}", re.ASCII)
#: A run of characters that may contain an unencoded secret.
_PIECE = re.compile(r"[\w-]{20,}", re.ASCII)
#: Dot-separated words, as in a JWT.
_DOTTED = re.compile(r"(?<![\w-])[\w-]++(?:\.[\w-]*+)+", re.ASCII)
#: The beginning of a truncated JWT: its header and part of its payload.
_CUT_JWT = re.compile(r"eyJ[\w-]{12,}\Z", re.ASCII)
#: An API key with any prefix, because the world's assumption about the prefix may have changed.
_KEY = re.compile(rf"(?=([a-z]{{2,8}}_[\w-]{{{SECRET_LENGTH}}}))", re.ASCII)
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
#: The length of a JSON escape without its backslash.
_CODE_LENGTH = 5
_BASE_64 = re.compile(r"[A-Za-z0-9+/_-]{24,}")
_JOINTS = str.maketrans("/-_", "   ")
#: Text with the prefix of an API key is redacted if at least this many characters follow.
_SECRET_CHARACTERS = 20
#: Pieces that are longer than this are not looked up as values of secrets.
_LONGEST_PIECE = 256
#: The last word of a truncated text, which may contain most of a secret.
_LAST_WORD = re.compile(rb"(?<![\w-])[\w-]+\Z")
#: The maximum number of nested encodings to decode.
_MOST_ENCODINGS = 2
#: Known authentication schemes. If an Authorization header does not begin with one of them, its
#: first word may be the secret itself.
_SCHEMES = frozenset({"bearer", "basic", "digest", "token", "apikey", "negotiate"})
_SECRET_HEADERS = frozenset({"cookie", "set-cookie", "x-control-token"})
#: Patterns for secrets that belong to this process rather than to a world (see `keep_secret`).
_PROCESS_SECRETS: dict[str, re.Pattern[str]] = {}
#: The minimum length of a process secret. A shorter secret would also match harmless words.
_SHORTEST_SECRET = 6


def keep_secret(secret: str) -> None:
    """From now on, redact a secret that belongs to this process, such as the control token.

    The secret is recognized verbatim, percent-encoded any number of times, and with JSON escapes. A
    secret shorter than _SHORTEST_SECRET is not redacted.
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
    """Yield the long words in a text after one and after two rounds of decoding.

    A round undoes percent-encoding, base64 or JSON escapes.
    """
    for run in _RUN.findall(text):
        for once in _decodings(run):
            yield once
            yield from _decodings(once)


def beginning(text: bytes, length: int) -> bytes:
    """Return a text truncated to at most `length` bytes, without its last word.

    The last word could be the beginning of a secret, which redaction would not recognize.
    """
    last_word = _LAST_WORD.search(text, max(0, length - _LONGEST_PIECE), length)
    end = length if last_word is None else last_word.start()
    return text[:end]


class Redactor:
    """Removes secrets from text: the tokens, API keys and tickets of a world, and the secrets of
    this process.
    """

    def __init__(self, world: World) -> None:
        self._indexes = world.indexes
        self._prefix = world.assumptions.key_prefix

    def text(self, text: str) -> str:
        """Return a text without secrets and without surrogates, which JSON cannot encode."""
        text = text.encode("utf-8", "backslashreplace").decode()
        text = _without_process_secrets(text)
        return _RUN.sub(self._run, _SECRET_FIELDS.sub(REDACTED, text))

    def body(self, body: bytes) -> str | None:
        """Return a body as text without secrets, or None if the body is not UTF-8."""
        try:
            return self.text(body.decode())
        except UnicodeDecodeError:
            return None

    def headers(self, headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        """Return headers without secrets. A known scheme in an Authorization header is kept."""
        redacted: list[tuple[str, str]] = []
        for name, value in headers:
            lower_name = name.lower()
            if lower_name in ("authorization", "proxy-authorization"):
                redacted.append((name, _redacted_credentials(value)))
            elif lower_name in _SECRET_HEADERS:
                redacted.append((self.text(name), REDACTED))
            else:
                redacted.append((self.text(name), self.text(value)))
        return redacted

    def _run(self, match: re.Match[str]) -> str:
        plain = self._plain(match[0])
        if self._contains_encoded(plain, _MOST_ENCODINGS):
            return REDACTED
        return plain

    def _contains_encoded(self, run: str, encodings: int) -> bool:
        """Return whether a text contains a secret that has been encoded up to `encodings` times."""
        for decoded in _decodings(run):
            if self._plain(decoded) != decoded:
                return True
            if encodings > 1 and self._contains_encoded(decoded, encodings - 1):
                return True
        return False

    def _plain(self, text: str) -> str:
        """Return a text without unencoded secrets."""
        text = _without_process_secrets(text)
        if "eyJ" in text:
            text = _DOTTED.sub(_without_jwt, text)
        return _PIECE.sub(self._piece, text)

    def _piece(self, match: re.Match[str]) -> str:
        piece = match[0]
        if _ESCAPE.match(match.string, max(0, match.start() - 1)):
            # Keep the JSON escape in front of a secret, such as that of the = in a ticket's URL.
            rest = piece[_CODE_LENGTH:]
            redacted = self._redacted(rest)
            if redacted != rest:
                return piece[:_CODE_LENGTH] + redacted
        return self._redacted(piece)

    def _redacted(self, piece: str) -> str:
        if len(piece) == SECRET_LENGTH:
            return REDACTED
        start = piece.find(self._prefix)
        if start >= 0 and len(piece) - start - len(self._prefix) >= _SECRET_CHARACTERS:
            return piece[:start] + REDACTED
        if SECRET_LENGTH < len(piece) <= _LONGEST_PIECE and self._contains_value(piece):
            return REDACTED
        return piece

    def _contains_value(self, piece: str) -> bool:
        """Return whether a text contains the value of an API key, a ticket or a dev session in this
        world.
        """
        for end in range(SECRET_LENGTH, len(piece) + 1):
            value_digest = digest(piece[end - SECRET_LENGTH : end])
            for kind in ("ticket", "session"):
                if f"{kind}:{value_digest}" in self._indexes:
                    return True
        return any(f"api_key:{digest(match[1])}" in self._indexes for match in _KEY.finditer(piece))


def _redacted_credentials(value: str) -> str:
    """Redact the value of an Authorization header, except for its scheme if that is known."""
    scheme, space, _ = value.strip().partition(" ")
    if space and scheme.lower() in _SCHEMES:
        return f"{scheme} {REDACTED}"
    return REDACTED


def _without_process_secrets(text: str) -> str:
    for pattern in _PROCESS_SECRETS.values():
        text = pattern.sub(REDACTED, text)
    return text


def _without_jwt(match: re.Match[str]) -> str:
    """Remove a JWT, which starts with `eyJ` and has three parts, from dot-separated words.

    A truncated JWT can have two parts.
    """
    words = match[0].split(".")
    last = len(words) - 2
    for index, word in enumerate(words[:-1]):
        start = word.find("eyJ")
        if start < 0:
            continue
        if index < last or _CUT_JWT.search(word, start):
            return ".".join([*words[:index], word[:start] + REDACTED])
    return match[0]


def _decodings(run: str) -> Iterator[str]:
    if "%" in run:
        yield unquote(run)
    if "\\u" in run:
        yield _ESCAPE.sub(lambda code: chr(int(code[1], 16)), run)
    # Slash, hyphen and underscore are base64 characters, but they also separate the parts of paths
    # and names.
    for encoded in [*_BASE_64.findall(run), *_BASE_64.findall(run.translate(_JOINTS))]:
        text = encoded.translate({ord("+"): "-", ord("/"): "_"})
        if len(text) % 4 == 1:
            text = text[:-1]  # the encoded text was truncated
        decoded = urlsafe_b64decode(text + "=" * (-len(text) % 4))
        if decoded.isascii():
            yield decoded.decode("ascii")
