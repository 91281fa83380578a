"""What a person says of the server to check, and what the check may do there."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

#: What may be changed at the server, each for the sentences that cannot be seen otherwise.
ALLOWED = ("flag", "source", "keys", "domains", "tickets")

#: Assumptions that a check may be told, where it cannot find them out.
TOLD = ("operation_path", "cursor_parameter", "limit_parameter", "environment_parameter")
#: The options that hold a secret.
TOKENS = (
    "token",
    "maintainer_token",
    "reader_token",
    "outsider_token",
    "no_organization_token",
    "api_key",
)


class CheckRefused(Exception):
    """The check cannot be made; the message is one clear line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """One check. Ids are Ulids; tokens are bearer tokens of people the service knows.

    `token` is the project owner's, in an interactive session, with the organization of the project.
    `allow` holds words of ALLOWED. `assumed` says what the check should not have to find out: where
    operations are polled, names of query parameters. `origin_url` is where dev origins answer, if
    their names cannot be resolved. `timeout_s` bounds each answer; `patience_s` all waiting together,
    in seconds of whatever clock `pause` keeps. `ask_before` is called with each request's title.
    """

    base_url: str
    token: str
    project_id: str
    organization_id: str
    maintainer_token: str | None = None
    reader_token: str | None = None
    outsider_token: str | None = None
    no_organization_token: str | None = None
    api_key: str | None = None
    allow: frozenset[str] = frozenset()
    assumed: dict[str, str] = field(default_factory=dict)
    origin_url: str | None = None
    ca_file: str | None = None
    timeout_s: float = 10.0
    patience_s: float = 120.0
    pause: Callable[[float], None] = time.sleep
    run_id: str = ""
    ask_before: Callable[[str], None] = lambda title: None

    @property
    def root(self) -> str:
        """What stands before `/v1`: the base URL, whether it was written with `/v1` or without."""
        return self.base_url.rstrip("/").removesuffix("/v1")


def check_address(url: str, name: str) -> None:
    """Refuse what is no HTTP address, or has more than a path behind it. Raises CheckRefused."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        fine = fine and not (parts.query or parts.fragment or parts.username)
    except ValueError:
        fine = False
    if not fine or not url.isascii() or not url.isprintable() or " " in url:
        raise CheckRefused(f"{name}: {url!r} is no address: write it like https://api.example")
