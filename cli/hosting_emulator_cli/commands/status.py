"""`status`: the running emulator and its worlds."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.looks.terminal import console, is_terminal
from hosting_emulator_cli.options import examples, json_option, with_client
from hosting_emulator_cli.output import fields, put, put_json
from hosting_emulator_cli.worlds import varied_lines, world_table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, Info


@click.command(epilog=examples("hosting-emulator status", "hosting-emulator status --json"))
@json_option
@with_client
def status(client: ControlClient, as_json: bool) -> None:
    """Show the running emulator and its worlds.

    Version, uptime (real time), addresses; each world's clock and counts.
    """
    info, worlds = client.info(), client.worlds()
    uptime_s = _uptime_s(info["started_at"])
    if as_json:
        put_json({**info, "uptime_seconds": uptime_s, "worlds": worlds})
        return
    facts = _process(info, uptime_s)
    if is_terminal():
        from hosting_emulator_cli.looks import panels

        out = console()
        out.print(panels.process_panel(facts))
        out.print(panels.world_table(worlds, out.width))
        for line in varied_lines(worlds):
            out.print(line, markup=False, highlight=False)
        return
    put(fields(facts))
    put("")
    put(world_table(worlds))


def _uptime_s(started_at: str) -> int:
    """Real seconds since the process started, by this machine's clock; never below 0."""
    passed = datetime.now(UTC) - datetime.fromisoformat(started_at)
    return max(0, int(passed.total_seconds()))


def _process(info: Info, uptime_s: int) -> list[tuple[str, object]]:
    from hosting_emulator.contract.durations import format_duration

    kept = f"{info['data_dir']} (durability: {info['durability']})" if info["data_dir"] else None
    return [
        ("version", info["version"]),
        ("process", f"{info['pid']}, up {format_duration(uptime_s * 1000)}"),
        ("base URL", info["base_url"]),
        ("development", info["dev_base_url"]),
        ("control API", info["control_url"]),
        ("docs", info["docs_url"]),
        ("TLS port", info["tls_port"]),
        ("state", kept or "in memory only"),
    ]
