"""Implements `status`, which shows the running emulator, and `wait`, which waits until one
responds.
"""

from __future__ import annotations

import textwrap
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.connection import connected
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import Failure, examples
from hosting_emulator_cli.output import console, fields, is_terminal, plain_message, prints, say
from hosting_emulator_cli.world_tables import world_table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, WorldSummary

#: Real seconds between two attempts.
POLL_S = 0.05
#: The time limit for one attempt, in real seconds, for a program that listens but does not respond.
_ATTEMPT_S = 2.0
#: The maximum width of a line about a trigger, in characters.
_LINE = 78


def _status_text(status: dict[str, Any]) -> str | None:
    """Return the status as text.

    On a terminal, print a panel that describes the process, and return only the tables.
    """
    tables = world_table(status["worlds"])
    triggers = _triggers_text(status["worlds"])
    if triggers:
        tables = f"{tables}\n\n{triggers}"
    if not is_terminal():
        return f"{fields(_process_facts(status))}\n\n{tables}"
    from hosting_emulator_cli import rich_views

    console().print(rich_views.process_panel(_process_facts(status)))
    return f"\n{tables}"


def _process_facts(status: dict[str, Any]) -> list[tuple[str, object]]:
    """Return labels and values that describe the process and its addresses."""
    from hosting_emulator.contract.durations import format_duration

    uptime = format_duration(status["uptime_seconds"] * 1000)
    development = None
    if status["dev_base_url"] != status["base_url"]:
        development = status["dev_base_url"]
    state = "in memory only"
    if status["data_dir"]:
        state = f"{status['data_dir']} (durability: {status['durability']})"
    return [
        ("version", status["version"]),
        ("process", f"{status['pid']}, up {uptime}"),
        ("page", status["control_url"]),
        ("base URL", status["base_url"]),
        ("development", development),
        ("control API", status["control_url"]),
        ("docs", status["docs_url"]),
        ("OpenAPI", status["openapi_url"]),
        ("TLS port", status["tls_port"]),
        ("state", state),
    ]


def _triggers_text(worlds: Sequence[WorldSummary]) -> str:
    """Format the triggers in all worlds with their counts.

    Return an empty text if there are no triggers.
    """
    lines = []
    for world in worlds:
        for trigger in world.triggers:
            counts = f"considered {trigger.considered}, seen {trigger.seen}, hits {trigger.hits}"
            lines.append(f"{trigger.id} of {world.name} ({trigger.kind}): {counts}")
            if trigger.waits_for is not None:
                lines.append(f"  Waits for {trigger.waits_for}.")
            if trigger.result is not None:
                lines.append(f"  {trigger.result}.")
            elif trigger.unused is not None and trigger.type != "timeline entry":
                lines.append(f"  Has not acted: {trigger.unused}.")
    return "\n".join(textwrap.fill(line, _LINE, subsequent_indent="    ") for line in lines)


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator status
        hosting-emulator status --json
        """
    ),
)
@prints(_status_text)
@opt.with_client
def status(client: ControlClient) -> dict[str, Any]:
    """Show the running emulator and its worlds.

    Shows the version, the uptime (in real time), the addresses, and the clock and counts of each
    world.
    """
    info = client.info()
    up = datetime.now(UTC) - datetime.fromisoformat(info.started_at)  # uptime is real time
    uptime_s = max(0, int(up.total_seconds()))
    return {**plain_message(info), "uptime_seconds": uptime_s, "worlds": client.worlds()}


@click.command(
    cls=HelpCommand,
    epilog=examples("hosting-emulator wait --url http://hosting:4620 --timeout 10s"),
)
@opt.option(
    "--timeout",
    "timeout_s",
    metavar="DURATION",
    help="How long to wait, in real time, such as 500ms, 30s or 2m.",
    default="30s",
)
@opt.url_options
def wait(timeout_s: float, url: str | None, control_token: str | None) -> int:
    """Wait until the emulator responds.

    The exit code is 0 if the emulator responds, and 1 after the timeout.

    All commands that need a running emulator look for it in this order:

    \b
    1. --url or HOSTING_EMULATOR_URL
    2. the ready file named by HOSTING_EMULATOR_READY_FILE
    3. unless HOSTING_EMULATOR_DATA_DIR is set, the only running emulator that
       was started nearer to this folder than the data directory of step 4
    4. the emulator that is using the data directory set by
       HOSTING_EMULATOR_DATA_DIR or by the settings file, or else the nearest
       data directory in this folder or a parent folder
    5. the only running emulator that was started in this folder, or else in
       the nearest parent folder
    6. if there is no data directory: 127.0.0.1 with the port in
       HOSTING_EMULATOR_PORT or in the settings file, or port 4620
    """

    # The container's health check runs this command every few seconds, so `wait` must stay fast.
    def attempt(seconds: float) -> None:
        with connected(url, control_token, timeout_s=seconds) as client:
            client.health()

    reason = wait_until(attempt, timeout_s=timeout_s)
    if reason is None:
        return 0
    say(f"Error: {' '.join(reason.split())}")
    return 1


def wait_until(attempt: Callable[[float], None], *, timeout_s: float) -> str | None:
    """Call `attempt` until it succeeds or `timeout_s` real seconds have passed.

    Return None after a success, or the message of the last Failure after the timeout. `attempt`
    receives a time limit in real seconds, and raises Failure if it does not succeed.
    """
    end = time.monotonic() + timeout_s
    while True:
        try:
            attempt(min(_ATTEMPT_S, max(end - time.monotonic(), POLL_S)))
            return None
        except Failure as failure:
            left_s = end - time.monotonic()
            if left_s <= 0:
                return failure.message
        time.sleep(min(POLL_S, left_s))
