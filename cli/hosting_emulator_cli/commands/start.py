"""`start`: run the emulator in the foreground. The one command that does not need one running."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import examples
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import put
from hosting_emulator_cli.scenario_files import is_file
from hosting_emulator_cli.start_options import (
    address_options,
    check_seed,
    log_options,
    world_options,
)
from hosting_emulator_cli.varying import check_only, vary_options

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready, Settings
    from hosting_emulator_cli.ready_file import ReadyFile


@click.command(
    epilog=examples(
        "hosting-emulator start",
        "hosting-emulator start --ephemeral --port 0 --json",
        "hosting-emulator start --clock scaled:60 --seed 42",
        "hosting-emulator start --scenario mine.yaml --watch",
        "hosting-emulator start --ephemeral --from kept.json",
        "hosting-emulator start --quiet --ready-file ready.json &",
    )
)
@address_options(port=4620)
@click.option(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".hosting-emulator"),
    show_default=True,
    metavar="DIRECTORY",
    help="Keep the state here, between runs.",
)
@click.option("--ephemeral", is_flag=True, help="Keep nothing: the state ends with the process.")
@click.option(
    "--durability",
    type=click.Choice(["process", "disk"]),
    default="process",
    show_default=True,
    help="What an answered change survives: the death of the process, or of the machine (fsync).",
)
@world_options
@vary_options
@click.option(
    "--watch",
    is_flag=True,
    help="Load the scenario's file anew whenever it changes; a broken edit changes nothing.",
)
@click.option(
    "--salvage",
    is_flag=True,
    help="Go on with what can be read of damaged state; say what is left out, and keep the files.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="Let --from take the place of a world that is kept; without it that is refused.",
)
@click.option(
    "--public-url",
    envvar="HOSTING_EMULATOR_PUBLIC_URL",
    show_envvar=True,
    metavar="URL",
    help="The base URL others reach it by, where that is not its own address (container, proxy).",
)
@click.option(
    "--allow-host",
    "allowed_hosts",
    multiple=True,
    envvar="HOSTING_EMULATOR_ALLOW_HOST",
    show_envvar=True,
    metavar="HOST",
    help="Also answer under this Host name; repeatable (in the variable, divided by spaces).",
)
@click.option(
    "--allow-origin",
    "allowed_origins",
    multiple=True,
    envvar="HOSTING_EMULATOR_ALLOW_ORIGIN",
    show_envvar=True,
    metavar="ORIGIN",
    help="Also let web apps of this origin (http://app.test:3000) use /v1 and sign people in; those "
    "of this machine may. Repeatable (in the variable, divided by spaces).",
)
@click.option(
    "--control-token",
    envvar="HOSTING_EMULATOR_CONTROL_TOKEN",
    show_envvar=True,
    metavar="TEXT",
    help="What other machines must send to use the control API (header X-Control-Token).",
)
@log_options
@click.option("--json", "as_json", is_flag=True, help="Once ready, print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print nothing.")
@click.option(
    "--ready-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Once ready, write the JSON object to this file, whole at once; it goes when we stop.",
)
@click.pass_context
def start(
    ctx: click.Context, /, as_json: bool, quiet: bool, ready_file: Path | None, **options: Any
) -> None:
    """Run the emulator until Ctrl-C.

    Once it is ready it prints its addresses, a token, and lines to copy for a first request.
    """
    if as_json and quiet:
        raise click.UsageError("give --json or --quiet, not both")
    settings = _settings(ctx, **options)
    from hosting_emulator.bootstrap import run
    from hosting_emulator.settings import StartError

    with ExitStack() as stack:
        file = _entered(stack, ready_file)
        try:
            code = run(settings, lambda ready: _announce(ready, as_json, quiet, file))
        except StartError as error:
            raise Failure(str(error)) from error
    ctx.exit(code)


def _settings(
    ctx: click.Context,
    *,
    data_dir: Path,
    ephemeral: bool,
    assume: dict[str, str],
    allowed_hosts: tuple[str, ...],
    **same: Any,
) -> Settings:
    """Build the settings; options that are named as their setting go through as they are."""
    from hosting_emulator.settings import Settings
    from hosting_emulator_scenarios import FOLDER

    check_seed(ctx)
    check_only(ctx)
    if same["watch"] and not is_file(same["scenario"] or ""):
        raise click.UsageError("--watch needs a --scenario that is a file, to watch that")
    if ephemeral and ctx.get_parameter_source("data_dir") is ParameterSource.COMMANDLINE:
        raise click.UsageError("give --data-dir or --ephemeral, not both")
    return Settings(
        data_dir=None if ephemeral else data_dir,
        assumptions=assume,
        allowed_hosts=allowed_hosts,
        library=FOLDER,
        **same,
    )


def _entered(stack: ExitStack, path: Path | None) -> ReadyFile | None:
    if path is None:
        return None
    from hosting_emulator_cli.ready_file import ReadyFile

    return stack.enter_context(ReadyFile(path))


def _announce(ready: Ready, as_json: bool, quiet: bool, file: ReadyFile | None) -> None:
    from dataclasses import asdict

    document = to_json(asdict(ready))
    if as_json:
        put(document)
    elif not quiet:
        from hosting_emulator_cli.banner import banner

        put(banner(ready))
    # Last: who reads the file may at once read what was printed too.
    if file is not None:
        file.write(document + "\n")
