"""What guard, pages and identity provider read of a request: all but its body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from multidict import CIMultiDict, MultiMapping


class RequestHead(Protocol):
    """The head of a request. aiohttp's requests have these attributes, and so has `PlainHead`."""

    @property
    def method(self) -> str:
        """The method, in capitals."""

    @property
    def scheme(self) -> str:
        """`http` or `https`."""

    @property
    def remote(self) -> str | None:
        """The address of the client; None if it is unknown."""

    @property
    def headers(self) -> MultiMapping[str]:
        """The headers. Their names are not case-sensitive."""


@dataclass(frozen=True)
class PlainHead:
    """The head of a request that no socket received, such as one of a scenario's story."""

    method: str
    headers: CIMultiDict[str]
    scheme: str = "http"
    remote: str | None = None
