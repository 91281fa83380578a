"""The environment variables with which a client finds a world.

`env` prints them. `exec`, `judge` and `explore` set them for a command.
"""

from __future__ import annotations

import json
import os
from base64 import urlsafe_b64decode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hosting_emulator import EXEC_URL_VARIABLE
from hosting_emulator_cli.main import Failure

if TYPE_CHECKING:
    from hosting_emulator.messages import Info, WorldProject, WorldSummary
    from hosting_emulator.sdk import HostingEmulator
    from hosting_emulator.settings import Ready

#: The variables that `--export` can rename. The last two are set only if the emulator has a TLS
#: port.
VARIABLES = (
    "HOSTING_BASE_URL",
    "HOSTING_DEV_BASE_URL",
    "HOSTING_TOKEN",
    "HOSTING_ORGANIZATION_ID",
    "HOSTING_PROJECT_ID",
    "HOSTING_CONTROL_URL",
    "HOSTING_ISSUER_URL",
    "HOSTING_EMULATOR_URL",
    "HOSTING_EMULATOR_WORLD",
    "HOSTING_TLS_URL",
    "HOSTING_CA_FILE",
)
_CONTROL_TOKEN = "HOSTING_EMULATOR_CONTROL_TOKEN"
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
_THIS_MACHINE = ("127.0.0.1", "localhost", "::1")


def world_variables(
    world: HostingEmulator, token: str, project_name: str | None = None
) -> dict[str, str]:
    """Return a world's variables, without those for a missing project or organization.

    `project_name` is the alias, handle or id of the project. The default project is the first
    project of the token's organization, or the world's first project if that organization has no
    project. Raises Failure if no project has this name.
    """
    info = world.control.info()
    summary = world.summary
    organization_id = _organization_of(token)
    project = _choose_project(summary, project_name, organization_id)
    project_id = None
    if project is not None:
        project_id = project.id
        organization_id = organization_id or project.organization_id
    path = summary.base_url.removeprefix(info.base_url)
    variables = {
        "HOSTING_BASE_URL": summary.base_url,
        # Use the same path, because the contract's development server serves the same world.
        "HOSTING_DEV_BASE_URL": info.dev_base_url + path,
        "HOSTING_TOKEN": token,
        "HOSTING_ORGANIZATION_ID": organization_id,
        "HOSTING_PROJECT_ID": project_id,
        "HOSTING_CONTROL_URL": info.control_url,
        "HOSTING_ISSUER_URL": summary.issuer,
        "HOSTING_EMULATOR_URL": info.control_url.removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": world.name,
        **_tls_variables(info),
    }
    return {name: value for name, value in variables.items() if value}


def _tls_variables(info: Info) -> dict[str, str | None]:
    """Return the address of the dev origins, and the file of their certificate authority.

    The result is empty if the emulator has no TLS port, or if another machine runs the emulator,
    because its certificates are valid only for names under localhost. The file is left out if it is
    not on this machine, for example because it is in a container.
    """
    is_local = urlsplit(info.base_url).hostname in _THIS_MACHINE
    if info.tls_port is None or not is_local:
        return {}
    ca_file = info.ca_file
    if ca_file is not None and not Path(ca_file).is_file():
        ca_file = None
    return {"HOSTING_TLS_URL": f"https://localhost:{info.tls_port}", "HOSTING_CA_FILE": ca_file}


def _organization_of(token: str) -> str | None:
    """Return the organization id in a token's claims, or None if there is no such claim."""
    try:
        claims = json.loads(urlsafe_b64decode(f"{token.split('.')[1]}=="))
        organization_id: str | None = claims.get("org_id")
    except (IndexError, ValueError, AttributeError):
        return None
    return organization_id


def _choose_project(
    world: WorldSummary, name: str | None, organization_id: str | None
) -> WorldProject | None:
    projects = world.projects
    if name is None:
        own_projects = [p for p in projects if p.organization_id == organization_id]
        return next(iter([*own_projects, *projects]), None)
    for project in projects:
        if name in (project.id, project.alias, project.handle):
            return project
    raise no_project_failure(world, name)


def no_project_failure(world: WorldSummary, name: str = "yet") -> Failure:
    """Return a Failure for a missing project. The message lists the world's projects."""
    names = ", ".join(project.handle for project in world.projects) or "none"
    return Failure(f"world {world.name} has no project {name}; its projects are: {names}")


def command_variables(
    world: HostingEmulator,
    ready: Ready,
    user: str | None,
    exports: Sequence[tuple[str, str]],
) -> dict[str, str]:
    """Return the environment variables for a command.

    Each pair in `exports` consists of a variable's name and its new name. The token is valid for
    ten years of world time. EXEC_URL_VARIABLE cannot be renamed, because the pytest plugin and the
    SDK use this variable to find the emulator that judges the command.
    """
    values = world_variables(world, world.token(user))
    if ready.control_token is not None:
        values[_CONTROL_TOKEN] = ready.control_token
    renamed = dict(exports)
    variables = {name: value for name, value in values.items() if name not in renamed}
    for name, other_name in exports:
        if name in values:
            variables[other_name] = values[name]
    variables[EXEC_URL_VARIABLE] = ready.base_url
    return variables


def with_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return this process's environment with a world's variables added.

    The control token of an outer emulator is removed. If a proxy is set in the environment,
    requests to this machine bypass it.
    """
    environment = {name: value for name, value in os.environ.items() if name != _CONTROL_TOKEN}
    environment.update(variables)
    if any(name.lower() in _PROXIES for name in environment):
        exceptions = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
        hosts = [host for host in exceptions.split(",") if host]
        hosts += [host for host in _THIS_MACHINE if host not in hosts]
        environment["no_proxy"] = ",".join(hosts)
        environment["NO_PROXY"] = ",".join(hosts)
    return environment
