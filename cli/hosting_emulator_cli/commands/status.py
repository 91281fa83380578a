"""`status`, `wait`, `why`, `doctor`: is an emulator there, what is in it, what waits, what is amiss."""

from __future__ import annotations

import textwrap
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.requests import put_whole
from hosting_emulator_cli.commands.world import world_table
from hosting_emulator_cli.main import Failure, examples
from hosting_emulator_cli.output import (
    console,
    fields,
    is_terminal,
    plain_message,
    prints,
    put,
    put_json,
    say,
)

if TYPE_CHECKING:
    from hosting_emulator.sdk import Why, WorldSummary

#: Real time between two attempts.
POLL_S = 0.05
#: One attempt may hang this long (a listening socket that nobody serves) before the next.
_ATTEMPT_S = 2.0
#: The width of a line about an armed fault.
_LINE = 78


def _status_text(found: dict[str, Any]) -> str | None:
    from hosting_emulator.contract.durations import format_duration

    folder, worlds = found["data_dir"], found["worlds"]
    facts = [
        ("version", found["version"]),
        ("process", f"{found['pid']}, up {format_duration(found['uptime_seconds'] * 1000)}"),
        ("base URL", found["base_url"]),
        ("development", found["dev_base_url"]),
        ("control API", found["control_url"]),
        ("docs", found["docs_url"]),
        ("TLS port", found["tls_port"]),
        ("state", f"{folder} (durability: {found['durability']})" if folder else "in memory only"),
    ]
    tables = "\n\n".join(filter(None, [world_table(worlds), _armed_text(worlds)]))
    if not is_terminal():
        return f"{fields(facts)}\n\n{tables}"
    from hosting_emulator_cli import rich_views

    console().print(rich_views.process_panel(facts))
    return f"\n{tables}"


def _armed_text(worlds: Sequence[WorldSummary]) -> str:
    """Write the armed faults and outcomes of all worlds with their counts; empty if there are none."""
    lines = []
    for world in worlds:
        for entry in world.armed:
            counts = f"considered {entry.considered}, seen {entry.seen}, hits {entry.hits}"
            lines.append(f"{entry.id} of {world.name} ({entry.kind}): {counts}")
            if entry.unused is not None:
                lines.append(f"  It never acted: {entry.unused}.")
    return "\n".join(textwrap.fill(line, _LINE, subsequent_indent="    ") for line in lines)


@click.command(
    epilog=examples(
        """
        hosting-emulator status
        hosting-emulator status --json
        """
    )
)
@prints(_status_text)
@opt.with_client
def status(client: opt.ControlClient) -> dict[str, Any]:
    """Show the running emulator and its worlds.

    Shows version, uptime (real time), addresses, and each world's clock and counts.
    """
    info = client.info()
    up = datetime.now(UTC) - datetime.fromisoformat(info.started_at)  # by this machine's clock
    uptime_s = max(0, int(up.total_seconds()))
    return {**plain_message(info), "uptime_seconds": uptime_s, "worlds": client.worlds()}


@click.command(
    epilog=examples("hosting-emulator start --quiet & hosting-emulator wait --timeout 10s")
)
@opt.option(
    "--timeout",
    "timeout_s",
    metavar="DURATION",
    help="Give up after this much real time, such as 500ms, 30s or 2m.",
    default="30s",
)
@opt.url_options
def wait(timeout_s: float, url: str, control_token: str | None) -> int:
    """Wait until the emulator answers.

    Exit code 0 as soon as it does; 1, with one line, after the timeout. Like every command that
    needs a running emulator, it uses --url; otherwise the address in the file
    HOSTING_EMULATOR_READY_FILE, which `start` writes; otherwise HOSTING_EMULATOR_PORT, or 4620.
    """
    named = opt.source("url") is not opt.ParameterSource.DEFAULT

    # Also the container's health check, run every few seconds: it must stay light.
    def attempt(seconds: float) -> None:
        at = url if named else opt.default_url()  # a ready file may be there only later
        with opt.connected(at, control_token, timeout_s=seconds) as client:
            client.health()

    if (reason := wait_until(attempt, timeout_s=timeout_s)) is None:
        return 0
    say(f"Error: {' '.join(reason.split())}")
    return 1


