"""`world` and `clock`: the isolated services of one emulator, each with its own state, time and log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import choose_scenario, put_document, read_json, read_world_file
from hosting_emulator_cli.main import CommandGroup, Failure, examples
from hosting_emulator_cli.output import (
    columns,
    fields,
    intervention_sentence,
    prints,
    say,
    say_warnings,
)

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockRequest, ClockState, CommitEntry, WorldSummary


def _clock_words(world: WorldSummary) -> str:
    clock = world.clock
    return f"scaled:{clock.rate:g}" if clock.mode == "scaled" else str(clock.mode)


_world_columns = columns(
    *(("WORLD", "name"), ("CLOCK", _clock_words), "clock.now"),
    *("counts.projects", "counts.deployments", "counts.operations", "counts.tickets"),
    *(("KEYS", "counts.api_keys"), "commit", ("KEPT", lambda world: not world.ephemeral)),
    "base_url",
)


def world_table(worlds: Sequence[WorldSummary]) -> str:
    """Lay out worlds, one in a line; below them, which ones answer varied."""
    varied = [
        f"World {world.name}: {varied_words(world.variation.seed, world.variation.only)}."
        for world in worlds
        if world.variation is not None
    ]
    return "\n".join([_world_columns(worlds), *varied])


def varied_words(seed: str, only: Sequence[str] | None) -> str:
    """Say by which seed answers vary, and where: `varied by seed 5, at page-size only`."""
    return f"varied by seed {seed}" + (f", at {', '.join(only)} only" if only else "")


_ephemeral_option = opt.option(
    "--ephemeral/--kept",
    help=("Whether the world is kept in memory only or on disk. Default: same as the emulator."),
    default=False,
    show_default=False,
)
_prints_new_world = prints(
    "{value.name}", words="World {value.name} is served at {value.base_url}."
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        """
        W=$(hosting-emulator world create --clock frozen)
        hosting-emulator world export --output before.json
        """
    ),
)
def world() -> None:
    """Create, copy, export and delete worlds.

    The `default` world is served at /v1, any other at /worlds/NAME/v1.
    """


@world.command("list")
@prints(world_table)
@opt.with_client
def list_(client: opt.ControlClient) -> list[WorldSummary]:
    """List the worlds with their clocks and counts."""
    return client.worlds()


@world.command(
    epilog=examples(
        """
        hosting-emulator world create
        hosting-emulator world create checkout --clock scaled:60 --seed 42
        hosting-emulator world create studio --scenario studio.yaml
        """
    )
)
@click.argument("name", required=False)
@opt.option(
    "--scenario",
    metavar="NAME|FILE",
    help=(
        "Start with this scenario's world: a name from `scenario list`, or a YAML file. --clock "
        "and --assume override the scenario's."
    ),
)
@opt.option(
    "--seed",
    metavar="TEXT",
    help="Seed for ids, handles and secrets.",
)
@opt.option(
    "--clock",
    "mode",
    metavar="MODE",
    help="real, frozen, skip, or scaled:RATE (world seconds per real second).",
)
@opt.option(
    "--at",
    metavar="TIMESTAMP",
    help=(
        "World time at which a new world starts: RFC 3339, such as 2030-01-31T09:30:00Z, or `now` "
        "for this machine's time. Default: 2026-01-01T00:00:00Z for a frozen or skip clock, "
        "otherwise now."
    ),
)
@opt.assume_option
@opt.vary_options
@_ephemeral_option
@opt.option(
    "--ttl",
    metavar="SPAN",
    help="Delete the world after this long without a request, such as 6h, in real time.",
)
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
    """Create a world and print its name.

    NAME is at most 63 lower-case letters, digits and hyphens. Default: a generated name.
    """
    same |= {"clock": opt.clock_request(mode, at) or None, "assumptions": dict(assume) or None}
    if scenario is not None:
        same["scenario"] = choose_scenario(scenario)
    summary = client.create_world(name, only=vary_only, **same)
    say_warnings(summary.warnings)
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


@world.command(
    epilog=examples(
        r"""
        hosting-emulator world add user zoe --email zoe@acme.example \
            --organization acme --role owner
        hosting-emulator world add project docs2 --organization acme deployments=3 \
            domain=docs.acme.example
        hosting-emulator world add member reader --project shop --role maintainer
        hosting-emulator world add deployment shop status=failed
        hosting-emulator world add --file studio.yaml
        """
    )
)
@click.argument("kind", required=False, type=click.Choice([*_ADDED]), metavar="[KIND]")
@click.argument("name", required=False)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=opt.TYPED_VALUE)
@opt.option(
    "--email",
    metavar="EMAIL",
    help="A user's email; else ALIAS@people.example.",
)
@opt.option(
    "--organization",
    metavar="ORGANIZATION",
    help="The organization it is in, by alias.",
)
@opt.option(
    "--project",
    metavar="PROJECT",
    help="The project it is about, by alias.",
)
@opt.option(
    "--role",
    metavar="ROLE",
    help="A user's role: owner or member; in a project owner, maintainer or reader.",
)
@opt.option(
    "--value",
    metavar="TEXT",
    help="The value of a key, a secret of your own: `phk_` and 43 of A-Z a-z 0-9 _ -.",
)
@opt.option(
    "--file",
    metavar="FILE",
    help="Add what the `world` of this scenario file has; - reads stdin.",
)
@prints(words=intervention_sentence)
@opt.with_world
def add(
    world: opt.HostingEmulator,
    kind: str | None,
    name: str | None,
    fields: Sequence[tuple[str, Any]],
    file: Path | None,
    **given: Any,
) -> Any:
    """Add to a world: a user, a project, a key, or all that a world file has.

    KIND is organization, user, project or key, NAME its alias or the user whose key it is,
    FIELD=VALUE any field that a world file has for it, JSON where it reads as JSON. Or KIND changes
    what is there: member gives the user NAME a role, deployment the project NAME one more, domain a
    project the domain NAME.
    """
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
    return {"intervention": word, "message": world.intervene(word, **document)}


@world.command(
    epilog=examples(
        """
        hosting-emulator world fork before-upgrade --world checkout
        hosting-emulator world fork --commit 12
        """
    )
)
@click.argument("name", required=False)
@opt.option(
    "--commit",
    metavar="COMMIT",
    help=(
        "Copy the world as it was after this commit (`world history` lists them). Default: as it "
        "is now."
    ),
    type=opt.WholeNumber(min=0),
)
@_ephemeral_option
@_prints_new_world
@opt.with_world
def fork(world: opt.HostingEmulator, name: str | None, **same: Any) -> WorldSummary:
    """Copy a world, as it is or was, into a new one and print its name.

    NAME is the new world's. Default: a generated name. --world is the world to copy.
    """
    return world.copy(name, **same)


@world.command(epilog=examples("hosting-emulator world history --world checkout"))
@opt.option(
    "--limit",
    metavar="N",
    help="Show at most this many.",
    type=opt.WholeNumber(1, 1000),
    default=20,
)
@prints(
    columns("commit", "at", ("WHAT", lambda it: ": ".join(filter(None, (it.title, it.summary)))))
)
@opt.with_world
def history(world: opt.HostingEmulator, limit: int) -> list[CommitEntry]:
    """List a world's last commits, newest first, to rewind to or fork at.

    A commit is one accepted change. A world keeps its last 1,000 commits while the emulator runs.
    """
    return world.commits(limit=limit)


@world.command(epilog=examples("hosting-emulator world rewind 12"))
@click.argument("commit", type=opt.WholeNumber(min=0))
@prints(words="World {value.name} was rewound to commit {commit}.")
@opt.with_world
def rewind(world: opt.HostingEmulator, commit: int) -> WorldSummary:
    """Rewind a world to how it was after a commit.

    COMMIT is a number in `world history`. Rewinding is itself a commit, so you can undo it. The
    request log is kept.
    """
    return world.rewind(commit)


@world.command(
    epilog=examples(
        """
        hosting-emulator world reset
        hosting-emulator world reset ci-1
        """
    )
)
@click.argument("name", required=False, shell_complete=opt.WORLDS)
@prints(words="World {value.name} was reset.")
@opt.with_world
def reset(world: opt.HostingEmulator, name: str | None) -> WorldSummary:
    """Reset a world to how it started.

    NAME is the world to reset. Default: --world.
    """
    return (world if name is None else world.control.world(name)).reset()


@world.command(epilog=examples("hosting-emulator world delete checkout"))
@click.argument("name", shell_complete=opt.WORLDS)
@opt.with_client
def delete(client: opt.ControlClient, name: str) -> None:
    """Delete a world and its state.

    NAME is the world to delete. The default world cannot be deleted, only reset.
    """
    client.world(name).delete()
    say(f"World {name} was deleted.")


@world.command(
    epilog=examples("hosting-emulator world export --world checkout --output before.json")
)
@opt.output_option
@opt.flag(
    "--with-seed",
    help="Include the seed. Anyone who has it can compute the world's tokens, keys and tickets.",
)
@opt.with_world
def export(world: opt.HostingEmulator, output: Path | None, with_seed: bool) -> None:
    """Export a world's whole state as one JSON document.

    The file holds no seed by default. A world imported from it draws a new seed: its API keys stay
    valid, access tokens issued before do not, and new ids and secrets differ.
    """
    state = world.export(with_seed=with_seed)
    put_document(state, output, f"World {world.name} was written to")


@world.command(
    "import",
    epilog=examples("hosting-emulator world import before.json --world copy"),
)
@click.argument("file")
@opt.flag(
    "--replace",
    help=(
        "Also replace a kept world that has changed since it began. Without it, import refuses "
        "to, and names the commands that restore the old world."
    ),
)
@prints(words="World {value.name} now has the content of {file}.")
@opt.with_world
def import_(world: opt.HostingEmulator, file: str, replace: bool) -> WorldSummary:
    """Replace a world's state by an exported document; create the world if it is missing.

    FILE is what `world export` wrote; - reads stdin.
    """
    state, name = read_json(file)
    if not isinstance(state, dict):
        raise Failure(f"{name} is not an exported world: it must be a JSON object")
    return world.import_state(state, replace=replace)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        """
        hosting-emulator clock freeze
        hosting-emulator clock advance 10m
        """
    ),
)
def clock() -> None:
    """Show and move a world's time.

    Everything in a world follows its clock: operations, tickets, tokens, keys. Each command prints
    the clock's new state.
    """


def _clock_text(state: ClockState) -> str:
    due, rate = state.next_due_at, f"{state.rate:g} world seconds per real second"
    lines: list[tuple[str, object]] = [
        ("mode", state.mode),
        ("rate", rate if state.mode == "scaled" else None),
        ("now", state.now),
        ("next due", f"{due} ({state.pending} pending)" if due else "nothing"),
    ]
    from hosting_emulator.sdk import ClockMove

    if isinstance(state, ClockMove):
        from hosting_emulator.contract.durations import format_duration

        moved = format_duration(state.moved_ms)
        lines += [("moved", moved), ("events run", state.events_run)]
    return fields(lines)


@clock.command()
@prints(_clock_text)
@opt.with_world
def show(world: opt.HostingEmulator) -> ClockState:
    """Show the time, the clock's mode and what is due next."""
    return world.clock.state


