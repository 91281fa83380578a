"""Where this server is found: the URLs it tells, seen from whoever asks.

URLs follow the request's Host, so that they open through a mapped port or another name as well.
"""

from __future__ import annotations

from dataclasses import dataclass

from aiohttp import web

from hosting_emulator.server.hosts import host_name
from hosting_emulator.world.naming import DEFAULT_WORLD

_DOCS = "/_emulator/docs"


@dataclass(slots=True)
class Site:
    """The addresses of one server. `public_url` overrides what requests say; no slash at its end."""

    url: str
    public_url: str | None = None
    tls_port: int | None = None

    def base_url(self, request: web.BaseRequest) -> str:
        """Return scheme, host and port under which the asker reaches this server."""
        if self.public_url is not None:
            return self.public_url
        host = request.headers.get("Host", "")
        if not host_name(host):
            return self.url
        return f"{request.scheme}://{host}"

    def docs_url(self, request: web.BaseRequest) -> str:
        """Return where the documentation is."""
        return self.base_url(request) + _DOCS

    @property
    def own_docs_url(self) -> str:
        """Where the documentation is, whoever asks."""
        return (self.public_url or self.url) + _DOCS


def world_prefix(name: str) -> str:
    """Return what stands before `/v1` in a world's paths."""
    return "" if name == DEFAULT_WORLD else f"/worlds/{name}"
