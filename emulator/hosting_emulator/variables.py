"""The environment variables that the emulator and its commands use.

If a Kubernetes service or a linked Docker container is called `hosting-emulator`, variables with
the same prefix are set in each container, such as HOSTING_EMULATOR_PORT with the value
`tcp://10.0.0.7:4620`. These service links are recognized and ignored.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

PREFIX = "HOSTING_EMULATOR_"
#: All variables that commands, the SDK and the pytest plugin use.
KNOWN_VARIABLES = frozenset(
    PREFIX + name
    for name in (
        "ALLOW_HOST",
        "ALLOW_ORIGIN",
        "ASSUME",
        "AT",
        "CLOCK",
        "CONTROL_TOKEN",
        "DATA_DIR",
        "DETACH",
        "DURABILITY",
        "EPHEMERAL",
        "EXEC_CONDUCT",
        "EXEC_URL",
        "HOST",
        "IMPORT",
        "JSON",
        "LOG_FORMAT",
        "LOG_LEVEL",
        "LOG_REQUESTS",
        "MAKE_RUN",
        "PORT",
        "PUBLIC_URL",
        "QUIET",
        "READY_FILE",
        "REPLACE",
        "SALVAGE",
        "SCENARIO",
        "SEED",
        "TLS_PORT",
        "URL",
        "USER",
        "VARY",
        "VARY_ONLY",
        "WATCH",
        "WORLD",
    )
)
_LINK_NAME = re.compile(
    rf"{PREFIX}(\w+_)?(SERVICE_HOST|SERVICE_PORT(_\w+)?"
    r"|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?|ENV_\w+)"
)
#: The unknown variables that `unreported_variables` has returned.
_reported_names: set[str] = set()
_LINK_ADDRESS = re.compile("(tcp|udp|sctp)://.*")


def is_service_link(name: str, value: str) -> bool:
    """Return whether a variable was set because of a service or container called `hosting-emulator`."""
    if _LINK_NAME.fullmatch(name):
        return True
    if name.endswith("PORT"):
        return _LINK_ADDRESS.fullmatch(value) is not None
    # For a linked container, Docker sets HOSTING_EMULATOR_NAME to the path of the link.
    return name == f"{PREFIX}NAME" and value.startswith("/")


def read_variable(name: str) -> str | None:
    """Return the value of a variable, or None if it is not set or is a service link."""
    value = os.environ.get(name)
    if value is None or is_service_link(name, value):
        return None
    return value


def unknown_variable_text(name: str) -> str:
    """Return a clause saying that nothing reads a variable, with the nearest name if there is one."""
    from hosting_emulator.contract.suggestions import nearest

    suffixes = [known_name.removeprefix(PREFIX) for known_name in sorted(KNOWN_VARIABLES)]
    hint = nearest(name.removeprefix(PREFIX), suffixes)
    if not hint:
        hint = "; `hosting-emulator start --help` explains the variables"
    hint = hint.replace("did you mean ", f"did you mean {PREFIX}")
    return f"nothing reads the variable {name}{hint}"


def unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the variables that have the same prefix as ours although no command uses them."""
    return sorted(
        name
        for name, value in environment.items()
        if name.startswith(PREFIX)
        and name not in KNOWN_VARIABLES
        and not is_service_link(name, value)
    )


def unreported_variables(environment: Mapping[str, str]) -> list[str]:
    """Return the unknown variables that no earlier call in this process has returned.

    The SDK and the pytest plugin use this function, so that each process reports a variable once.
    """
    names = [name for name in unknown_variables(environment) if name not in _reported_names]
    _reported_names.update(names)
    return names
