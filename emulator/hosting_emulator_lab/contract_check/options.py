"""The options of a contract check, and the refusal of options that cannot be used."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from urllib.parse import urlsplit

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator_lab.contract_check.address import Address

#: The changes that a check can be allowed to make on the server. Each word permits requests that
#: some sentences need.
ALLOWED = ("flag", "source", "keys", "domains", "tickets")
#: The assumptions that the caller may set, because the check cannot always discover them.
SETTABLE_ASSUMPTIONS = (
    "operation_path",
    "cursor_parameter",
    "limit_parameter",
    "environment_parameter",
)


class CheckRefused(Exception):
    """The check cannot be made. The message is one line with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The options of one check.

    `base_url` is the server's address, with or without `/v1` at the end. Ids are Ulids. Tokens are
    bearer tokens of users that the service knows. `token` belongs to an owner of the project, comes
    from an interactive session, and names the organization of the project.

    `allow` contains words of ALLOWED. `assumed` contains values of SETTABLE_ASSUMPTIONS. `origin_url`
    is the address that serves the dev origins if their names do not resolve. `ca_file` is a file with
    certificate authorities to trust.

    `timeout_s` is the longest time to wait for each response, and `patience_s` the longest time to
    wait between requests in total, both in seconds. `pause` waits for a number of seconds, by
    default in real time. `run_id` is part of every name that the check creates, and is random by
    default. `connect` returns an object that sends requests to an address.
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
    connect: Callable[..., Address] = Address


#: The names of the options that contain a secret.
TOKENS = [
    option.name for option in fields(CheckOptions) if option.name.endswith(("token", "api_key"))
]


def validate_options(options: CheckOptions) -> None:
    """Raise CheckRefused if an option has a value that no check can use."""
    _validate_urls(options)
    _validate_ids(options)
    _validate_tokens(options)
    _validate_assumptions(options)


def _validate_urls(options: CheckOptions) -> None:
    for option in ("base_url", "origin_url"):
        url = getattr(options, option)
        if url is not None and not _is_address(url):
            raise CheckRefused(
                f"--{option.replace('_', '-')}: {url!r} is not an address: "
                "write it like https://api.example"
            )


def _is_address(url: str) -> bool:
    """Return whether a text is an HTTP URL with at most a port and a path after the host."""
    try:
        parts = urlsplit(url)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
    is_http = parts.scheme in ("http", "https")
    has_more = bool(parts.query or parts.fragment or parts.username)
    is_plain = url.isascii() and url.isprintable() and " " not in url
    return is_http and has_host and is_plain and not has_more


def _validate_ids(options: CheckOptions) -> None:
    for option in ("project", "organization"):
        value = getattr(options, f"{option}_id")
        if not is_ulid(value):
            raise CheckRefused(
                f"--{option}: {value!r} is not a Ulid, "
                "26 characters of 0-9 and A-Z without I, L, O, U"
            )


def _validate_tokens(options: CheckOptions) -> None:
    for name in TOKENS:
        value = getattr(options, name)
        if value is not None and not (value.isascii() and value.isprintable() and value.strip()):
            option = "user-api-key" if name == "api_key" else name.replace("_", "-")
            raise CheckRefused(f"--{option} cannot be sent: it is not plain text of one line")


def _validate_assumptions(options: CheckOptions) -> None:
    path = options.assumed.get("operation_path")
    if path is not None and not (path.startswith("/v1/") and "{operation_id}" in path):
        raise CheckRefused(f"operation_path {path!r} is not a path below /v1 with {{operation_id}}")
    for name in options.assumed:
        if name not in SETTABLE_ASSUMPTIONS:
            raise CheckRefused(
                f"the check does not take {name!r}; it takes {', '.join(SETTABLE_ASSUMPTIONS)}"
            )
    try:
        Assumptions().changed(options.assumed)
    except ValueError as error:
        raise CheckRefused(str(error)) from error