def _add_mode(name: str, request: ClockRequest, help: str) -> None:
    @clock.command(name, help=help)
    @prints(_clock_text)
    @opt.with_world
    def change(world: opt.HostingEmulator) -> ClockState:
        return world.clock.change(request)


_add_mode("freeze", {"mode": "frozen"}, "Stop the clock: time moves only by `advance`.")
_add_mode("run", {"mode": "real"}, "Run the clock at real speed, from the world's current time.")


@clock.command(epilog=examples("hosting-emulator clock scale 60"))
@click.argument("rate", type=opt.RATE)
@prints(_clock_text)
@opt.with_world
def scale(world: opt.HostingEmulator, rate: float) -> ClockState:
    """Run the clock at another speed.

    RATE is world seconds per real second, above 0: with 60, a minute passes each second.
    """
    return world.clock.change({"mode": "scaled", "rate": rate})


_add_mode(
    "skip",
    {"mode": "skip"},
    "Skip waiting: a poll of an unfinished operation moves time to the next due event.",
)


@clock.command(
    epilog=examples(
        """
        hosting-emulator clock advance 10m
        hosting-emulator clock advance --to 2030-01-31T09:30:00Z
        hosting-emulator clock advance --until-operation "$OPERATION_ID"
        """
    )
)
@click.argument("duration", required=False)
@opt.option(
    "--to",
    metavar="TIMESTAMP",
    help="Move to this time (RFC 3339), or to `now`, this machine's time.",
)
@opt.option(
    "--until-operation",
    metavar="OPERATION",
    help="Move until the operation with this id ends.",
)
@prints(_clock_text)
@opt.with_world
def advance(
    world: opt.HostingEmulator, duration: str | None, to: str | None, until_operation: str | None
) -> ClockState:
    """Move time forward and run everything that falls due.

    DURATION is world time, such as 500ms, 90s, 10m, 1h30m, 90d or PT10M. Give either DURATION, --to
    or --until-operation.
    """
    if [duration, to, until_operation].count(None) != 2:
        raise click.UsageError("give exactly one of DURATION, --to and --until-operation")
    return world.clock.move(by=duration, to=to, until_operation=until_operation)
