"""`requests`: what was asked, what was answered, and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.commands.replay import replay, shrink
from hosting_emulator_cli.exchanges import (
    exchange_line,
    exchange_table,
    project_aliases,
    show_whole,
)
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.output import console, is_terminal, put, put_json, say
from hosting_emulator_cli.parameters import WholeNumber

if TYPE_CHECKING:
    from hosting_emulator.sdk import Exchange

#: Which requests a command is about; they arrive as the client takes them.
_filters = opt.options(
    opt.option("--call NAME", "Only this call; `none`: paths that no call has."),
    opt.option("--status STATUS", "Only this status (404), or this class (4xx)."),
    opt.option("--who WHO", "Only this person, by alias or id; `nobody`: without a known token."),
    opt.option("--project PROJECT", "Only this project, by alias or id."),
    opt.option("--since TIME", "Only from then on: a moment of world time, or so long ago (5m)."),
    opt.option("--until TIME", "Only before then: a moment of world time, or so long ago."),
    opt.option("--text TEXT", "Only what has this text in its path, bodies or reasons."),
)


def _limit(default: int) -> Callable[..., Any]:
    return opt.option("--limit N", "So many at most.", type=WholeNumber(1, 1000), default=default)


@click.group(cls=CommandGroup)
def requests() -> None:
    """Show the request log: what was asked, what was answered and why.

    A world keeps its last 1,000 requests, without the secrets in them. Times are the world's.

    Examples:
      hosting-emulator requests tail --status 4xx
      hosting-emulator requests list --who reader --project shop
      hosting-emulator requests show 12
    """


@requests.command("list")
@_limit(50)
@_filters
@opt.flag("--whole", "With --json: also headers and bodies of each.")
@opt.json_option
@opt.with_world
def list_(
    world: opt.HostingEmulator, limit: int, whole: bool, as_json: bool, **filters: Any
) -> None:
    """List the last requests, the newest last.

    Examples:
      hosting-emulator requests list --status 4xx --json
    """
    if whole and not as_json:
        raise click.UsageError("--whole belongs to --json; `requests show N` shows one whole")
    items = world.requests.page(limit=limit, **filters)["items"][::-1]
    if as_json:
        put_json([world.requests.whole(item["n"]) for item in items] if whole else items)
        return
    aliases = project_aliases(world)
    if is_terminal():
        _show(items, aliases)
    else:
        put(exchange_table(items, aliases))
    if not items:
        given = any(value is not None for value in filters.values())
        say("No request fits." if given else "No requests yet.")


@requests.command()
@click.argument("n", type=WholeNumber(min=1))
@opt.json_option
@opt.with_world
def show(world: opt.HostingEmulator, n: int, as_json: bool) -> None:
    """Show one request whole: its trail, headers and bodies.

    N is its number in the list. Of what a client may not see, the trail says that it exists and who
    could see it.

    Examples:
      hosting-emulator requests show 12
    """
    found = world.requests.whole(n)
    if as_json:
        put_json(found)
    else:
        show_whole(found, project_aliases(world))


@requests.command()
@opt.option("--last N", "Begin with the last N.", type=WholeNumber(0, 1000), default=10)
@_filters
@opt.flag("--json as_json", "Print JSON, one object a line.")
@opt.with_world
def tail(world: opt.HostingEmulator, last: int, as_json: bool, **filters: Any) -> None:
    """Show requests as they happen, until Ctrl-C.

    Examples:
      hosting-emulator requests tail
      hosting-emulator requests tail --call list_deployments --json | jq .code
    """
    aliases = project_aliases(world)
    with world.requests.listen(only=("request", "world"), **filters) as events:
        shown = 0
        if last:
            page = world.requests.page(limit=last, **filters)
            for exchange in reversed(page["items"]):
                _put_line(exchange, aliases, as_json)
                shown = exchange["n"]
        for _, kind, data in events:
            if kind == "gap":
                say("Too many came at once: some are not shown.")
            elif kind == "world":
                say(f"The world was {data['title']}.")
                shown, aliases = 0, project_aliases(world)
            elif data["n"] > shown:
                _put_line(cast("Exchange", data), aliases, as_json)


def _put_line(exchange: Exchange, aliases: Mapping[str, str], as_json: bool) -> None:
    if as_json:
        put(json.dumps(exchange, ensure_ascii=True))
    elif is_terminal():
        _show([exchange], aliases)
    else:
        put(exchange_line(exchange, aliases))


def _show(exchanges: Iterable[Exchange], aliases: Mapping[str, str]) -> None:
    from hosting_emulator_cli.rich_views import line_view

    out = console()
    for exchange in exchanges:
        out.print(line_view(exchange, aliases, out.width))


@requests.command()
@_limit(1000)
@_filters
@opt.option(
    "--state/--no-state",
    "Keep in it the world as the first of them found it, for `requests replay`.",
    default=True,
)
@opt.output_option
@opt.with_world
def har(
    world: opt.HostingEmulator,
    limit: int,
    state: bool,
    output: Path | None,
    **filters: Any,
) -> None:
    """Write requests as an HTTP Archive (HAR 1.2), oldest first.

    A browser opens it in its network panel; `requests replay` sends it again.

    Examples:
      hosting-emulator requests har --output requests.har
    """
    from hosting_emulator_cli.files import put_document

    document = world.requests.har(limit=limit, state=state, **filters)
    put_document(document, output, "The requests are written to")


requests.add_command(replay)
requests.add_command(shrink)
