"""A browser and a client that sign in by hand: what a request looks like, and who follows it."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from email.message import Message
from hashlib import sha256
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

VERIFIER = "a-verifier-of-at-least-forty-three-characters"
CALLBACK = "http://localhost:5173/callback?kept=1"


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


@dataclass(frozen=True)
class Page:
    """An answer to a browser."""

    status: int
    headers: Message
    text: str

    @property
    def answer(self) -> dict[str, str]:
        """What a redirect tells the client."""
        parts = urlsplit(self.headers["Location"])
        return {name: found[0] for name, found in parse_qs(parts.query or parts.fragment).items()}

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    def choice(self, user: str) -> str:
        """Return the value of the (first) button of a user, by alias."""
        buttons = re.findall(
            r'<button name="choice" value="([^"]+)">(.*?)</button>', self.text, re.S
        )
        return next(value for value, shown in buttons if f"<code>{user}</code>" in shown)

    def fields(self) -> dict[str, str]:
        """Return the hidden fields of the form."""
        found = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', self.text)
        return {unescape(name): unescape(value) for name, value in found}


@dataclass
class Browser:
    """Sends requests to one issuer, keeps its cookie and follows no redirect."""

    issuer: str
    cookie: str = ""
    opener: urllib.request.OpenerDirector = field(
        default_factory=lambda: urllib.request.build_opener(_Stay)
    )

    def send(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Page:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            sent["Cookie"] = self.cookie
        data = None if form is None else urlencode(form).encode()
        request = urllib.request.Request(self.issuer + path, data, sent)
        try:
            with self.opener.open(request) as found:
                page = Page(found.status, found.headers, found.read().decode())
        except urllib.error.HTTPError as error:
            with error:
                page = Page(error.code, error.headers, error.read().decode())
        kept = page.headers["Set-Cookie"]
        if kept:
            self.cookie = kept.partition(";")[0]
        return page

    def authorize(self, **fields: str | None) -> Page:
        """Ask for a code; fields are laid over those of a good request, None leaves one out."""
        asked = {name: value for name, value in (request_fields() | fields).items() if value}
        return self.send("/authorize?" + urlencode(asked))

    def choose(self, user: str, **fields: str | None) -> Page:
        """Ask for a code, and choose a user on the page that comes."""
        page = self.authorize(**fields)
        assert page.status == 200, page
        return self.send("/authorize", page.fields() | {"choice": page.choice(user)})

    def redeem(self, code: str, **fields: str) -> Page:
        """Change a code for tokens."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": "web-app",
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        return self.send("/token", form | fields)

    def refresh(self, token: str, **fields: str) -> Page:
        """Change a refresh token for new tokens."""
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "web-app"}
        return self.send("/token", form | fields)


def challenge(verifier: str = VERIFIER) -> str:
    """Return the S256 challenge of RFC 7636."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def request_fields() -> dict[str, str]:
    """Return a good authorization request."""
    return {
        "response_type": "code",
        "client_id": "web-app",
        "redirect_uri": CALLBACK,
        "scope": "openid profile email offline_access",
        "state": "a state & more",
        "nonce": "n-1",
        "code_challenge": challenge(),
        "code_challenge_method": "S256",
    }
