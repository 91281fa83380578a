"""The text that `start` prints when the emulator is ready.

It contains what the user needs for a first request. `status` shows the rest.
"""

from __future__ import annotations

import os
import shlex
from textwrap import indent
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.connection import command_here
from hosting_emulator_cli.output import fields
from hosting_emulator_cli.shell_syntax import export_lines
from hosting_emulator_cli.world_tables import variation_text

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready


def banner(ready: Ready) -> str:
    """Return the text that `start` prints when the emulator is ready."""
    stop = "Stop with Ctrl-C."
    if ready.log_file is not None:
        stop = f"Stop with `{_command(ready, 'stop')}`."
    lines = [
        "",
        click.style("Hosting emulator is ready", bold=True),
        "",
        indent(fields([*_facts(ready), ("log", ready.log_file)]), "  "),
        "",
    ]
    if ready.token:
        lines += [*_request_lines(ready), ""]
    status = _command(ready, "status")
    variables = _command(ready, "env")
    hints = f"`{status}` shows the rest, and `{variables}` prints variables for your client."
    return "\n".join([*lines, hints, stop, ""])


def _facts(ready: Ready) -> list[tuple[str, str | None]]:
    """Return labels and values that describe the emulator. Values of None are not shown."""
    clock = None
    if ready.clock != "real":
        command = _command(ready, "clock advance 1h")
        clock = f"{ready.clock}, {ready.now}; `{command}` advances the clock"
    variation = None
    if ready.vary is not None:
        variation = variation_text(ready.vary, ready.vary_only)
    state = None
    if not ready.fresh:
        state = f"continues from {ready.data_dir}"
    armed = None
    if ready.armed and not ready.fresh:
        command = _command(ready, "triggers")
        armed = f"{', '.join(ready.armed)}; `{command}` shows what they do"
    token = None
    if not ready.user:
        token = "none: no organization has an owner, so name a user with --user"
    return [
        ("page", ready.control_url),
        ("base URL", ready.base_url),
        ("dev origins", ready.tls_url),
        ("their CA", ready.ca_file),
        ("control token", ready.control_token),
        ("state", state),
        ("still armed", armed),
        ("clock", clock),
        ("responses", variation),
        ("token", token),
    ]


def _request_lines(ready: Ready) -> list[str]:
    """Return lines that the user can copy: a token and a first request."""
    path = "/_emulator/idp/userinfo"
    if ready.project_id:
        path = f"/v1/projects/{ready.project_id}/deployments"
    return [
        f"A token of user {ready.user}, and a first request:",
        "",
        indent(export_lines({"HOSTING_TOKEN": ready.token}, "sh"), "  "),
        f'  curl -s -H "Authorization: Bearer $HOSTING_TOKEN" {ready.base_url}{path}',
    ]


def _command(ready: Ready, words: str) -> str:
    """Return a command line that selects the default world regardless of this shell's variables.

    It contains the control token if the emulator requires the token from this machine and this
    shell's variables do not contain it.
    """
    line = command_here(words, ready.local_url, ready.world)
    token = ready.control_token
    if not token or token == os.environ.get("HOSTING_EMULATOR_CONTROL_TOKEN"):
        return line
    # Import the rule of `start` lazily, because most emulators have no control token.
    from hosting_emulator.start_checks import is_reached_from_outside

    if not any(is_reached_from_outside(url) for url in (ready.base_url, ready.local_url)):
        return line
    return f"{line} --control-token {shlex.quote(token)}"
