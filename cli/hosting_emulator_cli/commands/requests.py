"""`requests`: what was asked, what was answered, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from hosting_emulator_cli.commands.replaying import replay, shrink
from hosting_emulator_cli.exchanges import exchange_line, exchange_table, project_aliases
from hosting_emulator_cli.filters import with_filters
from hosting_emulator_cli.groups import OrderedGroup
from hosting_emulator_cli.looks.terminal import console, is_terminal
from hosting_emulator_cli.options import examples, json_option, output_option, with_world
from hosting_emulator_cli.output import as_json as to_json
from hosting_emulator_cli.output import put, put_json, say
from hosting_emulator_cli.showing import show_whole
from hosting_emulator_cli.values import WholeNumber

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, Exchange, RequestFilters

_number = click.argument("n", type=WholeNumber(min=1))


def _limit(default: int, words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    limits = WholeNumber(1, 1000)
    return click.option(
        "--limit", type=limits, default=default, show_default=True, metavar="N", help=words
    )


@click.group(
    cls=OrderedGroup,
    epilog=examples(
        "hosting-emulator requests tail --status 4xx",
        "hosting-emulator requests list --who reader --project shop",
        "hosting-emulator requests show 12",
    ),
)
def requests() -> None:
    """Show the request log: what was asked, what was answered and why.

    A world keeps its last 1,000 requests, without the secrets in them. Times are the world's.
    """


@requests.command("list", epilog=examples("hosting-emulator requests list --status 4xx --json"))
@_limit(50, "So many at most.")
@with_filters
@click.option("--whole", is_flag=True, help="With --json: also headers and bodies of each.")
@json_option
@with_world
def list_(
    client: ControlClient,
    world: str,
    limit: int,
    filters: RequestFilters,
    whole: bool,
    as_json: bool,
) -> None:
    """List the last requests, the newest last."""
    if whole and not as_json:
        raise click.UsageError("--whole belongs to --json; `requests show N` shows one whole")
    items = client.request_page(world, limit=limit, **filters)["items"][::-1]
    if as_json:
        put_json([client.request(item["n"], world) for item in items] if whole else items)
        return
    aliases = project_aliases(client, world)
    if is_terminal():
        _show(items, aliases)
    else:
        put(exchange_table(items, aliases))
    if not items:
        given = any(value is not None for value in filters.values())
        say("No request fits." if given else "No requests yet.")


@requests.command(epilog=examples("hosting-emulator requests show 12"))
@_number
@json_option
@with_world
def show(client: ControlClient, world: str, n: int, as_json: bool) -> None:
    """Show one request whole: its trail, headers and bodies.

    N is its number in the list. Of what a client may not see, the trail says that it exists and who
    could see it.
    """
    found = client.request(n, world)
    if as_json:
        put_json(found)
    else:
        show_whole(found, project_aliases(client, world))


@requests.command(
    epilog=examples(
        "hosting-emulator requests tail",
        "hosting-emulator requests tail --call list_deployments --json | jq .code",
    )
)
@click.option(
    "--last",
    type=WholeNumber(0, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="Begin with the last N.",
)
@with_filters
@click.option("--json", "as_json", is_flag=True, help="Print JSON, one object a line.")
@with_world
def tail(
    client: ControlClient, world: str, last: int, filters: RequestFilters, as_json: bool
) -> None:
    """Show requests as they happen, until Ctrl-C."""
    aliases = project_aliases(client, world)
    with client.listen(world, only=("request", "world"), **filters) as events:
        shown = 0
        if last:
            page = client.request_page(world, limit=last, **filters)
            for exchange in reversed(page["items"]):
                _put_line(exchange, aliases, as_json)
                shown = exchange["n"]
        for _, kind, data in events:
            if kind == "gap":
                say("Too many came at once: some are not shown.")
            elif kind == "world":
                say(f"The world was {data['title']}.")
                shown, aliases = 0, project_aliases(client, world)
            elif data["n"] > shown:
                _put_line(cast("Exchange", data), aliases, as_json)


@requests.command(epilog=examples("hosting-emulator requests har --output requests.har"))
@_limit(1000, "So many at most.")
@with_filters
@click.option(
    "--state/--no-state",
    default=True,
    show_default=True,
    help="Keep in it the world as the first of them found it, for `requests replay`.",
)
@output_option
@with_world
def har(
    client: ControlClient,
    world: str,
    limit: int,
    filters: RequestFilters,
    state: bool,
    output: Path | None,
) -> None:
    """Write requests as an HTTP Archive (HAR 1.2), oldest first.

    A browser opens it in its network panel; `requests replay` sends it again.
    """
    from hosting_emulator_cli.files import put_document

    document = client.har(world, limit=limit, state=state, **filters)
    put_document(to_json(document), output, "The requests are written to")


requests.add_command(replay)
requests.add_command(shrink)


def _put_line(exchange: Exchange, aliases: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        put(json.dumps(exchange, ensure_ascii=True))
    elif is_terminal():
        _show([exchange], aliases)
    else:
        put(exchange_line(exchange, aliases))


def _show(exchanges: Iterable[Exchange], aliases: Mapping[str, str]) -> None:
    from hosting_emulator_cli.looks.exchanges import line

    out = console()
    for exchange in exchanges:
        out.print(line(exchange, aliases, out.width))
