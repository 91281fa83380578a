"""`start`: run the emulator in the foreground. The one command that does not need one running."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import DEFAULT_PORT
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.env import export_lines
from hosting_emulator_cli.files import is_scenario_file, ready_file
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import fields, put

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready

CURL = (
    'curl -s -H "Authorization: Bearer $HOSTING_TOKEN"'
    ' "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/deployments"'
)


@click.command(cls=opt.SettingsCommand)
@opt.address_options(port=DEFAULT_PORT)
@opt.option(
    "--data-dir DIRECTORY",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(".hosting-emulator"),
)
@opt.flag("--ephemeral")
@opt.choice("--durability", "process", "disk")
@opt.world_options
@opt.vary_options
@opt.option("--as principal WHO", env="HOSTING_EMULATOR_AS")
@opt.flag("--watch")
@opt.flag("--salvage")
@opt.flag("--replace")
@opt.option("--public-url URL", env="HOSTING_EMULATOR_PUBLIC_URL")
@opt.option("--allow-host allowed_hosts HOST", multiple=True, env="HOSTING_EMULATOR_ALLOW_HOST")
@opt.option(
    "--allow-origin allowed_origins ORIGIN", multiple=True, env="HOSTING_EMULATOR_ALLOW_ORIGIN"
)
@opt.option("--control-token TEXT", env="HOSTING_EMULATOR_CONTROL_TOKEN")
@opt.log_options
@opt.flag("--json as_json")
@opt.flag("--quiet")
@opt.option("--ready-file ready_path PATH", type=opt.KINDS["FILE"])
def start(
    as_json: bool,
    quiet: bool,
    ready_path: Path | None,
    data_dir: Path,
    ephemeral: bool,
    **same: Any,
) -> None:
    """Run the emulator until Ctrl-C."""
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
    from hosting_emulator.settings import StartError

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

        try:
            run(settings, announce)
        except StartError as error:
            raise Failure(str(error)) from error


#: A container has nothing but variables: `--data-dir` is HOSTING_EMULATOR_DATA_DIR.
for parameter in start.params:
    if isinstance(parameter, click.Option) and parameter.envvar is None:
        name = max(parameter.opts, key=len).lstrip("-").upper().replace("-", "_")
        parameter.envvar = f"HOSTING_EMULATOR_{name}"


def banner(ready: Ready) -> str:
    """Write what `start` prints when it is ready: addresses, lines to copy, and how to stop."""
    from hosting_emulator.contract.words import command_line
    from hosting_emulator_cli.commands.world import varied_words

    more, move = (
        opt.typed_here(command_line(words, ready.local_url, ready.world))
        for words in ("token", "clock advance 1h")
    )
    clock = f"{ready.clock}, {ready.now}; `{move}` moves it"
    token = "none: no organization has an owner, so name a user with --as"
    if ready.person:
        token = f"for user {ready.person}, below; `{more}` prints more"
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
