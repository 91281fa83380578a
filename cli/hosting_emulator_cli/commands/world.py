"""Implements `world`, which manages worlds. Each world has its own state, time and log."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.files import put_document, read_json
from hosting_emulator_cli.main import CommandGroup, Failure, examples
from hosting_emulator_cli.output import (
    intervention_sentence,
    prints,
    say,
    say_warnings,
)
from hosting_emulator_cli.scenario_files import add_records, choose_scenario, read_world_file
from hosting_emulator_cli.tables import columns
from hosting_emulator_cli.value_types import TYPED_VALUE, WholeNumber, clock_request
from hosting_emulator_cli.world_tables import world_table

if TYPE_CHECKING:
    from hosting_emulator.messages import NewWorldSummary
    from hosting_emulator.sdk import CommitEntry, ControlClient, HostingEmulator, WorldSummary


_ephemeral_option = opt.option(
    "--ephemeral/--on-disk",
    help=(
        "Store the world only in memory, or on disk (default). An ephemeral emulator stores all of "
        "its worlds only in memory."
    ),
    default=False,
    show_default=False,
)


def _new_world_text(summary: NewWorldSummary) -> str:
    heading = f"World {summary.name} is served at {summary.base_url}."
    return "\n".join([heading, *summary.notices])


def _reset_text(summary: WorldSummary) -> str:
    if summary.scenario is None:
        return f"World {summary.name} was reset."
    return (
        f"World {summary.name} was reset to the start of {summary.scenario}. "
        "`world reset --default` returns to the default world."
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
    """List, create, fork, rewind, reset, export, import and delete worlds.

    The `default` world is served at /v1, and every other world at /worlds/NAME/v1.
    """


@world.command("list")
@prints(world_table)
@opt.with_client
def list_worlds(client: ControlClient) -> list[WorldSummary]:
    """List the worlds with their clocks, and count their projects, operations and keys."""
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
@opt.scenario_option
@opt.option(
    "--seed",
    metavar="TEXT",
    help=(
        "Seed from which ids, handles and secrets are generated, unless a scenario contains a seed. "
        "Default: the emulator's --seed."
    ),
)
@opt.option(
    "--clock",
    "mode",
    metavar="MODE",
    help=(
        "Clock mode: real, frozen, skip, or scaled:RATE (RATE is the number of world seconds per "
        "real second). Default: the clock of the scenario, or real without a scenario."
    ),
)
@opt.option(
    "--at",
    metavar="TIMESTAMP",
    help=(
        "World time at which the world starts: a timestamp such as 2030-01-31T09:30:00Z (RFC 3339), "
        "or `now` for the real time. Default: 2026-01-01T00:00:00Z for a frozen or skip clock, and "
        "`now` for other clocks. Cannot be used with --scenario, which sets the time."
    ),
)
@opt.assume_option
@opt.vary_options
@_ephemeral_option
@opt.option(
    "--ttl",
    metavar="SPAN",
    help=(
        "Delete the world after it has received no requests for at least this long, in real time, "
        "such as 6h. A restart of the emulator removes this limit: the world is then kept until you "
        "delete it."
    ),
)
@prints("{value.name}", words=_new_world_text)
@opt.with_client
def create(
    client: ControlClient,
    name: str | None,
    scenario: str | None,
    mode: str | None,
    at: str | None,
    assume: Sequence[tuple[str, str]],
    vary_only: tuple[str, ...] | None,
    **world_options: Any,
) -> WorldSummary:
    """Create a world and print its name.

    NAME consists of up to 63 lower-case letters, digits and hyphens, and does not start with a
    hyphen. Default: a generated name.
    """
    world_options["clock"] = clock_request(mode, at) or None
    world_options["assumptions"] = dict(assume) or None
    if scenario is not None:
        world_options["scenario"] = choose_scenario(scenario)
    summary = client.create_world(name, vary_only=vary_only, **world_options)
    say_warnings(summary.warnings)
    return summary


#: For each kind that `add` creates, its list in a world file and the field that NAME sets.
_CREATED_KINDS = {
    "organization": ("organizations", "alias"),
    "user": ("users", "alias"),
    "project": ("projects", "alias"),
    "key": ("keys", "user"),
}
#: For each kind that `add` changes, the intervention to use and the field that NAME sets.
_CHANGED_KINDS = {
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
@click.argument(
    "kind", required=False, type=click.Choice([*_CREATED_KINDS, *_CHANGED_KINDS]), metavar="[KIND]"
)
@click.argument("name", required=False)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=TYPED_VALUE)
@opt.option(
    "--email",
    metavar="EMAIL",
    help="The email address of the new user. Default: ALIAS@people.example.",
)
@opt.option(
    "--organization",
    metavar="ORGANIZATION",
    help=(
        "The organization of the user, project, key or member, by alias. Required for a project, for "
        "a user with --role and, in a world with several organizations, for a member without "
        "--project."
    ),
)
@opt.option(
    "--project",
    metavar="PROJECT",
    help="The project of the member or domain, by alias.",
)
@opt.option(
    "--role",
    metavar="ROLE",
    help=(
        "The user's role: owner or member (default) in an organization, or owner, maintainer or "
        "reader in a project."
    ),
)
@opt.option(
    "--value",
    metavar="TEXT",
    help=(
        "The value of the key: the prefix (by default `phk_`) and 43 characters from A-Z a-z 0-9 _ -. "
        "Required for a key. To create a key with a generated value, use `token --api-key` instead."
    ),
)
@opt.option(
    "--file",
    metavar="FILE",
    help=(
        "Add the records in the `world` section of this scenario file (- for stdin). Used instead "
        "of KIND and NAME."
    ),
)
@prints(words=intervention_sentence)
@opt.with_world
def add(
    world: HostingEmulator,
    kind: str | None,
    name: str | None,
    fields: Sequence[tuple[str, Any]],
    file: Path | None,
    **field_options: Any,
) -> dict[str, str]:
    """Add a user, a project, an API key or another record to a world.

    To create a record, KIND is organization, user, project or key. NAME is the alias of the new
    record or, for a key, the user who owns it. FIELD=VALUE sets any other field that such a record
    has in a world file. VALUE is parsed as JSON if possible.

    The other kinds change an existing record: `member` gives the user NAME a role, `deployment`
    adds a deployment to the project NAME, and `domain` adds the domain NAME to a project.
    """
    values = dict(fields)
    values |= {field: text for field, text in field_options.items() if text is not None}
    if (file is None) == (name is None) or (file and values):
        raise click.UsageError("use either KIND and NAME, or --file FILE")
    if file is not None:
        message = add_records(world, read_world_file(str(file)))
        return {"intervention": "add", "message": message}
    intervention, document = _addition(str(kind), str(name), values)
    message = world.intervene(intervention, **document)
    return {"intervention": intervention, "message": message}


def _addition(kind: str, name: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the name and the fields of the intervention that adds a record of this kind.

    Raises UsageError if an option that the kind needs is missing, or if `--role` is set without
    `--organization`.
    """
    if kind in _CHANGED_KINDS:
        intervention, name_field = _CHANGED_KINDS[kind]
        if kind == "member" and "project" in values:
            intervention = "set_role"
        return intervention, {name_field: name, **values}
    if kind == "user":
        values = _with_membership(values)
    if kind == "project" and "organization" not in values:
        raise click.UsageError(
            "a project belongs to an organization: add --organization ORGANIZATION"
        )
    if kind == "key" and "value" not in values:
        raise click.UsageError(
            "a key needs a value: add --value phk_…, or let `token --api-key` generate a key"
        )
    list_name, name_field = _CREATED_KINDS[kind]
    return "add", {list_name: [{name_field: name, **values}]}


