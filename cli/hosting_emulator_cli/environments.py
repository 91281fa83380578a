"""The environment of a command that is run beside an emulator."""

from __future__ import annotations

import os
from collections.abc import Mapping


def with_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with a world's variables; an outer emulator's token is not its."""
    outer = {k: v for k, v in os.environ.items() if k != "HOSTING_EMULATOR_CONTROL_TOKEN"}
    return _past_proxies(outer | dict(variables))


def _past_proxies(environment: dict[str, str]) -> dict[str, str]:
    """Let clients that follow a proxy's variables reach this machine without it."""
    if not any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in environment):
        return environment
    known = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    hosts = [host for host in known.split(",") if host]
    hosts += [host for host in ("127.0.0.1", "localhost", "::1") if host not in hosts]
    return environment | dict.fromkeys(("no_proxy", "NO_PROXY"), ",".join(hosts))
