"""What `start` prints when the emulator is ready: everything a first request needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.exports import export_lines
from hosting_emulator_cli.output import fields
from hosting_emulator_cli.worlds import varied_words

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready

CURL = (
    'curl -s -H "Authorization: Bearer $HOSTING_TOKEN"'
    ' "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/deployments"'
)


def banner(ready: Ready) -> str:
    """Write the banner: addresses, the world, lines to copy, and how to stop."""
    return "\n".join(
        [
            "",
            click.style("Hosting emulator is ready", bold=True),
            "",
            _indent(fields(_facts(ready))),
            "",
            click.style("Copy this into the shell your client runs in:", bold=True),
            "",
            _indent(export_lines(variables(ready), "sh")),
            "",
            click.style("Then list the project's deployments:", bold=True),
            "",
            _indent(CURL),
            "",
            "Stop with Ctrl-C.",
            "",
        ]
    )


def variables(ready: Ready) -> dict[str, str]:
    """The environment a client of this emulator needs."""
    return {
        "HOSTING_BASE_URL": ready.base_url,
        "HOSTING_TOKEN": ready.token,
        "HOSTING_ORGANIZATION_ID": ready.organization_id,
        "HOSTING_PROJECT_ID": ready.project_id,
    }


def _facts(ready: Ready) -> list[tuple[str, object]]:
    return [
        ("base URL", ready.base_url),
        ("development", ready.dev_base_url if ready.dev_base_url != ready.base_url else None),
        ("dev origins", ready.tls_url),
        ("their CA", ready.ca_file),
        ("control API", ready.control_url),
        ("control token", ready.control_token),
        ("docs", ready.docs_url),
        ("OpenAPI", ready.openapi_url),
        ("world", f"{ready.world} ({'new' if ready.fresh else 'as it was left'})"),
        ("answers", None if ready.vary is None else varied_words(ready.vary, ready.vary_only)),
        ("state", ready.data_dir or "in memory only: it ends with this process"),
        ("organization", ready.organization_id),
        ("project", ready.project_id),
        ("token", "the owner's, below; `hosting-emulator token` makes more"),
    ]


def _indent(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
