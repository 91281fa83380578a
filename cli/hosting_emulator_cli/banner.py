"""The text that `start` prints when the emulator is ready.

The text contains the emulator's addresses, lines to copy, and the key that stops the emulator.
"""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.connection import typed_here
from hosting_emulator_cli.output import fields
from hosting_emulator_cli.shell_syntax import export_lines
from hosting_emulator_cli.world_tables import variation_text

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready

_CURL = (
    'curl -s -H "Authorization: Bearer $HOSTING_TOKEN"'
    ' "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/deployments"'
)


def banner(ready: Ready) -> str:
    """Return the text that `start` prints when the emulator is ready."""
    sections = {
        "Hosting emulator is ready": fields(_facts(ready)),
        "Copy these lines into your client's shell:": export_lines(_variables(ready), "sh"),
        "Then list the project's deployments:": _CURL,
    }
    lines = [""]
    for title, text in sections.items():
        lines += [click.style(title, bold=True), "", indent(text, "  "), ""]
    return "\n".join([*lines, "Stop with Ctrl-C.", ""])


def _facts(ready: Ready) -> list[tuple[str, str | None]]:
    """Return labels and values that describe the emulator. A value of None is not shown."""
    development = None
    if ready.dev_base_url != ready.base_url:
        development = ready.dev_base_url
    clock = None
    if ready.clock != "real":
        command = _command(ready, "clock advance 1h")
        clock = f"{ready.clock}, {ready.now}; `{command}` advances the clock"
    variation = None
    if ready.vary is not None:
        variation = variation_text(ready.vary, ready.vary_only)
    origin = "kept"
    if ready.fresh:
        origin = "new"
    token = "none: no organization has an owner, so name a user with --user"
    if ready.user:
        token = f"for user {ready.user}, see below; `{_command(ready, 'token')}` prints a new token"
    return [
        ("base URL", ready.base_url),
        ("development", development),
        ("dev origins", ready.tls_url),
        ("their CA", ready.ca_file),
        ("control API", ready.control_url),
        ("control token", ready.control_token),
        ("docs", ready.docs_url),
        ("OpenAPI", ready.openapi_url),
        ("world", f"{ready.world} ({origin})"),
        ("clock", clock),
        ("responses", variation),
        ("state", ready.data_dir or "in memory only; lost when this process ends"),
        ("organization", ready.organization_id),
        ("project", ready.project_id),
        ("token", token),
    ]


def _command(ready: Ready, words: str) -> str:
    """Return a command line that selects the default world, whatever this shell's variables say."""
    from hosting_emulator.contract.shell import command_line

    return typed_here(command_line(words, ready.local_url, ready.world))


def _variables(ready: Ready) -> dict[str, str]:
    """Return the variables for the user to copy. Variables without a value are left out."""
    variables = {
        "HOSTING_BASE_URL": ready.base_url,
        "HOSTING_TOKEN": ready.token,
        "HOSTING_ORGANIZATION_ID": ready.organization_id,
        "HOSTING_PROJECT_ID": ready.project_id,
        "HOSTING_EMULATOR_URL": ready.control_url.removesuffix("/_emulator"),
    }
    return {name: value for name, value in variables.items() if value}
