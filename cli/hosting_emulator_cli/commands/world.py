"""`world`: the isolated services of one emulator, each with its own state, clock and log."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.groups import Failure, OrderedGroup
from hosting_emulator_cli.options import (
    assume_option,
    examples,
    json_option,
    output_option,
    with_client,
    with_world,
)
from hosting_emulator_cli.output import put, put_json, say
from hosting_emulator_cli.values import clock_mode, clock_request, read_with, timestamp
from hosting_emulator_cli.varying import check_only, vary_options
from hosting_emulator_cli.worlds import commit_table, world_table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest, ControlClient, WorldSummary

_ephemeral_option = click.option(
    "--ephemeral/--kept",
    default=None,
    help="Whether the world ends with the emulator or is kept on disk; else as the emulator is.",
)

_at_option = click.option(
    "--at",
    "commit",
    type=click.IntRange(min=0),
    metavar="COMMIT",
    help="As it was after this commit (`world history` lists them); else as it is now.",
)


@click.group(
    cls=OrderedGroup,
    epilog=examples(
        "W=$(hosting-emulator world create --clock frozen)",
        "hosting-emulator world export --output before.json",
    ),
)
def world() -> None:
    """Make, copy, keep and remove worlds.

    The `default` world answers at /v1, any other at /worlds/NAME/v1.
    """


@world.command("list")
@json_option
@with_client
def list_(client: ControlClient, as_json: bool) -> None:
    """List the worlds with their clocks and counts."""
    worlds = client.worlds()
    if as_json:
        put_json(worlds)
    else:
        put(world_table(worlds))


@world.command(
    epilog=examples(
        "hosting-emulator world create",
        "hosting-emulator world create checkout --clock scaled:60 --seed 42",
    )
)
@click.argument("name", required=False)
@click.option("--seed", metavar="TEXT", help="What ids, words and secrets are drawn from.")
@click.option(
    "--clock",
    "mode",
    callback=read_with(clock_mode),
    metavar="MODE",
    help="real, frozen, skip, or scaled:RATE (world seconds per real second).",
)
@click.option(
    "--at", callback=read_with(timestamp), metavar="TIMESTAMP", help="World time to begin at."
)
@assume_option
@vary_options
@_ephemeral_option
@json_option
@click.pass_context
@with_client
def create(
    ctx: click.Context,
    /,
    client: ControlClient,
    name: str | None,
    seed: str | None,
    mode: str | None,
    at: str | None,
    assume: dict[str, str],
    vary: str | None,
    vary_only: tuple[str, ...] | None,
    ephemeral: bool | None,
    as_json: bool,
) -> None:
    """Make a world and print its name.

    NAME is lower-case letters, digits and hyphens, at most 63; without it a throw-away name.
    """
    check_only(ctx)
    made = client.create_world(
        name,
        seed=seed,
        clock=_clock(mode, at),
        assumptions=assume,
        ephemeral=ephemeral,
        vary=vary,
        only=vary_only,
    )
    _put_made(made, as_json)


def _clock(mode: str | None, at: str | None) -> ClockRequest | None:
    if mode is not None:
        return clock_request(mode, at)
    return {"at": at} if at is not None else None


@world.command(
    epilog=examples(
        "hosting-emulator world fork before-upgrade --world checkout",
        "hosting-emulator world fork --at 12",
    )
)
@click.argument("name", required=False)
@_at_option
@_ephemeral_option
@json_option
@with_world
def fork(
    client: ControlClient,
    world: str,
    name: str | None,
    commit: int | None,
    ephemeral: bool | None,
    as_json: bool,
) -> None:
    """Copy a world, as it is or was, into a new one and print its name.

    NAME is the new world's; without it a throw-away name. --world is the one that is copied.
    """
    _put_made(client.fork(world, name, ephemeral=ephemeral, commit=commit), as_json)


@world.command(epilog=examples("hosting-emulator world history --world checkout"))
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    metavar="N",
    help="So many at most.",
)
@json_option
@with_world
def history(client: ControlClient, world: str, limit: int, as_json: bool) -> None:
    """List a world's last commits, newest first: to rewind to or to fork at.

    A commit is one accepted change. A world keeps its last 1,000 while the emulator runs.
    """
    commits = client.history(world, limit=limit)
    if as_json:
        put_json(commits)
    else:
        put(commit_table(commits))


@world.command(epilog=examples("hosting-emulator world rewind 12"))
@click.argument("commit", type=click.IntRange(min=0))
@json_option
@with_world
def rewind(client: ControlClient, world: str, commit: int, as_json: bool) -> None:
    """Put a world back to what it was after a commit.

    COMMIT is its number in `world history`. It is one more commit, so that you can go back again;
    the request log goes on.
    """
    summary = client.rewind(commit, world)
    if as_json:
        put_json(summary)
    else:
        say(f"World {summary['name']} is as it was after commit {commit}.")


@world.command(epilog=examples("hosting-emulator world reset", "hosting-emulator world reset ci-1"))
@click.argument("name", required=False)
@json_option
@with_world
def reset(client: ControlClient, world: str, name: str | None, as_json: bool) -> None:
    """Put a world back to what its seed makes of it.

    NAME is the world's; without it the one --world says.
    """
    summary = client.reset(name or world)
    if as_json:
        put_json(summary)
    else:
        say(f"World {summary['name']} is back at its seed.")


@world.command(epilog=examples("hosting-emulator world delete checkout"))
@click.argument("name")
@with_client
def delete(client: ControlClient, name: str) -> None:
    """Delete a world and its state.

    NAME is the world's; the default world cannot be deleted, only reset.
    """
    client.delete_world(name)
    say(f"World {name} is deleted.")


@world.command(
    epilog=examples("hosting-emulator world export --world checkout --output before.json")
)
@output_option
@with_world
def export(client: ControlClient, world: str, output: Path | None) -> None:
    """Write a world's whole state as one readable JSON document."""
    from hosting_emulator_cli.files import put_document
    from hosting_emulator_cli.looks.progress import working
    from hosting_emulator_cli.output import as_json

    with working(f"Exporting world {world}"):
        text = as_json(client.export_state(world))
    put_document(text, output, f"World {world} is written to")


@world.command("import", epilog=examples("hosting-emulator world import before.json --world copy"))
@click.argument("file")
@json_option
@with_world
def import_(client: ControlClient, world: str, file: str, as_json: bool) -> None:
    """Replace a world's state by an exported document; a missing world is made.

    FILE is what `world export` wrote; - reads stdin.
    """
    from hosting_emulator_cli.files import read_json
    from hosting_emulator_cli.looks.progress import working

    state = read_json(file)
    if not isinstance(state, dict):
        raise Failure(f"{file} is not an exported world: it must hold a JSON object")
    with working(f"Importing into world {world}"):
        summary = client.import_state(state, world)
    if as_json:
        put_json(summary)
    else:
        say(f"World {summary['name']} now holds what {file} says.")


def _put_made(made: WorldSummary, as_json: bool) -> None:
    if as_json:
        put_json(made)
        return
    put(made["name"])
    say(f"World {made['name']} answers at {made['base_url']}.")
