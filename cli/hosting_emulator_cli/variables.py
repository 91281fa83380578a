"""A world as environment variables: what a client needs to know of it, and how each shell spells it.

`env` prints them, `start` shows them, `exec` and `explore` set them.
"""

from __future__ import annotations

import json
import os
import shlex
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from hosting_emulator_cli.groups import Failure

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator, WorldSummary
    from hosting_emulator.settings import Ready

Exports = Sequence[tuple[str, str]]


def world_variables(world: HostingEmulator, token: str, named: str | None = None) -> dict[str, str]:
    """Return a world's variables by name; without a project or organization, without theirs.

    The project is the one `named` by alias, handle or id, or else the first of the token's
    organization, or any. Raises Failure for one that there is not, naming those there are.
    """
    info, summary, organization = world.control.info(), world.summary, organization_of(token)
    projects = summary["projects"]
    if named is None:
        own = [p for p in projects if p["organization_id"] == organization] or projects
        project = own[0] if own else None
    else:
        by_name = (p for p in projects if named in (p["id"], p["alias"], p["handle"]))
        project = next(by_name, None)
        if project is None:
            raise no_project(summary, named)
    path = summary["base_url"].removeprefix(info["base_url"])
    # The development server's name for this world: the same path below the other address.
    dev_base_url = info["dev_base_url"] + path if path != summary["base_url"] else path
    found = {
        "HOSTING_BASE_URL": summary["base_url"],
        "HOSTING_DEV_BASE_URL": dev_base_url,
        "HOSTING_TOKEN": token,
        "HOSTING_ORGANIZATION_ID": organization or (project and project["organization_id"]),
        "HOSTING_PROJECT_ID": project and project["id"],
        "HOSTING_CONTROL_URL": info["control_url"],
        "HOSTING_ISSUER_URL": summary["issuer"],
        "HOSTING_EMULATOR_URL": info["control_url"].removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": world.name,
    }
    return {name: value for name, value in found.items() if value}


def no_project(world: WorldSummary, named: str = "yet") -> Failure:
    """Say that a world has no such project."""
    known = ", ".join(project["handle"] for project in world["projects"]) or "none"
    return Failure(f"world {world['name']} has no project {named}; its projects are: {known}")


def command_variables(
    world: HostingEmulator, ready: Ready, principal: str | None, exports: Exports
) -> dict[str, str]:
    """Return what a command finds in its environment, with a token that outlives all its tests.

    `exports` are pairs of a variable's name and the name that the command finds it under.
    """
    found = world_variables(world, world.token(principal))
    if ready.tls_url is not None and ready.ca_file is not None:
        found |= {"HOSTING_TLS_URL": ready.tls_url, "HOSTING_CA_FILE": ready.ca_file}
    if ready.control_token is not None:
        found["HOSTING_EMULATOR_CONTROL_TOKEN"] = ready.control_token
    renamed = {name for name, _ in exports}
    under = {name: value for name, value in found.items() if name not in renamed}
    return under | {other: found[name] for name, other in exports if name in found}


def organization_of(token: str) -> str | None:
    """The organization an access token names, None if it names none."""
    try:
        payload = token.split(".")[1]
        organization = json.loads(urlsafe_b64decode(f"{payload}==")).get("org_id")
    except (IndexError, ValueError, AttributeError):
        return None
    return organization if isinstance(organization, str) else None


# --- The environment of a command ----------------------------------------------------------------


def with_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with a world's variables; an outer emulator's token is not its."""
    found = {k: v for k, v in os.environ.items() if k != "HOSTING_EMULATOR_CONTROL_TOKEN"}
    found |= variables
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in found):
        # Clients that follow a proxy's variables reach this machine without it.
        known = found.get("no_proxy") or found.get("NO_PROXY") or ""
        hosts = [host for host in known.split(",") if host]
        hosts += [host for host in ("127.0.0.1", "localhost", "::1") if host not in hosts]
        found |= dict.fromkeys(("no_proxy", "NO_PROXY"), ",".join(hosts))
    return found


# --- How shells spell them -----------------------------------------------------------------------


_SPECIAL, _QUOTES = '\\"$', "\\'"


def _dotenv(name: str, value: str) -> str:
    # Bare where every reader agrees; quoted where a space, `#` or `$` would divide them.
    if shlex.quote(value) == value:
        return f"{name}={value}"
    return f'{name}="{_escaped(value, *_SPECIAL)}"'


def _escaped(value: str, *special: str) -> str:
    for character in special:
        value = value.replace(character, f"\\{character}")
    return value


SHELLS: dict[str, Callable[[str, str], str]] = {
    "sh": lambda name, value: f"export {name}={shlex.quote(value)}",
    "fish": lambda name, value: f"set -gx {name} '{_escaped(value, *_QUOTES)}'",
    "powershell": lambda name, value: f"$env:{name} = '" + value.replace("'", "''") + "'",
    "dotenv": _dotenv,
}


def export_lines(variables: Mapping[str, str], shell: str) -> str:
    """Write variables, one on a line, so that `shell` (one of SHELLS) takes them as they are."""
    return "\n".join(SHELLS[shell](name, value) for name, value in variables.items())
