"""Implements `intervene`, which changes a world in ways that the public API does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.missing_values import missing_value_named
from hosting_emulator_cli.output import intervention_sentence, prints
from hosting_emulator_cli.tables import columns
from hosting_emulator_cli.value_types import TYPED_VALUE

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient


def _kind(name: str) -> Any:
    """Return the type that declares an intervention's fields, or None for an unknown name."""
    from hosting_emulator.faults.interventions import INTERVENTIONS

    return INTERVENTIONS.get(name)


def _field_names(kind: Mapping[str, Any]) -> str:
    names = []
    for field in kind["fields"]:
        name = field["name"]
        if not field["required"]:
            name = f"[{name}]"
        names.append(name)
    return " ".join(names)


_kind_columns = columns("name", ("FIELDS ([] is optional)", _field_names), "about")


def _kinds_text(result: Any) -> str | None:
    """Return the interventions as a table, or None if the command is not `intervene kinds`."""
    if isinstance(result, list):
        return _kind_columns(result)
    return None


def _intervention_text(result: Any) -> str | None:
    """Return the effect of an intervention as a sentence, or None for `intervene kinds`."""
    if isinstance(result, list):
        return None
    return intervention_sentence(result)


@click.command(
    cls=HelpCommand,
    epilog=examples(
        r"""
        hosting-emulator intervene stick_operation project=shop
        hosting-emulator intervene stick_operation --all project=shop
        hosting-emulator intervene fail_operation project=shop \
            message='No space left.'
        hosting-emulator intervene move_dns project=blog to=authorized \
            expires_in=10m
        hosting-emulator intervene set_permissions organization=acme \
            permissions='["projects.read"]'
        hosting-emulator intervene kinds
        """
    ),
)
@click.argument("name", shell_complete=completion.INTERVENTIONS)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=TYPED_VALUE)
@opt.flag(
    "--all",
    "everything",
    help=(
        "Apply the intervention to all unfinished operations, unused tickets or active keys that "
        "match the fields, except those to which it cannot apply."
    ),
)
@prints(_kinds_text, words=_intervention_text)
@opt.world_option
@opt.url_options
def intervene(
    world: str,
    name: str,
    fields: tuple[tuple[str, Any], ...],
    everything: bool,
    **_: Any,
) -> Any:
    """Change a world from outside: hold up an operation, expire a ticket, change a plan.

    NAME is the name of the intervention, and FIELD=VALUE sets one of its fields. VALUE is parsed as
    JSON if possible. An intervention that is refused changes nothing. `intervene kinds` lists the
    interventions and their fields. It needs no running emulator. With --url, it lists what the
    emulator at this address offers.
    """
    if name == "kinds":
        if fields or everything:
            raise click.UsageError("`intervene kinds` takes no fields")
        return opt.ask(
            lambda client: client.contract("interventions"),
            "hosting_emulator.faults.interventions:describe_interventions",
        )
    if name in ("list", "ls", "help"):
        raise click.UsageError(f"there is no intervention {name!r}; `intervene kinds` lists them")
    parameters = dict(fields)
    if everything:
        parameters["all"] = True

    def apply(client: ControlClient) -> str:
        with missing_value_named("intervene", name, parameters, lambda: _kind(name)):
            return client.world(world).intervene(name, **parameters)

    return {"intervention": name, "message": opt.ask(apply)}
