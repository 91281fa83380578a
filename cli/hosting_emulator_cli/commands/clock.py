"""`clock`: a world's time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.main import CommandGroup
from hosting_emulator_cli.output import fields, prints

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest, ClockState


@click.group(cls=CommandGroup)
def clock() -> None:
    """Show and move a world's time."""


def _text(state: ClockState) -> str:
    due, rate = state["next_due_at"], f"{state['rate']:g} world seconds per real second"
    lines: list[tuple[str, object]] = [
        ("mode", state["mode"]),
        ("rate", rate if state["mode"] == "scaled" else None),
        ("now", state["now"]),
        ("next due", f"{due} ({state['pending']} pending)" if due else "nothing"),
    ]
    if "moved_ms" in state:
        from hosting_emulator.contract.durations import format_duration

        moved = format_duration(state["moved_ms"])
        lines += [("moved", moved), ("events run", state["events_run"])]
    return fields(lines)


@clock.command()
@prints(_text)
@opt.with_world
def show(world: opt.HostingEmulator) -> ClockState:
    """Show the time, the clock's mode and what is due next."""
    return world.clock.state


def _add_mode(name: str, request: ClockRequest, words: str) -> None:
    @clock.command(name, help=words)
    @prints(_text)
    @opt.with_world
    def change(world: opt.HostingEmulator) -> ClockState:
        return world.clock.change(request)


_add_mode("freeze", {"mode": "frozen"}, "Stop the clock: time moves only by `advance` and `set`.")
_add_mode("run", {"mode": "real"}, "Run the clock at real speed, from the world's current time.")


@clock.command()
@click.argument("rate", type=opt.RATE)
@prints(_text)
@opt.with_world
def scale(world: opt.HostingEmulator, rate: float) -> ClockState:
    """Run the clock at another speed."""
    return world.clock.change({"mode": "scaled", "rate": rate})


_add_mode(
    "skip",
    {"mode": "skip"},
    "Skip waiting: a poll of an unfinished operation moves time to the next due event.",
)


@clock.command()
@click.argument("duration", required=False)
@opt.option("--to TIMESTAMP")
@opt.option("--until OPERATION")
@prints(_text)
@opt.with_world
def advance(world: opt.HostingEmulator, duration: str | None, **target: Any) -> ClockState:
    """Move time forward and run everything that falls due."""
    to, until = target["to"], target["until"]
    if [duration, to, until].count(None) != 2:
        raise click.UsageError("give exactly one of DURATION, --to and --until")
    return world.clock.move(by=duration, to=to, until_operation=until)


@clock.command("set")
@click.argument("timestamp", type=opt.TIMESTAMP)
@prints(_text)
@opt.with_world
def set_(world: opt.HostingEmulator, timestamp: str) -> ClockState:
    """Set the time; it cannot move back."""
    return world.clock.change({"at": timestamp})
