"""`start`: run the emulator in the foreground; `env` and `token`: what a client needs to talk to it."""

from __future__ import annotations

import json
import os
import shlex
from base64 import urlsafe_b64decode
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import DEFAULT_PORT, EXEC_URL_VARIABLE
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import is_scenario_file, ready_file
from hosting_emulator_cli.main import Failure, examples
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import fields, prints, put

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready

CURL = (
    'curl -s -H "Authorization: Bearer $HOSTING_TOKEN"'
    ' "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/deployments"'
)


@click.command(
    cls=opt.SettingsCommand,
    epilog=examples(
        """
        hosting-emulator start
        hosting-emulator start --ephemeral --port 0 --json
        hosting-emulator start --clock scaled:60 --seed 42
        hosting-emulator start --scenario mine.yaml --watch
        hosting-emulator start --ephemeral --import kept.json
        hosting-emulator start --quiet --ready-file ready.json &
        """
    ),
)
@opt.address_options(port=DEFAULT_PORT, port_help="TCP port to listen on; 0 picks a free port.")
@opt.option(
    "--data-dir",
    metavar="DIRECTORY",
    help="Directory that keeps the state between runs.",
    type=opt.FilePath(file_okay=False, path_type=Path),
    default=Path(".hosting-emulator"),
)
@opt.flag(
    "--ephemeral",
    help="Keep the state in memory only; it is gone when the process ends.",
)
@opt.choice(
    "--durability",
    choices=("process", "disk"),
    help=(
        "What a change survives once it was confirmed: a crash of the process, or of the machine "
        "(disk, uses fsync)."
    ),
)
@opt.world_options
@opt.vary_options
@opt.option(
    "--user",
    metavar="USER",
    help=(
        "The user the token is for: an alias such as member or reader, or an id. Default: owner, "
        "or the first organization's owner."
    ),
    env="HOSTING_EMULATOR_USER",
)
@opt.flag(
    "--watch",
    help="Reload the scenario file whenever it changes; a file with errors changes nothing.",
)
@opt.flag(
    "--salvage",
    help=(
        "Start with the readable part of damaged state, report what is left out, and keep the "
        "damaged files."
    ),
)
@opt.flag(
    "--replace",
    help=(
        "Let --scenario or --import replace a kept world. Without it, start refuses to; where an "
        "environment variable or file names them, it keeps the existing world."
    ),
)
@opt.option(
    "--public-url",
    metavar="URL",
    help=(
        "Base URL under which clients reach the emulator, if not its own address (container, "
        "proxy)."
    ),
    env="HOSTING_EMULATOR_PUBLIC_URL",
)
@opt.option(
    "--allow-host",
    "allowed_hosts",
    metavar="HOST",
    help="Also accept this Host name; repeatable (in the variable, separated by spaces).",
    multiple=True,
    env="HOSTING_EMULATOR_ALLOW_HOST",
)
@opt.option(
    "--allow-origin",
    "allowed_origins",
    metavar="ORIGIN",
    help=(
        "Also let web apps of this origin (http://app.test:3000) use /v1 and the sign-in; origins "
        "on this machine always may. Repeatable (in the variable, separated by spaces)."
    ),
    multiple=True,
    env="HOSTING_EMULATOR_ALLOW_ORIGIN",
)
@opt.option(
    "--control-token",
    metavar="TEXT",
    help="Token that other machines must send to use the control API (header X-Control-Token).",
    env="HOSTING_EMULATOR_CONTROL_TOKEN",
)
@opt.log_options
@opt.flag(
    "--json",
    "as_json",
    help="When ready, print one JSON object.",
)
@opt.flag(
    "--quiet",
    help="Print nothing.",
)
@opt.option(
    "--ready-file",
    "ready_path",
    metavar="PATH",
    help="When ready, write the JSON object to this file; it is removed when the emulator stops.",
    type=opt.TYPES["FILE"],
)
def start(
    as_json: bool,
    quiet: bool,
    ready_path: Path | None,
    data_dir: Path,
    ephemeral: bool,
    **same: Any,
) -> None:
    """Run the emulator until Ctrl-C.

    When ready, it prints its addresses, a token, and lines to copy for a first request. Each option
    can also be set by an environment variable: HOSTING_EMULATOR_ and its name in capitals, such as
    HOSTING_EMULATOR_DATA_DIR; separate several values with spaces, and set a flag to 1. Settings of
    one app can go beside it in hosting-emulator.yaml, or under [tool.hosting-emulator] in
    pyproject.toml:

    \b
      port: 4711
      scenario: ours.yaml
      clock: skip
      assumptions: {accepted_status: 200}
      origins: ["http://app.test:3000"]

    The order is: option, environment variable, file, default. `doctor` shows where each value comes
    from.
    """
    if as_json and quiet:
        raise click.UsageError("give --json or --quiet, not both")
    if same["watch"] and not is_scenario_file(same["scenario"] or ""):
        raise click.UsageError("--watch needs a --scenario that is a file")
    if ephemeral and opt.typed("data_dir"):
        if opt.source("ephemeral") is not opt.ParameterSource.DEFAULT_MAP:
            raise click.UsageError("give --data-dir or --ephemeral, not both")
        ephemeral = False
    settings = opt.settings_of(data_dir=None if ephemeral else data_dir, **same)
    from hosting_emulator.bootstrap import run

    with ExitStack() as stack:
        write = None if ready_path is None else stack.enter_context(ready_file(ready_path))

        def announce(ready: Ready) -> None:
            from dataclasses import asdict

            document = to_json(asdict(ready))
            if not quiet:
                put(document if as_json else banner(ready))
            # Last: who reads the file may at once read what was printed too.
            if write is not None:
                write(document + "\n")

        with opt.starting():
            run(settings, announce)


