"""Implements `start`, which runs the emulator until Ctrl-C, or in the background until `stop`."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hosting_emulator import DEFAULT_PORT
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.banner import banner
from hosting_emulator_cli.files import ready_file
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import put
from hosting_emulator_cli.parameter_sources import is_typed, source
from hosting_emulator_cli.scenario_files import is_scenario_file
from hosting_emulator_cli.settings_command import SettingsCommand, settings_of, start_errors_named
from hosting_emulator_cli.value_types import TYPES, FilePath

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready, Settings


#: Maps each section of the help to the parameters of its options.
SECTIONS = {
    "World": (
        "scenario",
        "state",
        "seed",
        "clock",
        "at",
        "assume",
        "vary",
        "vary_only",
        "watch",
    ),
    "Address": ("host", "port", "tls_port"),
    "State": ("data_dir", "ephemeral", "durability", "salvage", "replace"),
    "Access from elsewhere": ("public_url", "allowed_hosts", "allowed_origins", "control_token"),
    "Output": (
        "user",
        "as_json",
        "quiet",
        "ready_path",
        "log_format",
        "log_level",
        "log_requests",
        "detach",
    ),
}


@click.command(
    cls=SettingsCommand,
    sections=SECTIONS,
    epilog=examples(
        """
        hosting-emulator start
        hosting-emulator start --ephemeral --port 0 --json
        hosting-emulator start --ephemeral --clock scaled:60 --seed 42
        hosting-emulator start --ephemeral --scenario mine.yaml --watch
        hosting-emulator start --ephemeral --import kept.json
        hosting-emulator start --detach
        """
    ),
)
@opt.address_options(port=DEFAULT_PORT, port_help="TCP port to listen on; 0 picks a free port.")
@opt.option(
    "--data-dir",
    metavar="DIRECTORY",
    help="Directory in which the emulator stores its state between runs.",
    type=FilePath(file_okay=False, path_type=Path),
    default=Path(".hosting-emulator"),
)
@opt.flag(
    "--ephemeral",
    help=(
        "Keep the state only in memory, so it is lost when the emulator stops. Cannot be used with "
        "--data-dir."
    ),
)
@opt.choice(
    "--durability",
    choices=("process", "disk"),
    help=(
        "With `process`, a confirmed change survives a crash of the emulator. With `disk` (which "
        "uses fsync), it also survives a crash of the machine."
    ),
)
@opt.world_options
@opt.vary_options
@opt.option("--user", metavar="USER", help=opt.USER_HELP, env="HOSTING_EMULATOR_USER")
@opt.flag(
    "--watch",
    help=(
        "Reload the YAML file in --scenario whenever it changes. A file with errors is not loaded."
    ),
)
@opt.flag(
    "--salvage",
    help=(
        "If the stored state is damaged, start with the parts that can be read, report the parts "
        "that are lost, and keep the damaged files."
    ),
)
@opt.flag(
    "--replace",
    help=(
        "Allow --scenario or --import to replace a stored world. Without --replace, `start` fails "
        "if there is a stored world. However, if the scenario or the file comes from a variable or a "
        "settings file, `start` continues with the stored world."
    ),
)
@opt.option(
    "--public-url",
    metavar="URL",
    help=(
        "Base URL that clients use, if it differs from the emulator's own address, for example "
        "because the emulator runs in a container or behind a proxy."
    ),
    env="HOSTING_EMULATOR_PUBLIC_URL",
)
@opt.option(
    "--allow-host",
    "allowed_hosts",
    metavar="HOST",
    help=("Also accept requests with this name in the Host header. Repeatable."),
    multiple=True,
    env="HOSTING_EMULATOR_ALLOW_HOST",
)
@opt.option(
    "--allow-origin",
    "allowed_origins",
    metavar="ORIGIN",
    help=(
        "Also allow web apps from this origin, such as http://app.test:3000, to use /v1 and to "
        "sign users in. Origins at localhost, *.localhost and loopback addresses are always allowed. "
        "Repeatable."
    ),
    multiple=True,
    env="HOSTING_EMULATOR_ALLOW_ORIGIN",
)
@opt.option(
    "--control-token",
    metavar="TEXT",
    help=(
        "Token for the control API. Control requests from other machines or through a proxy must "
        "send it in the X-Control-Token header. If --public-url is not a URL of localhost, requests "
        "from this machine must, too. Health checks, the documentation and the identity provider "
        "need no token. Default: a random token if --host or --public-url lets other machines "
        "connect, and otherwise none."
    ),
    env="HOSTING_EMULATOR_CONTROL_TOKEN",
)
@opt.log_options
@opt.flag(
    "--detach",
    help=(
        "Run the emulator in the background, and return when it is ready. The log is written to "
        "emulator.log in the data directory or, with --ephemeral, to a temporary file. Its path is "
        "printed unless --quiet is given. With --json, it is `log_file`. To stop the emulator, run "
        "`stop`."
    ),
)
@opt.flag(
    "--json",
    "as_json",
    help="When the emulator is ready, print its addresses and a token as one JSON object.",
)
@opt.flag(
    "--quiet",
    help=(
        "Print nothing when the emulator is ready. The log is still written. Cannot be used with "
        "--json."
    ),
)
@opt.option(
    "--ready-file",
    "ready_path",
    metavar="PATH",
    help=(
        "When the emulator is ready, write the JSON object that --json prints to this file. The "
        "emulator removes the file when it stops."
    ),
    type=TYPES["FILE"],
)
def start(
    detach: bool,
    as_json: bool,
    quiet: bool,
    ready_path: Path | None,
    data_dir: Path,
    ephemeral: bool,
    **settings_options: Any,
) -> None:
    """Run the emulator until Ctrl-C or `stop`.

    When the emulator is ready, it prints its addresses, a token, and the commands for a first
    request. With --detach, it then keeps running in the background.

    Each option can also be set with an environment variable. The variable's name is
    HOSTING_EMULATOR_ followed by the option's name in capitals, such as HOSTING_EMULATOR_DATA_DIR.
    Separate several values with commas, and set a flag to 1. Most options can also be set, under
    the same names, in a settings file in the current directory: hosting-emulator.yaml, or the table
    [tool.hosting-emulator] in pyproject.toml. For example:

    \b
      port: 4711
      scenario: ours.yaml
      clock: skip
      assume: {accepted_status: 200}
      allow-origin: ["http://app.test:3000"]

    An option takes precedence over its environment variable, which takes precedence over the
    settings file. `doctor` shows where each value comes from.
    """
    if as_json and quiet:
        raise click.UsageError("use either --json or --quiet, not both")
    settings = emulator_settings(data_dir=data_dir, ephemeral=ephemeral, **settings_options)
    if detach:
        _start_detached(settings, ready_path, as_json=as_json, quiet=quiet)
        return
    # Import `run` lazily, because `--help` does not need the whole emulator.
    from hosting_emulator.bootstrap import run

    with ExitStack() as stack:
        write = None
        if ready_path is not None:
            write = stack.enter_context(ready_file(ready_path))

        def announce(ready: Ready) -> None:
            _print_ready(ready, as_json=as_json, quiet=quiet)
            # Print the lines before writing the file, because a program that waits for the file may
            # read them as soon as the file exists.
            if write is not None:
                write(to_json(asdict(ready)) + "\n")

        with start_errors_named():
            run(settings, announce, is_published=True)


def emulator_settings(
    *,
    data_dir: Path,
    ephemeral: bool,
    detach: bool = False,
    as_json: bool = False,
    quiet: bool = False,
    ready_path: Path | None = None,
    **settings_options: Any,
) -> Settings:
    """Return the settings with which `start` runs the emulator, from the options of `start`.

    The options about the form of the start and its output are ignored. Raises UsageError if the
    options contradict each other.
    """
    if settings_options["watch"] and not is_scenario_file(settings_options["scenario"] or ""):
        raise click.UsageError("--watch needs --scenario with a file")
    stored_in: Path | None = data_dir
    if _is_ephemeral(ephemeral):
        stored_in = None
    return settings_of(data_dir=stored_in, **settings_options)


def _start_detached(
    settings: Settings, ready_path: Path | None, *, as_json: bool, quiet: bool
) -> None:
    """Start the emulator in the background, and print its addresses when it is ready. Raises
    Failure.
    """
    from hosting_emulator_cli.background import start_in_background

    with start_errors_named():
        ready = start_in_background(settings, ready_path)
    _print_ready(ready, as_json=as_json, quiet=quiet)


def _print_ready(ready: Ready, *, as_json: bool, quiet: bool) -> None:
    if as_json:
        put(to_json(asdict(ready)))
    elif not quiet:
        put(banner(ready))


def _is_ephemeral(ephemeral: bool) -> bool:
    """Return whether the state is kept only in memory.

    `--data-dir` on the command line overrides `ephemeral` in the settings file. Raises UsageError
    if both `--data-dir` and `--ephemeral` are given.
    """
    if not ephemeral or not is_typed("data_dir"):
        return ephemeral
    if source("ephemeral") is not ParameterSource.DEFAULT_MAP:
        raise click.UsageError("use either --data-dir or --ephemeral, not both")
    return False


# Give every option a variable, such as HOSTING_EMULATOR_DATA_DIR, because containers are configured
# with variables.
for parameter in start.params:
    if isinstance(parameter, click.Option) and parameter.envvar is None:
        name = max(parameter.opts, key=len).lstrip("-").upper().replace("-", "_")
        parameter.envvar = f"HOSTING_EMULATOR_{name}"
