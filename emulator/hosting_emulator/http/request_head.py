"""The head of a request, which is everything except the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from aiohttp import BasicAuth
from multidict import CIMultiDict, MultiMapping


class RequestHead(Protocol):
    """The head of a request. Both aiohttp's requests and `PlainHead` have these attributes."""

    @property
    def method(self) -> str:
        """The method, in capital letters."""

    @property
    def scheme(self) -> str:
        """`http` or `https`."""

    @property
    def remote(self) -> str | None:
        """The client's address, or None if it is unknown."""

    @property
    def headers(self) -> MultiMapping[str]:
        """The headers. Their names are not case-sensitive."""


@dataclass(frozen=True)
class PlainHead:
    """The head of a request that did not arrive on a socket, such as a request in a scenario's story."""

    method: str
    headers: CIMultiDict[str]
    scheme: str = "http"
    remote: str | None = None


def wants_page(request: RequestHead) -> bool:
    """Return whether a request is a GET request that accepts HTML."""
    return request.method == "GET" and "text/html" in request.headers.get("Accept", "")


def basic_credentials(request: RequestHead) -> tuple[str, str]:
    """Return the user name and password of Basic authentication in a request (RFC 7617).

    Returns two empty strings if the request contains no valid credentials.
    """
    try:
        credentials = BasicAuth.decode(request.headers.get("Authorization", ""), "utf-8")
    except ValueError:
        return "", ""
    return credentials.login, credentials.password


def read_cookie(request: RequestHead, name: str) -> str | None:
    """Return the value of a cookie in a request, or None if the request does not have this cookie."""
    # Do not use `http.cookies`, which returns no cookie at all if any cookie has an unusual name or
    # value. A browser sends the cookies of all servers on localhost, such as one that contains JSON.
    for cookie in request.headers.get("Cookie", "").split(";"):
        cookie_name, _, value = cookie.partition("=")
        if cookie_name.strip() == name:
            return value.strip()
    return None
