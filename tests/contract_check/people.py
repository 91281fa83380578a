"""Planted deviations about who may ask: the wrong server takes one person's token for another's."""

from __future__ import annotations

from hosting_emulator.contract_check import CheckOptions
from tests.contract_check.tampering_proxy import Exchange, Tampering


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


def by_name(name: str, options: CheckOptions) -> Tampering:
    """Return a deviation of `BREAKS`."""
    owner, reader, stranger = options.token, options.reader_token, options.outsider_token
    made: dict[str, Tampering] = {
        "readers may switch the flag": TakesFor(reader, owner, "/powered-by-flag"),
        "readers may have tickets": TakesFor(reader, owner, "/dev-access-tickets"),
        "readers may not read compute": TakesFor(
            reader, options.no_organization_token, "/database/compute"
        ),
        "strangers may read": TakesFor(stranger, owner, "/edge-dns"),
        "nobody may list": TakesFor(None, owner, "/deployments"),
        "cookies are sessions": TakesCookies(),
        "keys are sessions": KeysAreSessions(owner),
    }
    return made[name]


BREAKS = {
    "readers may switch the flag": "flag.owner-only auth.roles",
    "readers may have tickets": "tickets.owner-only auth.roles",
    "readers may not read compute": "compute.readers auth.roles",
    "strangers may read": "condition.missing",
    "nobody may list": "auth.bearer bearer",
    "cookies are sessions": "auth.no-cookie",
    "keys are sessions": "keys.session auth.session",
}