#: A container has nothing but variables: `--data-dir` is HOSTING_EMULATOR_DATA_DIR.
for parameter in start.params:
    if isinstance(parameter, click.Option) and parameter.envvar is None:
        name = max(parameter.opts, key=len).lstrip("-").upper().replace("-", "_")
        parameter.envvar = f"HOSTING_EMULATOR_{name}"


def banner(ready: Ready) -> str:
    """Write what `start` prints when it is ready: addresses, lines to copy, and how to stop."""
    from hosting_emulator.contract.shell import command_line
    from hosting_emulator_cli.commands.world import varied_words

    more, move = (
        opt.typed_here(command_line(words, ready.local_url, ready.world))
        for words in ("token", "clock advance 1h")
    )
    clock = f"{ready.clock}, {ready.now}; `{move}` moves it"
    token = "none: no organization has an owner, so name a user with --user"
    if ready.user:
        token = f"for user {ready.user}, below; `{more}` prints more"
    facts = {
        "base URL": ready.base_url,
        "development": ready.dev_base_url if ready.dev_base_url != ready.base_url else None,
        "dev origins": ready.tls_url,
        "their CA": ready.ca_file,
        "control API": ready.control_url,
        "control token": ready.control_token,
        "docs": ready.docs_url,
        "OpenAPI": ready.openapi_url,
        "world": f"{ready.world} ({'new' if ready.fresh else 'kept'})",
        "clock": None if ready.clock == "real" else clock,
        "answers": None if ready.vary is None else varied_words(ready.vary, ready.vary_only),
        "state": ready.data_dir or "in memory only: gone when this process ends",
        "organization": ready.organization_id,
        "project": ready.project_id,
        "token": token,
    }
    variables = {
        "HOSTING_BASE_URL": ready.base_url,
        "HOSTING_TOKEN": ready.token,
        "HOSTING_ORGANIZATION_ID": ready.organization_id,
        "HOSTING_PROJECT_ID": ready.project_id,
        "HOSTING_EMULATOR_URL": ready.control_url.removesuffix("/_emulator"),
    }
    sections = {
        "Hosting emulator is ready": fields(facts.items()),
        "Copy these lines into your client's shell:": export_lines(
            {name: value for name, value in variables.items() if value}, "sh"
        ),
        "Then list the project's deployments:": CURL,
    }
    lines = [""]
    for title, text in sections.items():
        lines += [click.style(title, bold=True), "", indent(text, "  "), ""]
    return "\n".join([*lines, "Stop with Ctrl-C.", ""])


# --- What a client needs ---------------------------------------------------------------------------


def world_variables(
    world: opt.HostingEmulator, token: str, named: str | None = None
) -> dict[str, str]:
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
    projects = summary.projects
    wanted = [p for p in projects if named in (p.id, p.alias, p.handle)]
    if named is None:
        wanted = [p for p in projects if p.organization_id == organization] or projects
    elif not wanted:
        raise _no_project(world, named)
    project = next(iter(wanted), None)
    path = summary.base_url.removeprefix(info.base_url)
    found = {
        "HOSTING_BASE_URL": summary.base_url,
        # The development server's name for this world: the same path below the other address.
        "HOSTING_DEV_BASE_URL": info.dev_base_url + path,
        "HOSTING_TOKEN": token,
        "HOSTING_ORGANIZATION_ID": organization or (project and project.organization_id),
        "HOSTING_PROJECT_ID": project and project.id,
        "HOSTING_CONTROL_URL": info.control_url,
        "HOSTING_ISSUER_URL": summary.issuer,
        "HOSTING_EMULATOR_URL": info.control_url.removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": world.name,
    }
    return {name: value for name, value in found.items() if value}


