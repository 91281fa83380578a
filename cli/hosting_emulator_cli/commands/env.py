"""`env` and `token`: what a client needs to talk to a world; `start`, `exec` and `explore` show it too."""

from __future__ import annotations

import json
import os
import shlex
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import prints

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator
    from hosting_emulator.settings import Ready


def world_variables(world: HostingEmulator, token: str, named: str | None = None) -> dict[str, str]:
    """Return a world's variables; without a project or organization, without theirs.

    The project is the one `named` by alias, handle or id (Failure if there is none), or else the
    first of the token's organization, or any.
    """
    info, summary, organization = world.control.info(), world.summary, None
    try:
        claims = json.loads(urlsafe_b64decode(f"{token.split('.')[1]}=="))
        organization = claims.get("org_id")
    except (IndexError, ValueError, AttributeError):
        pass  # a token that names none
    projects = summary["projects"]
    wanted = [p for p in projects if named in (p["id"], p["alias"], p["handle"])]
    if named is None:
        wanted = [p for p in projects if p["organization_id"] == organization] or projects
    elif not wanted:
        raise _no_project(world, named)
    project = next(iter(wanted), None)
    path = summary["base_url"].removeprefix(info["base_url"])
    found = {
        "HOSTING_BASE_URL": summary["base_url"],
        # The development server's name for this world: the same path below the other address.
        "HOSTING_DEV_BASE_URL": path
        if path == summary["base_url"]
        else info["dev_base_url"] + path,
        "HOSTING_TOKEN": token,
        "HOSTING_ORGANIZATION_ID": organization or (project and project["organization_id"]),
        "HOSTING_PROJECT_ID": project and project["id"],
        "HOSTING_CONTROL_URL": info["control_url"],
        "HOSTING_ISSUER_URL": summary["issuer"],
        "HOSTING_EMULATOR_URL": info["control_url"].removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": world.name,
    }
    return {name: value for name, value in found.items() if value}


def _no_project(world: HostingEmulator, named: str = "yet") -> Failure:
    known = ", ".join(project["handle"] for project in world.summary["projects"]) or "none"
    return Failure(f"world {world.name} has no project {named}; its projects are: {known}")


def command_variables(
    world: HostingEmulator,
    ready: Ready,
    principal: str | None,
    exports: Sequence[tuple[str, str]],
) -> dict[str, str]:
    """Return a command's variables, under the names of `exports`; the token outlives all its tests."""
    found = world_variables(world, world.token(principal))
    if ready.tls_url is not None and ready.ca_file is not None:
        found |= {"HOSTING_TLS_URL": ready.tls_url, "HOSTING_CA_FILE": ready.ca_file}
    if ready.control_token is not None:
        found["HOSTING_EMULATOR_CONTROL_TOKEN"] = ready.control_token
    renamed = dict(exports)
    under = {name: value for name, value in found.items() if name not in renamed}
    return under | {other: found[name] for name, other in exports if name in found}


def with_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return our environment with a world's variables; an outer emulator's token is not its."""
    found = {k: v for k, v in os.environ.items() if k != "HOSTING_EMULATOR_CONTROL_TOKEN"}
    found |= variables
    if any(name.lower() in ("http_proxy", "https_proxy", "all_proxy") for name in found):
        # Clients that follow a proxy's variables reach this machine without it.
        known = found.get("no_proxy") or found.get("NO_PROXY") or ""
        hosts = dict.fromkeys([*filter(None, known.split(",")), "127.0.0.1", "localhost", "::1"])
        found |= dict.fromkeys(("no_proxy", "NO_PROXY"), ",".join(hosts))
    return found


def _dotenv(name: str, value: str) -> str:
    # Bare where every reader agrees; quoted where a space, `#` or `$` would divide them.
    if shlex.quote(value) == value:
        return f"{name}={value}"
    return f'{name}="{_escaped(value, _SPECIAL)}"'


def _escaped(value: str, special: str) -> str:
    return "".join(f"\\{each}" if each in special else each for each in value)


_SPECIAL, _QUOTES = '\\"$', "\\'"
SHELLS: dict[str, Callable[[str, str], str]] = {
    "sh": lambda name, value: f"export {name}={shlex.quote(value)}",
    "fish": lambda name, value: f"set -gx {name} '{_escaped(value, _QUOTES)}'",
    "powershell": lambda name, value: f"$env:{name} = '" + value.replace("'", "''") + "'",
    "dotenv": _dotenv,
}


def export_lines(variables: Mapping[str, str], shell: str) -> str:
    """Write variables, one on a line, so that `shell` (one of SHELLS) takes them as they are."""
    return "\n".join(SHELLS[shell](name, value) for name, value in variables.items())


@click.command()
@opt.choice("--shell", *SHELLS)
@opt.as_option
@opt.option("--organization ORG")
@opt.option("--project named PROJECT")
@prints(lambda found: export_lines(found, click.get_current_context().params["shell"]))
@opt.with_world
def env(
    world: opt.HostingEmulator, principal: str | None, named: str | None, **rest: Any
) -> dict[str, str]:
    """Print the environment variables a client needs."""
    token = world.mint_token(principal, organization=rest["organization"])["access_token"]
    found = world_variables(world, token, named)
    if "HOSTING_PROJECT_ID" not in found:
        raise _no_project(world)
    return found


def _whole_seconds(text: str) -> int:
    found = opt.seconds(text)
    if found < 1 or not found.is_integer():
        raise ValueError(f"{text!r} must be whole seconds, 1s or more")
    return int(found)


@click.command()
@opt.as_option
@opt.option("--organization ORG")
@opt.flag("--api-client")
@opt.flag("--api-key")
@opt.option("--permission permissions NAME", multiple=True)
@opt.option(
    "--expires-in expires_in_seconds DURATION", type=opt.TextType("duration", _whole_seconds)
)
@prints(lambda made: made.get("value") or made["access_token"])
@opt.with_world
def token(
    world: opt.HostingEmulator,
    principal: str | None,
    api_client: bool,
    api_key: bool,
    permissions: tuple[str, ...],
    expires_in_seconds: int | None,
    **of: Any,
) -> Any:
    """Print an access token."""
    if api_key and (api_client or expires_in_seconds is not None):
        raise click.UsageError("--api-key: leave out --api-client and --expires-in")
    if permissions and not api_key:
        raise click.UsageError("--permission needs --api-key")
    if api_key:
        return world.create_api_key(principal, permissions=permissions or None, **of)
    return world.mint_token(
        principal, interactive=not api_client, expires_in_seconds=expires_in_seconds, **of
    )
