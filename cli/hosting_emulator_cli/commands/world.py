"""`world` and `clock`: the isolated services of one emulator, each with its own state, time and log."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import choose_scenario, put_document, read_json, read_world_file
from hosting_emulator_cli.main import CommandGroup, Failure
from hosting_emulator_cli.output import columns, fields, prints, say, say_warnings

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest, ClockState, CommitEntry, WorldSummary


def _clock_words(world: Mapping[str, Any]) -> str:
    clock = world["clock"]
    return f"scaled:{clock['rate']:g}" if clock["mode"] == "scaled" else str(clock["mode"])


_world_columns = columns(
    *(("WORLD", "name"), ("CLOCK", _clock_words), "clock.now"),
    *("counts.projects", "counts.deployments", "counts.operations", "counts.tickets"),
    *(("KEYS", "counts.api_keys"), "commit", ("KEPT", lambda world: not world["ephemeral"])),
    "base_url",
)


def world_table(worlds: Sequence[WorldSummary]) -> str:
    """Lay out worlds, one in a line; below them, which ones answer varied."""
    varied = [
        f"World {world['name']}: {varied_words(variation['seed'], variation['only'])}."
        for world in worlds
        if (variation := world.get("variation")) is not None
    ]
    return "\n".join([_world_columns(worlds), *varied])


def varied_words(seed: str, only: Sequence[str] | None) -> str:
    """Say by which seed answers vary, and where: `varied by seed 5, at page-size only`."""
    return f"varied by seed {seed}" + (f", at {', '.join(only)} only" if only else "")


_ephemeral_option = opt.option("--ephemeral/--kept", default=False, show_default=False)
_prints_new_world = prints(
    "{value[name]}", words="World {value[name]} is served at {value[base_url]}."
)


@click.group(cls=CommandGroup)
def world() -> None:
    """Create, copy, export and delete worlds."""


@world.command("list")
@prints(world_table)
@opt.with_client
def list_(client: opt.ControlClient) -> list[WorldSummary]:
    """List the worlds with their clocks and counts."""
    return client.worlds()


@world.command()
@click.argument("name", required=False)
@opt.option("--scenario NAME|FILE")
@opt.option("--seed TEXT")
@opt.option("--clock mode MODE")
@opt.option("--at TIMESTAMP")
@opt.assume_option
@opt.vary_options
@_ephemeral_option
@opt.option("--ttl SPAN")
@_prints_new_world
@opt.with_client
def create(
    client: opt.ControlClient,
    name: str | None,
    scenario: str | None,
    mode: str | None,
    at: str | None,
    assume: Sequence[tuple[str, str]],
    vary_only: tuple[str, ...] | None,
    **same: Any,
) -> WorldSummary:
    """Create a world and print its name."""
    same |= {"clock": opt.clock_request(mode, at) or None, "assumptions": dict(assume) or None}
    if scenario is not None:
        same["scenario"] = choose_scenario(scenario)
    summary = client.create_world(name, only=vary_only, **same)
    say_warnings(summary)
    return summary


#: What can be added: the list of a world file or the intervention, and what its name is called.
_ADDED = {
    "organization": ("organizations", "alias"),
    "user": ("users", "alias"),
    "project": ("projects", "alias"),
    "key": ("keys", "user"),
    "member": ("add_member", "user"),
    "deployment": ("add_deployments", "project"),
    "domain": ("connect_domain", "domain"),
}


@world.command()
@click.argument("kind", required=False, type=click.Choice([*_ADDED]), metavar="[KIND]")
@click.argument("name", required=False)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=opt.TYPED_VALUE)
@opt.option("--email EMAIL")
@opt.option("--organization ORGANIZATION")
@opt.option("--project PROJECT")
@opt.option("--role ROLE")
@opt.option("--value TEXT")
@opt.option("--file FILE")
@prints(words=lambda done: f"{done['said'][:1].upper()}{done['said'][1:]}.")
@opt.with_world
def add(
    world: opt.HostingEmulator,
    kind: str | None,
    name: str | None,
    fields: Sequence[tuple[str, Any]],
    file: Path | None,
    **given: Any,
) -> Any:
    """Add to a world: a user, a project, a key, or all that a world file has."""
    said = dict(fields) | {field: text for field, text in given.items() if text is not None}
    if (file is None) == (name is None) or (file and said):
        raise click.UsageError("give KIND and NAME, or --file FILE")
    if kind == "user":
        role, organization = said.pop("role", None), said.pop("organization", None)
        if role and not organization:
            raise click.UsageError("--role is one in an organization: give --organization as well")
        if organization:
            said = {"organizations": {organization: role or "member"}, **said}
    if file is not None:
        word, document = "add", read_world_file(str(file))
    else:
        word, called = _ADDED[str(kind)]
        document = {called: name, **said}
        if kind == "member" and "project" in said:
            word = "set_role"
        elif kind in ("organization", "user", "project", "key"):
            word, document = "add", {word: [document]}
    return {"intervention": word, "said": world.intervene(word, **document)}


@world.command()
@click.argument("name", required=False)
@opt.option("--commit COMMIT", type=opt.WholeNumber(min=0))
@_ephemeral_option
@_prints_new_world
@opt.with_world
def fork(world: opt.HostingEmulator, name: str | None, **same: Any) -> WorldSummary:
    """Copy a world, as it is or was, into a new one and print its name."""
    return world.copy(name, **same)


@world.command()
@opt.option("--limit N", type=opt.WholeNumber(1, 1000), default=20)
@prints(
    columns("commit", "at", ("WHAT", lambda it: ": ".join(filter(None, (it["title"], it["says"])))))
)
@opt.with_world
def history(world: opt.HostingEmulator, limit: int) -> list[CommitEntry]:
    """List a world's last commits, newest first, to rewind to or fork at."""
    return world.commits(limit=limit)


