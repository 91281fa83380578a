"""A browser and a client program that sign in a user, step by step."""

from __future__ import annotations

import re
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

from tests.support.calls import Response
from tests.support.http_client import HttpClient

VERIFIER = "a-verifier-of-at-least-forty-three-characters"
CALLBACK = "http://localhost:5173/callback?kept=1"


class Page(Response):
    """A response that a browser receives."""

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def parameters(self) -> dict[str, str]:
        """The parameters that a redirect passes to the client."""
        parts = urlsplit(str(self.header("Location")))
        fields = parse_qs(parts.query or parts.fragment)
        return {name: values[0] for name, values in fields.items()}

    def choice(self, user: str) -> str:
        """Return the value of the first button for a user, who is given by alias."""
        buttons = re.findall(
            r'<button name="choice" value="([^"]+)">(.*?)</button>', self.text, re.S
        )
        return next(value for value, content in buttons if f"<code>{user}</code>" in content)

    def fields(self) -> dict[str, str]:
        """Return the hidden fields of the form."""
        inputs = re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', self.text)
        return {unescape(name): unescape(value) for name, value in inputs}


@dataclass
class Browser:
    """Sends requests to one issuer, stores the issuer's cookie, and does not follow redirects."""

    issuer: str
    cookie: str = ""

    def send(self, path: str, form: dict[str, str] | None = None, **headers: str) -> Page:
        """Submit a form, or request a page if no form is given.

        An underscore in the name of a header stands for a hyphen.
        """
        request_headers = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.cookie:
            request_headers["Cookie"] = self.cookie
        url = urlsplit(self.issuer)
        with HttpClient(self.issuer) as client:
            if form is None:
                response = client.send("GET", url.path + path, None, request_headers)
            else:
                request_headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
                content = urlencode(form).encode()
                response = client.send("POST", url.path + path, content, request_headers)
        cookie = response.header("Set-Cookie")
        if cookie:
            self.cookie = cookie.partition(";")[0]
        return Page(response.status, response.headers, response.body)

    def authorize(self, **fields: str | None) -> Page:
        """Request an authorization code. `fields` replace fields of a valid request. None removes a field."""
        all_fields = request_fields() | fields
        query = {name: value for name, value in all_fields.items() if value}
        return self.send("/authorize?" + urlencode(query))

    def choose(self, user: str, **fields: str | None) -> Page:
        """Request an authorization code, and choose a user on the sign-in page."""
        page = self.authorize(**fields)
        assert page.status == 200, page
        return self.send("/authorize", page.fields() | {"choice": page.choice(user)})

    def redeem(self, code: str, **fields: str) -> Page:
        """Exchange an authorization code for tokens."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": "web-app",
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        return self.send("/token", form | fields)

    def refresh(self, token: str, **fields: str) -> Page:
        """Exchange a refresh token for new tokens."""
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": "web-app"}
        return self.send("/token", form | fields)


def challenge(verifier: str = VERIFIER) -> str:
    """Return the S256 code challenge (RFC 7636) for a verifier."""
    return urlsafe_b64encode(sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def request_fields() -> dict[str, str]:
    """Return the fields of a valid authorization request."""
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
