"""`intervene`: change a world from outside the contract."""

from __future__ import annotations

from typing import Any

import click

from hosting_emulator_cli.options import (
    asked_if_named,
    connected,
    examples,
    json_option,
    maybe_client,
    world_option,
)
from hosting_emulator_cli.output import put, put_json, say, table
from hosting_emulator_cli.values import typed_values


@click.command(
    epilog=examples(
        "hosting-emulator intervene stick_operation project=shop",
        "hosting-emulator intervene fail_operation project=shop message='No space left.'",
        "hosting-emulator intervene move_dns project=blog to=authorized expires_in=10m",
        "hosting-emulator intervene set_permissions organization=acme"
        " permissions='[\"projects.read\"]'",
        "hosting-emulator intervene --list",
    )
)
@click.argument("word", required=False)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", callback=typed_values)
@click.option("--list", "listing", is_flag=True, help="List all interventions with their fields.")
@json_option
@world_option
@maybe_client
@click.pass_context
def intervene(
    ctx: click.Context,
    url: str,
    control_token: str | None,
    world: str,
    word: str | None,
    fields: dict[str, Any],
    listing: bool,
    as_json: bool,
) -> None:
    """Change a world: stick an operation, expire a ticket, move DNS, set a plan.

    WORD is what happens, FIELD=VALUE to whom and how; a value is JSON where it reads as JSON, else
    text. What makes no sense is refused, and then nothing is changed. --list works without a
    running emulator; with --url the running one is asked.
    """
    if listing == (word is not None):
        raise click.UsageError("give either WORD or --list")
    if word is None:
        found = asked_if_named(ctx, url, control_token, lambda client: client.interventions())
        _put_list(_known() if found is None else found, as_json)
        return
    with connected(url, control_token) as client:
        done = client.intervene(word, fields, world)
    if as_json:
        put_json(done)
    else:
        say(f"{done['said'][:1].upper()}{done['said'][1:]}.")


def _known() -> list[dict[str, Any]]:
    from hosting_emulator.interventions import describe_interventions

    return describe_interventions()


def _put_list(found: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        put_json(found)
        return
    rows = ([kind["word"], _field_names(kind["fields"]), kind["about"]] for kind in found)
    put(table(("WORD", "FIELDS ([] may be left out)", "ABOUT"), rows, widest=100))


def _field_names(fields: list[dict[str, Any]]) -> str:
    return " ".join(
        field["name"] if field["required"] else f"[{field['name']}]" for field in fields
    )