@world.command()
@click.argument("commit", type=opt.WholeNumber(min=0))
@prints(words="World {value[name]} was rewound to commit {commit}.")
@opt.with_world
def rewind(world: opt.HostingEmulator, commit: int) -> WorldSummary:
    """Rewind a world to how it was after a commit."""
    return world.rewind(commit)


@world.command()
@click.argument("name", required=False, shell_complete=opt.WORLDS)
@prints(words="World {value[name]} was reset.")
@opt.with_world
def reset(world: opt.HostingEmulator, name: str | None) -> WorldSummary:
    """Reset a world to how it started."""
    return (world if name is None else world.control.world(name)).reset()


@world.command()
@click.argument("name", shell_complete=opt.WORLDS)
@opt.with_client
def delete(client: opt.ControlClient, name: str) -> None:
    """Delete a world and its state."""
    client.world(name).delete()
    say(f"World {name} was deleted.")


@world.command()
@opt.output_option
@opt.flag("--with-seed")
@opt.with_world
def export(world: opt.HostingEmulator, output: Path | None, with_seed: bool) -> None:
    """Export a world's whole state as one JSON document."""
    state = world.export(with_seed=with_seed)
    put_document(state, output, f"World {world.name} was written to")


@world.command("import")
@click.argument("file")
@opt.flag("--replace")
@prints(words="World {value[name]} now has the content of {file}.")
@opt.with_world
def import_(world: opt.HostingEmulator, file: str, replace: bool) -> WorldSummary:
    """Replace a world's state by an exported document; create the world if it is missing."""
    state, name = read_json(file)
    if not isinstance(state, dict):
        raise Failure(f"{name} is not an exported world: it must be a JSON object")
    return world.import_state(state, replace=replace)


@click.group(cls=CommandGroup)
def clock() -> None:
    """Show and move a world's time."""


def _clock_text(state: ClockState) -> str:
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
@prints(_clock_text)
@opt.with_world
def show(world: opt.HostingEmulator) -> ClockState:
    """Show the time, the clock's mode and what is due next."""
    return world.clock.state


def _add_mode(name: str, request: ClockRequest, words: str) -> None:
    @clock.command(name, help=words)
    @prints(_clock_text)
    @opt.with_world
    def change(world: opt.HostingEmulator) -> ClockState:
        return world.clock.change(request)


_add_mode("freeze", {"mode": "frozen"}, "Stop the clock: time moves only by `advance`.")
_add_mode("run", {"mode": "real"}, "Run the clock at real speed, from the world's current time.")


@clock.command()
@click.argument("rate", type=opt.RATE)
@prints(_clock_text)
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
@opt.option("--until-operation OPERATION")
@prints(_clock_text)
@opt.with_world
def advance(
    world: opt.HostingEmulator, duration: str | None, to: str | None, until_operation: str | None
) -> ClockState:
    """Move time forward and run everything that falls due."""
    if [duration, to, until_operation].count(None) != 2:
        raise click.UsageError("give exactly one of DURATION, --to and --until-operation")
    return world.clock.move(by=duration, to=to, until_operation=until_operation)
