"""Deviations about who may ask: the wrong server takes one person's token for another's.

Importing this module puts them into the table of `deviations`.
"""

from __future__ import annotations

from tests.lab.contract_check.deviations import people
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering


class TakesFor(Tampering):
    """Somebody's token counts as another's on paths that end so. "" is no token at all."""

    def __init__(self, taken: str | None, counts_as: str | None, *endings: str) -> None:
        self._taken = f"Bearer {taken}" if taken else None
        self._as = f"Bearer {counts_as}"
        self._endings = endings

    def before(self, exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        if exchange.sent.get("Authorization") == self._taken and path.endswith(self._endings):
            exchange.sent["Authorization"] = self._as


class TakesCookies(Tampering):
    """A token in a cookie is as good as one in the header."""

    def before(self, exchange: Exchange) -> None:
        cookie = exchange.sent.get("Cookie", "")
        if "access_token=" in cookie:
            token = cookie.partition("access_token=")[2].partition(";")[0]
            exchange.sent["Authorization"] = f"Bearer {token}"


class KeysAreSessions(Tampering):
    """A user API key may make another."""

    def __init__(self, token: str) -> None:
        self._token = token

    def before(self, exchange: Exchange) -> None:
        key = exchange.sent.get("Authorization", "").startswith("Bearer phk_")
        if key and exchange.path.endswith("/user-api-keys"):
            exchange.sent["Authorization"] = f"Bearer {self._token}"


people(
    "readers may switch the flag",
    "flag.owner-only auth.roles",
    lambda options: TakesFor(options.reader_token, options.token, "/powered-by-flag"),
)
people(
    "readers may have tickets",
    "tickets.owner-only auth.roles",
    lambda options: TakesFor(options.reader_token, options.token, "/dev-access-tickets"),
)
people(
    "readers may not read compute",
    "compute.readers auth.roles",
    lambda options: TakesFor(
        options.reader_token, options.no_organization_token, "/database/compute"
    ),
)
people(
    "strangers may read",
    "condition.missing",
    lambda options: TakesFor(options.outsider_token, options.token, "/edge-dns"),
)
people(
    "nobody may list",
    "auth.bearer auth.no-cookie bearer",
    lambda options: TakesFor(None, options.token, "/deployments"),
)
people("cookies are sessions", "auth.no-cookie", lambda _: TakesCookies())
people(
    "keys are sessions",
    "keys.session auth.session",
    lambda options: KeysAreSessions(options.token),
)