def _with_membership(values: dict[str, Any]) -> dict[str, Any]:
    """Return a user's fields in the format used in world files.

    The `organization` and `role` fields become an `organizations` field.
    """
    values = dict(values)
    role = values.pop("role", None)
    organization = values.pop("organization", None)
    if organization:
        return {"organizations": {organization: role or "member"}, **values}
    if role:
        raise click.UsageError(
            "--role needs --organization, the organization in which the user has the role"
        )
    return values


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
        "Copy the state that the world had after this commit, which `world history` lists. "
        "Default: the current state."
    ),
    type=WholeNumber(min=0),
)
@_ephemeral_option
@prints("{value.name}", words="World {value.name} is served at {value.base_url}.")
@opt.with_world
def fork(world: HostingEmulator, name: str | None, **copy_options: Any) -> WorldSummary:
    """Copy a world's current state or an earlier state into a new world.

    Prints the name of the new world. NAME is the name of the new world (default: a generated name),
    and --world is the world to copy.
    """
    return world.copy(name, **copy_options)


def _commit_text(commit: CommitEntry) -> str:
    return ": ".join(filter(None, (commit.title, commit.summary)))


@world.command(epilog=examples("hosting-emulator world history --world checkout"))
@opt.limit_option(default=20)
@prints(columns("commit", "at", ("WHAT", _commit_text)))
@opt.with_world
def history(world: HostingEmulator, limit: int) -> list[CommitEntry]:
    """List a world's latest commits, newest first, for use with `rewind` and `fork`.

    A commit is a change that was accepted. Commits that only count requests are not listed. The
    emulator keeps at most 1,000 commits of each world, and only until it stops.
    """
    return world.commits(limit=limit)


