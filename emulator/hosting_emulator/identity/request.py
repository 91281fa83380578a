"""A request to the identity provider."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.engine.access_tokens import issuer_path
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.guard import Site
from hosting_emulator.http.request_head import RequestHead


@dataclass(frozen=True, slots=True)
class IdentityRequest:
    """A request to a world's identity provider, with its complete body."""

    head: RequestHead
    query: str
    body: bytes
    site: Site

    @property
    def base_url(self) -> str:
        """The scheme, host and port that the client uses for this server."""
        return self.site.base_url(self.head)

    def issuer(self, engine: Engine) -> str:
        """Return the issuer of a world's tokens, as a URL that this client can reach."""
        return self.base_url + issuer_path(engine.world.name)