def wait_until(attempt: Callable[[float], None], *, timeout_s: float) -> str | None:
    """Attempt, each time for so many seconds, until it succeeds: None; else say what failed last."""
    end = time.monotonic() + timeout_s
    while True:
        try:
            attempt(min(_ATTEMPT_S, max(end - time.monotonic(), POLL_S)))
            return None
        except Failure as failure:
            left = end - time.monotonic()
            if left <= 0:
                return failure.message
        time.sleep(min(POLL_S, left))


def _why_text(why: Why) -> str:
    state = why.state
    if state == "running":
        state += f" ({why.phase})"
    shown = fields(
        [
            ("operation", why.operation),
            ("kind", why.kind),
            ("project", why.project),
            ("state", state),
            ("at", why.at),
            ("next", None if why.next is None else f"{why.next.at}: {why.next.event}"),
            ("waits for", why.waits_for),
            ("held by", why.held_by),
        ]
    )
    return "\n".join([shown, "", *why.sentences, *(f"  {command}" for command in why.commands)])


@click.command(
    epilog=examples(
        """
        hosting-emulator why 01JGFJJZ1CFG7T99E7Y51GF448
        hosting-emulator why '#16'
        """
    )
)
@click.argument("operation", shell_complete=opt.OPERATIONS)
@opt.json_option
@opt.with_world
def why(world: opt.HostingEmulator, operation: str, as_json: bool) -> None:
    """Explain an operation: state, what comes next, how to move it on; or a request.

    OPERATION is an operation's id, or a request's number in the log. Times are world time. You can
    run the commands at the end as printed.
    """
    from msgspec.structs import replace

    number = operation.removeprefix("#")
    if number.isascii() and number.isdecimal():
        return put_whole(world, world.requests.whole(int(number)), as_json)
    explanation = world.why(operation)
    commands = [opt.typed_here(command) for command in explanation.commands]
    explanation = replace(explanation, commands=commands)
    if as_json:
        return put_json(explanation)
    if not is_terminal():
        return put(_why_text(explanation))
    from hosting_emulator_cli.rich_views import why_panel

    console().print(why_panel(explanation))


_COLORS = {"ok": "green", "note": "yellow", "problem": "red"}


def _findings_text(report: dict[str, Any]) -> str:
    findings = report["findings"]
    width = max(len(finding["check"]) for finding in findings)
    lines = []
    for finding in findings:
        verdict = click.style(f"{finding['verdict']:<7}", fg=_COLORS[finding["verdict"]])
        lines.append(f"{verdict}  {finding['check']:<{width}}  {finding['seen']}")
        if finding["advice"] is not None:
            lines.append(f"{'':<7}  {'':<{width}}  -> {finding['advice']}")
    counts = Counter(finding["verdict"] for finding in findings)
    parts = []
    for verdict in ("problem", "note"):
        if counts[verdict]:
            plural = "" if counts[verdict] == 1 else "s"
            parts.append(f"{counts[verdict]} {verdict}{plural}")
    return "\n".join([*lines, "", f"{', '.join(parts) or 'No problems'}."])


@click.command(
    epilog=examples(
        """
        hosting-emulator doctor
        hosting-emulator doctor --port 4700 --data-dir state
        hosting-emulator doctor --json
        """
    )
)
@opt.option(
    "--data-dir",
    metavar="DIRECTORY",
    help="Data directory to check. Default: the running emulator's, or the one `start` would use.",
    type=opt.FilePath(path_type=Path),
)
@opt.option(
    "--port",
    metavar="PORT",
    help="Port that `start` should use. Default: the port of --url, if that is on this machine.",
)
@opt.option(
    "--tls-port",
    metavar="PORT",
    help="Port that `start --tls-port` should use.",
)
@prints(_findings_text, fails=lambda report: not report["ok"])
@opt.url_options
def doctor(**options: Any) -> dict[str, Any]:
    """Find out why the emulator does not start or cannot be reached.

    Checks versions, the settings of `start` and where they come from, ports, the data directory,
    certificates, name resolution, limits, the clock and proxies. It changes nothing. Each line is
    `ok`, a `note`, or a `problem` with what to do. Exit code 0 without problems, otherwise 1.
    """
    from hosting_emulator_cli.commands.start import start
    from hosting_emulator_cli.doctor_checks import examine

    named = opt.source("url") is not opt.ParameterSource.DEFAULT
    findings = examine(start, named=named, **options)
    is_ok = all(finding.verdict != "problem" for finding in findings)
    return {"ok": is_ok, "findings": [asdict(finding) for finding in findings]}