@world.command(epilog=examples("hosting-emulator world rewind 12"))
@click.argument("commit", type=WholeNumber(min=0))
@prints(words="World {value.name} was rewound to commit {commit}.")
@opt.with_world
def rewind(world: HostingEmulator, commit: int) -> WorldSummary:
    """Return a world to its state after an earlier commit.

    COMMIT is the number of a commit in `world history`. A rewind is itself a commit, so it can be
    undone. The request log does not change.
    """
    return world.rewind(commit)


@world.command(
    epilog=examples(
        """
        hosting-emulator world reset
        hosting-emulator world reset ci-1
        hosting-emulator world reset --default
        """
    )
)
@click.argument("name", required=False, shell_complete=completion.WORLDS)
@opt.flag(
    "--default",
    "to_default",
    help="Return to the default content, even if a scenario was loaded.",
)
@prints(words=_reset_text)
@opt.with_world
def reset(world: HostingEmulator, name: str | None, to_default: bool) -> WorldSummary:
    """Reset a world to the start of its scenario or, without one, to the default content.

    NAME is the world to reset. Default: --world.
    """
    if name is not None:
        world = world.control.world(name)
    return world.reset(default=to_default)


@world.command(epilog=examples("hosting-emulator world delete checkout"))
@click.argument("name", shell_complete=completion.WORLDS)
@opt.with_client
def delete(client: ControlClient, name: str) -> None:
    """Delete a world and its state.

    NAME is the world to delete. The `default` world cannot be deleted, only reset.
    """
    client.world(name).delete()
    say(f"World {name} was deleted.")


@world.command(
    epilog=examples("hosting-emulator world export --world checkout --output before.json")
)
@opt.output_option
@opt.flag(
    "--with-seed",
    help=(
        "Include the seed. Anyone who has the seed can compute the world's tokens, keys and "
        "tickets."
    ),
)
@opt.with_world
def export(world: HostingEmulator, output: Path | None, with_seed: bool) -> None:
    """Export a world's current state as one JSON document.

    The document contains neither the request log nor the history of commits. By default, it does
    not contain the seed either, so a world that is imported from it gets a new seed. Such a world
    accepts the same API keys, but not the access tokens that were issued earlier. Its later ids and
    secrets differ from those of the original world.
    """
    state = world.export(with_seed=with_seed)
    put_document(state, output, f"World {world.name} was written to")


@world.command(
    "import",
    epilog=examples("hosting-emulator world import before.json --world copy"),
)
@click.argument("file")
@opt.replace_option("import")
@prints(words="World {value.name} now has the content of {file}.")
@opt.with_world
def import_world(world: HostingEmulator, file: str, replace: bool) -> WorldSummary:
    """Create a world from an exported document, or replace the state of an existing world.

    FILE is a file that `world export` has written, or - for stdin. --world is the name of the world
    to create or replace.
    """
    state, name = read_json(file)
    if not isinstance(state, dict):
        raise Failure(f"{name} is not an exported world: it must be a JSON object")
    return world.import_state(state, replace=replace)