def _no_project(world: opt.HostingEmulator, named: str = "yet") -> Failure:
    known = ", ".join(project.handle for project in world.summary.projects) or "none"
    return Failure(f"world {world.name} has no project {named}; its projects are: {known}")


def command_variables(
    world: opt.HostingEmulator,
    ready: Ready,
    user: str | None,
    exports: Sequence[tuple[str, str]],
) -> dict[str, str]:
    """Return a command's variables, under the names of `exports`; the token outlives all its tests.

    EXEC_URL_VARIABLE keeps its name: by it, the pytest plugin and the SDK find the emulator that
    judges the command.
    """
    found = world_variables(world, world.token(user))
    if ready.tls_url is not None and ready.ca_file is not None:
        found |= {"HOSTING_TLS_URL": ready.tls_url, "HOSTING_CA_FILE": ready.ca_file}
    if ready.control_token is not None:
        found["HOSTING_EMULATOR_CONTROL_TOKEN"] = ready.control_token
    renamed = dict(exports)
    under = {name: value for name, value in found.items() if name not in renamed}
    variables = under | {other: found[name] for name, other in exports if name in found}
    return variables | {EXEC_URL_VARIABLE: ready.base_url}


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


@click.command(
    epilog=examples(
        """
        eval "$(hosting-emulator env)"
        hosting-emulator env --shell fish | source
        hosting-emulator env --shell powershell | Invoke-Expression
        hosting-emulator env --shell dotenv > .env
        """
    )
)
@opt.choice(
    "--shell",
    choices=tuple(SHELLS),
    help="Shell syntax to print.",
)
@opt.user_option
@opt.option(
    "--organization",
    metavar="ORG",
    help="The organization of the token, by alias or id. Default: the user's own.",
)
@opt.option(
    "--project",
    "named",
    metavar="PROJECT",
    help="The project to print, by alias, handle or id. Default: the organization's first.",
)
@prints(lambda found: export_lines(found, click.get_current_context().params["shell"]))
@opt.with_world
def env(
    world: opt.HostingEmulator, user: str | None, named: str | None, **rest: Any
) -> dict[str, str]:
    """Print the environment variables a client needs.

    These are a world's addresses, a new token, and an organization and project to use.

    HOSTING_BASE_URL and HOSTING_DEV_BASE_URL are the contract's two servers; both lead to the same
    world. HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD are what this command line reads.
    """
    token = world.mint_token(user, organization=rest["organization"]).access_token
    found = world_variables(world, token, named)
    if "HOSTING_PROJECT_ID" not in found:
        raise _no_project(world)
    return found


def _whole_seconds(text: str) -> int:
    found = opt.seconds(text)
    if found < 1 or not found.is_integer():
        raise ValueError(f"{text!r} must be whole seconds, 1s or more")
    return int(found)


@click.command(
    epilog=examples(
        """
        hosting-emulator token
        hosting-emulator token --user reader --expires-in 5m
        hosting-emulator token --api-key --permission dns.read
        curl -H "Authorization: Bearer $(hosting-emulator token)" …
        """
    )
)
@opt.user_option
@opt.option(
    "--organization",
    metavar="ORG",
    help="The organization of the token, by alias or id. Default: the user's own.",
)
@opt.flag(
    "--without-session",
    help="A token without a login session, as programs use (not interactive).",
)
@opt.flag(
    "--api-key",
    help="Create a user API key instead and print its value.",
)
@opt.option(
    "--permission",
    "permissions",
    metavar="NAME",
    help=(
        "With --api-key: a permission of the key; repeatable. Default: all that the organization "
        "grants."
    ),
    multiple=True,
)
@opt.option(
    "--expires-in",
    "expires_in_seconds",
    metavar="DURATION",
    help="Lifetime in world time, in whole seconds, such as 90s or 1h. Default: 1h.",
    type=opt.TextType("duration", _whole_seconds),
)
@prints(lambda made: made.value if hasattr(made, "value") else made.access_token)
@opt.with_world
def token(
    world: opt.HostingEmulator,
    user: str | None,
    without_session: bool,
    api_key: bool,
    permissions: tuple[str, ...],
    expires_in_seconds: int | None,
    **of: Any,
) -> Any:
    """Print an access token.

    Prints only the token, ready for a header; --json adds its expiry.
    """
    if api_key and (without_session or expires_in_seconds is not None):
        raise click.UsageError("--api-key: leave out --without-session and --expires-in")
    if permissions and not api_key:
        raise click.UsageError("--permission needs --api-key")
    if api_key:
        return world.create_api_key(user, permissions=permissions or None, **of)
    return world.mint_token(
        user, interactive=not without_session, expires_in_seconds=expires_in_seconds, **of
    )
