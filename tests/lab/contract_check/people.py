"""Deviations in access: the server mistakes the token of one user for that of another.

Importing this module adds them to the table of `deviations`.
"""

from __future__ import annotations

from tests.lab.contract_check.deviations import caller_deviation
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering


class TakesFor(Tampering):
    """Treats one token as another on paths with these endings. None stands for no token."""

    def __init__(
        self, accepted_token: str | None, effective_token: str | None, *endings: str
    ) -> None:
        self._accepted_header = f"Bearer {accepted_token}" if accepted_token else None
        self._effective_header = f"Bearer {effective_token}"
        self._endings = endings

    def before(self, exchange: Exchange) -> None:
        path = exchange.path.partition("?")[0]
        if exchange.request_headers.get("Authorization") == self._accepted_header and path.endswith(
            self._endings
        ):
            exchange.request_headers["Authorization"] = self._effective_header


class TakesCookies(Tampering):
    """Accepts a token in a cookie."""

    def before(self, exchange: Exchange) -> None:
        cookie = exchange.request_headers.get("Cookie", "")
        if "access_token=" in cookie:
            token = cookie.partition("access_token=")[2].partition(";")[0]
            exchange.request_headers["Authorization"] = f"Bearer {token}"


class KeysAreSessions(Tampering):
    """Lets a user API key create another one."""

    def __init__(self, token: str) -> None:
        self._token = token

    def before(self, exchange: Exchange) -> None:
        is_key = exchange.request_headers.get("Authorization", "").startswith("Bearer phk_")
        if is_key and exchange.path.endswith("/user-api-keys"):
            exchange.request_headers["Authorization"] = f"Bearer {self._token}"


caller_deviation(
    "readers may switch the flag",
    "flag.owner-only auth.roles",
    lambda options: TakesFor(options.reader_token, options.token, "/powered-by-flag"),
)
caller_deviation(
    "readers may have tickets",
    "tickets.owner-only auth.roles",
    lambda options: TakesFor(options.reader_token, options.token, "/dev-access-tickets"),
)
caller_deviation(
    "readers may not read compute",
    "compute.readers auth.roles",
    lambda options: TakesFor(
        options.reader_token, options.no_organization_token, "/database/compute"
    ),
)
caller_deviation(
    "strangers may read",
    "condition.missing",
    lambda options: TakesFor(options.outsider_token, options.token, "/edge-dns"),
)
caller_deviation(
    "nobody may list",
    "auth.bearer auth.no-cookie bearer",
    lambda options: TakesFor(None, options.token, "/deployments"),
)
caller_deviation("cookies are sessions", "auth.no-cookie", lambda _: TakesCookies())
caller_deviation(
    "keys are sessions",
    "keys.session auth.session",
    lambda options: KeysAreSessions(options.token),
)
