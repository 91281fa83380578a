"""`contract`: what the emulator says of the contract it serves, with or without one running."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli.commands.contract_check import check
from hosting_emulator_cli.groups import OrderedGroup
from hosting_emulator_cli.options import (
    asked_if_named,
    examples,
    json_option,
    maybe_client,
    output_option,
    world_option,
)
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import cell_text, put, put_json, table


@click.group(
    cls=OrderedGroup,
    epilog=examples(
        "hosting-emulator contract openapi --output openapi.json",
        "hosting-emulator contract problems",
        "hosting-emulator contract check --base-url https://staging.example",
    ),
)
def contract() -> None:
    """Show the contract as the emulator understands it.

    Works without a running emulator, and then shows the defaults; with --url (or --world) on the
    command line the running one is asked. `check` holds any server against it.
    """


@contract.command(epilog=examples("hosting-emulator contract openapi --output openapi.json"))
@output_option
@world_option
@maybe_client
@click.pass_context
def openapi(
    ctx: click.Context, output: Path | None, world: str, url: str, control_token: str | None
) -> None:
    """Print the OpenAPI 3.1 document (JSON) of the public API."""
    from hosting_emulator_cli.files import put_document

    document = asked_if_named(ctx, url, control_token, lambda client: client.openapi(world))
    text = to_json(_default_openapi() if document is None else document)
    put_document(text, output, "The document is written to")


@contract.command()
@json_option
@maybe_client
@click.pass_context
def problems(ctx: click.Context, url: str, control_token: str | None, as_json: bool) -> None:
    """List every problem code.

    FROM CONTRACT names what the contract itself fixes; the rest is an assumption. --json adds what
    each means, when it comes, and what a client should do.
    """
    rows = asked_if_named(ctx, url, control_token, lambda client: client.problems())
    rows = _default_problems() if rows is None else rows
    if as_json:
        put_json(rows)
        return
    headers = ("CODE", "STATUS", "RETRYABLE", "FROM CONTRACT", "TITLE")
    names = ("code", "status", "retryable", "specified", "title")
    put(table(headers, ([row[name] for name in names] for row in rows)))


@contract.command(
    epilog=examples(
        "hosting-emulator contract assumptions",
        "hosting-emulator contract assumptions --world checkout --json",
    )
)
@json_option
@world_option
@maybe_client
@click.pass_context
def assumptions(
    ctx: click.Context, url: str, control_token: str | None, world: str, as_json: bool
) -> None:
    """List what is assumed where the contract is silent, and what may be assumed instead.

    --json adds the sentence of the contract that leaves each open.
    """
    rows = asked_if_named(ctx, url, control_token, lambda client: client.assumptions(world))
    rows = _default_assumptions() if rows is None else rows
    if as_json:
        put_json(rows)
        return
    put(table(("NAME", "VALUE", "ALTERNATIVES", "ABOUT"), map(_assumption_row, rows)))


contract.add_command(check)


@contract.command(
    "variation-points",
    epilog=examples("hosting-emulator exec --vary 7 --only page-size -- npm test"),
)
@json_option
def variation_points(as_json: bool) -> None:
    """List where answers can vary with --vary.

    Each point is one freedom that the contract leaves. --json adds the sentence that leaves it, the
    calls whose answers it varies and the assumptions that decide it.
    """
    from hosting_emulator.variation.points import POINTS

    if as_json:
        put_json([point._asdict() for point in POINTS.values()])
        return
    put(table(("POINT", "WHAT VARIES"), ((point.id, point.about) for point in POINTS.values())))


def _default_openapi() -> Any:
    from hosting_emulator.contract.assumptions import Assumptions
    from hosting_emulator.contract.openapi import openapi_document

    return openapi_document(Assumptions())


def _default_problems() -> list[dict[str, Any]]:
    from hosting_emulator.contract.problems import PROBLEMS

    return [
        {**asdict(problem), "specified": sorted(problem.specified)} for problem in PROBLEMS.values()
    ]


def _default_assumptions() -> list[dict[str, Any]]:
    from hosting_emulator.contract.assumptions import Assumptions, describe

    return describe(Assumptions())


def _assumption_row(row: dict[str, Any]) -> list[object]:
    value = cell_text(row["value"])
    if row["value"] != row["default"]:
        value += f" (default: {cell_text(row['default'])})"
    return [row["name"], value, row["alternatives"], row["about"]]
