"""`contract`: what the emulator says of the contract it serves, with or without one running."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli.commands.contract_check import check
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.options import Ask, output_option, with_or_without_client, world_option
from hosting_emulator_cli.output import cell_text, columns, prints


@click.group(cls=CommandGroup)
def contract() -> None:
    """Show the contract as the emulator understands it.

    Works without a running emulator, and then shows the defaults; with --url (or --world) on the
    command line the running one is asked. `check` holds any server against it.

    Examples:
      hosting-emulator contract openapi --output openapi.json
      hosting-emulator contract problems
      hosting-emulator contract check --base-url https://staging.example
    """


@contract.command()
@output_option
@world_option
@with_or_without_client
def openapi(ask: Ask, output: Path | None, world: str) -> None:
    """Print the OpenAPI 3.1 document (JSON) of the public API.

    Examples:
      hosting-emulator contract openapi --output openapi.json
    """
    from hosting_emulator_cli.files import put_document

    def default() -> Any:
        from hosting_emulator.contract.assumptions import Assumptions
        from hosting_emulator.contract.openapi import openapi_document

        return openapi_document(Assumptions())

    document = ask(lambda client: client.openapi(world), default)
    put_document(document, output, "The document is written to")


@contract.command()
@prints(
    columns(
        {
            "CODE": "code",
            "STATUS": "status",
            "RETRYABLE": "retryable",
            "FROM CONTRACT": "specified",
            "TITLE": "title",
        }
    )
)
@with_or_without_client
def problems(ask: Ask) -> Any:
    """List every problem code.

    FROM CONTRACT names what the contract itself fixes; the rest is an assumption. --json adds what
    each means, when it comes, and what a client should do.
    """

    def default() -> Any:
        from hosting_emulator.contract.problems import PROBLEMS

        known = PROBLEMS.values()
        return [asdict(problem) | {"specified": sorted(problem.specified)} for problem in known]

    return ask(lambda client: client.problems(), default)


def _value(row: dict[str, Any]) -> str:
    value = cell_text(row["value"])
    changed = row["value"] != row["default"]
    return value + (f" (default: {cell_text(row['default'])})" if changed else "")


@contract.command()
@prints(
    columns({"NAME": "name", "VALUE": _value, "ALTERNATIVES": "alternatives", "ABOUT": "about"})
)
@world_option
@with_or_without_client
def assumptions(ask: Ask, world: str) -> Any:
    """List what is assumed where the contract is silent, and what may be assumed instead.

    --json adds the sentence of the contract that leaves each open.

    Examples:
      hosting-emulator contract assumptions
      hosting-emulator contract assumptions --world checkout --json
    """

    def default() -> Any:
        from hosting_emulator.contract.assumptions import Assumptions, describe

        return describe(Assumptions())

    return ask(lambda client: client.assumptions(world), default)


contract.add_command(check)


@contract.command("variation-points")
@prints(columns({"POINT": "id", "WHAT VARIES": "about"}))
def variation_points() -> list[dict[str, Any]]:
    """List where answers can vary with --vary.

    Each point is one freedom that the contract leaves. --json adds the sentence that leaves it, the
    calls whose answers it varies and the assumptions that decide it.

    Examples:
      hosting-emulator exec --vary 7 --only page-size -- npm test
    """
    from hosting_emulator.variation.points import POINTS

    return [point._asdict() for point in POINTS.values()]
