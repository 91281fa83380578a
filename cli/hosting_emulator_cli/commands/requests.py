"""Implements `requests`, which shows the request log and resends logged requests."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli import output as out
from hosting_emulator_cli.exchange_text import (
    exchange_line,
    exchange_table,
    project_aliases,
    put_exchanges,
    put_whole,
)
from hosting_emulator_cli.files import put_document, read_json
from hosting_emulator_cli.main import CommandGroup, Failure, examples, failing
from hosting_emulator_cli.parameter_sources import is_typed
from hosting_emulator_cli.value_types import WholeNumber

if TYPE_CHECKING:
    from hosting_emulator.sdk import ExchangeSummary, HostingEmulator
    from hosting_emulator_lab.replay import Recording

#: The request filters. The command's parameters have the same names as in the SDK.
_filters = opt.options(
    opt.option(
        "--call",
        metavar="CALL",
        help="Select only requests to this call. `none` selects requests that match no call.",
    ),
    opt.option(
        "--status",
        metavar="STATUS",
        help=(
            "Select only requests whose response has this status (404) or a status of this class "
            "(4xx)."
        ),
    ),
    opt.option(
        "--user",
        metavar="USER",
        help=(
            "Select only requests from this user, by alias or id. `nobody` selects requests that "
            "were refused because they had no valid token or key."
        ),
    ),
    opt.option(
        "--project",
        metavar="PROJECT",
        help="Select only requests that concern this project, by alias or id.",
    ),
    opt.option(
        "--since",
        metavar="TIME",
        help=(
            "Select only requests since this world time: a timestamp, or a duration before now, "
            "such as 5m."
        ),
    ),
    opt.option(
        "--before",
        metavar="TIME",
        help=(
            "Select only requests before this world time: a timestamp, or a duration before now, "
            "such as 5m."
        ),
    ),
    opt.option(
        "--text",
        metavar="TEXT",
        help=(
            "Select only requests that contain this text in the request line, the call, the code, the "
            "reasons or a body."
        ),
    ),
)

#: Without this option, `replay` uses a temporary world, even if HOSTING_EMULATOR_WORLD is set.
_replay_world_option = opt.option(
    "--world",
    metavar="NAME",
    help="Send the requests to this world instead of a temporary world.",
    default="default",
    show_default=False,
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        """
        hosting-emulator requests tail --status 4xx
        hosting-emulator requests list --user reader --project shop
        hosting-emulator requests show 12
        """
    ),
)
def requests() -> None:
    """Show the request log: requests, their responses, and the reasons for these responses.

    The log contains up to 1,000 of a world's latest requests, without the service's tokens, API keys
    and tickets, and at most the first 16 KiB of each body. Resetting the world, replacing its
    content or stopping the emulator clears the log. Timestamps are in world time.
    """


@requests.command(
    "list",
    epilog=examples("hosting-emulator requests list --status 4xx --json"),
)
@opt.limit_option(default=50)
@_filters
@opt.flag(
    "--whole",
    help="With --json, also print headers and bodies.",
)
@opt.json_option
@opt.with_world
def list_requests(
    world: HostingEmulator, limit: int, whole: bool, as_json: bool, **filters: Any
) -> None:
    """List the latest requests, newest last."""
    if whole and not as_json:
        raise click.UsageError("--whole needs --json; `requests show N` shows one request in full")
    exchanges = world.requests.page(limit=limit, **filters).items[::-1]
    if whole:
        out.put_json([world.requests.whole(exchange.n) for exchange in exchanges])
    elif as_json:
        out.put_json(exchanges)
    else:
        has_filters = any(value is not None for value in filters.values())
        _put_list(world, exchanges, has_filters=has_filters)


def _put_list(
    world: HostingEmulator, exchanges: Sequence[ExchangeSummary], *, has_filters: bool
) -> None:
    """Print exchanges as a table, or print a message if there are no exchanges."""
    aliases = project_aliases(world)
    if out.is_terminal():
        put_exchanges(exchanges, aliases)
    else:
        out.put(exchange_table(exchanges, aliases))
    if exchanges:
        return
    if has_filters:
        out.say("No request matches.")
    else:
        out.say("No requests yet.")


@requests.command(epilog=examples("hosting-emulator requests show 12"))
@click.argument("n", type=WholeNumber(min=1))
@opt.json_option
@opt.with_world
def show(world: HostingEmulator, n: int, as_json: bool) -> None:
    """Show a single request with its trail, headers and bodies.

    N is the number of the request in the list. The trail explains the response. If a resource was
    not found because the client is not allowed to see it, the trail says that the resource exists,
    and who can see it.
    """
    put_whole(world, world.requests.whole(n), as_json)


@requests.command(
    epilog=examples(
        """
        hosting-emulator requests tail
        hosting-emulator requests tail --call list_deployments --json | jq .code
        """
    )
)
@opt.option(
    "--lines",
    metavar="N",
    help="Show the latest N requests in the log first.",
    type=WholeNumber(0, 1000),
    default=10,
)
@_filters
@opt.flag(
    "--json",
    "as_json",
    help="Print JSON, one object per line.",
)
@opt.with_world
def tail(world: HostingEmulator, lines: int, as_json: bool, **filters: Any) -> None:
    """Show requests as they arrive, until Ctrl-C."""
    from hosting_emulator.sdk import Exchange

    aliases = project_aliases(world)

    def put(exchange: ExchangeSummary) -> None:
        if as_json:
            out.put(json.dumps(out.plain_message(exchange), ensure_ascii=True))
        elif out.is_terminal():
            put_exchanges([exchange], aliases)
        else:
            out.put(exchange_line(exchange, aliases))

    # Start listening before reading the page, so that no request in between is missed.
    with world.requests.listen(kinds=("request", "world"), **filters) as events:
        latest_number = 0
        exchanges: Sequence[ExchangeSummary] = ()
        if lines:
            exchanges = world.requests.page(limit=lines, **filters).items[::-1]
        for exchange in exchanges:
            put(exchange)
            latest_number = exchange.n
        for event in events:
            if event.kind == "gap":
                out.say("Too many requests arrived at once, so some are not shown.")
            elif event.kind == "world":
                out.say(f"The world was {event.data['title']}.")
                latest_number = 0
                aliases = project_aliases(world)
            elif event.data["n"] > latest_number:
                put(world.control.read(Exchange, event.data))


@requests.command(epilog=examples("hosting-emulator requests har --output requests.har"))
@opt.limit_option(default=1000, help="Write at most N requests, the latest ones.")
@_filters
@opt.option(
    "--state/--no-state",
    help=(
        "Include the world's state before the first request, so that `requests replay` can start in "
        "this state."
    ),
    default=True,
)
@opt.output_option
@opt.with_world
def har(world: HostingEmulator, output: Path | None, **filters: Any) -> None:
    """Write requests as an HTTP Archive (HAR 1.2), oldest first.

    You can open the file in a browser's network panel, or send its requests again with `requests
    replay`.
    """
    document = world.requests.har(**filters)
    put_document(document, output, "The requests were written to")


@requests.command(
    epilog=examples(
        """
        hosting-emulator requests resend 12
        hosting-emulator requests resend 12 --same-key
        """
    )
)
@click.argument("n", type=WholeNumber(min=1))
@opt.flag(
    "--same-key",
    help="Keep the Idempotency-Key of a request that has one.",
)
@opt.json_option
@opt.with_world
def resend(world: HostingEmulator, n: int, same_key: bool, as_json: bool) -> None:
    """Resend a request from the log as the same user, and show the response.

    N is the number of the request in the list. If the request has an Idempotency-Key, a new key
    replaces it, unless --same-key is set.
    """
    put_whole(world, world.requests.resend(n, same_key=same_key), as_json)


@requests.command(
    epilog=examples(
        """
        hosting-emulator requests har --output before.har
        hosting-emulator requests replay before.har --assume accepted_status=200
        hosting-emulator requests replay browser.har --world checkout --user member
        """
    )
)
@click.argument("file", metavar="FILE")
@opt.flag(
    "--fresh",
    help="Use a temporary world (default).",
)
@opt.option(
    "--scenario",
    metavar="NAME|FILE",
    help=(
        "Create the temporary world from this scenario. Default: from the recorded state, if the "
        "recording contains it."
    ),
)
@opt.option(
    "--seed",
    metavar="TEXT",
    help="Create the temporary world from this seed instead of the recorded state.",
)
@opt.assume_option
@opt.option(
    "--user",
    metavar="USER",
    help=(
        "Send the requests as this user, by alias or id. Default: the user of each recorded "
        "request, or `owner` if the recording does not name the users."
    ),
)
@opt.flag(
    "--no-time",
    help=(
        "Do not advance the clock between requests by the time that passed in the recording. A clock "
        "that runs by itself is never advanced."
    ),
)
@opt.json_option
@partial(opt.with_world, option=_replay_world_option)
def replay(
    world: HostingEmulator,
    file: str,
    fresh: bool,
    scenario: str | None,
    seed: str | None,
    assume: Sequence[tuple[str, str]],
    user: str | None,
    no_time: bool,
    as_json: bool,
) -> int:
    """Resend recorded requests, and compare the responses with the recorded ones.

    FILE is an HTTP Archive from `requests har`, from a browser or from a proxy, or the output of
    `requests list --json --whole`. The requests are sent to a temporary world or, with --world,
    to an existing one. --world cannot be used with --fresh, --scenario, --seed or --assume. If the
    recording contains the state of the recorded world, as a file from `requests har` does by
    default, the temporary world starts in this state.

    The statuses, the bodies and the headers Content-Type, Location, Retry-After, Allow,
    WWW-Authenticate and X-Request-Id are compared. Ids, cursors and secrets that a server generates
    are allowed to differ. A time is allowed to differ if it is as far from the time of its response
    as in the recording. Any other difference between these parts, or a response that is missing on
    one side only, makes the exit code 1. A request that cannot be repeated is skipped, for example
    because a secret in it was redacted, and does not affect the exit code. If no request can be
    sent, the exit code is 2.
    """
    if file.isdigit():
        raise click.UsageError(
            f"{file} is not a recording; `requests resend {file}` resends one request from the log"
        )
    is_world_chosen = is_typed("world")
    if is_world_chosen and (fresh or scenario or seed or assume):
        raise click.UsageError(
            "--world names an existing world: leave out --fresh, --scenario, --seed and --assume"
        )
    from hosting_emulator.sdk import ControlRefused
    from hosting_emulator_cli.replay_text import replay_text
    from hosting_emulator_lab import replay as replaying

    record = _read_recording(file)
    _warn_of_assumptions(assume)
    with ExitStack() as stack:
        target_world = world
        if not is_world_chosen:
            # Otherwise, a refusal would name the world of `--world`, which has no part in it.
            stack.enter_context(failing(ControlRefused))
            beginning = replaying.Beginning(scenario=scenario, seed=seed, assumptions=dict(assume))
            target_world = stack.enter_context(
                replaying.temporary_world(world.control, record, beginning)
            )
        report = replaying.replay(
            world.control, record, target_world, user=user, move_time=not no_time
        )
    if as_json:
        out.put_json(replaying.report_document(report, record))
    else:
        out.put(replay_text(report, record))
    if len(report.skipped) == len(report.requests):
        raise Failure("no request of the recording could be sent, so nothing was compared")
    return int(bool(report.differing))


def _read_recording(file: str) -> Recording:
    """Read a recording from a file. Raises Failure if the file does not contain a recording."""
    from hosting_emulator_lab.replay import RecordRefused, read_record

    document, name = read_json(file)
    with failing(RecordRefused, prefix=f"{name}: "):
        return read_record(document)


def _warn_of_assumptions(assume: Sequence[tuple[str, str]]) -> None:
    """Print warnings about the assumptions in `assume`.

    Unknown assumptions are ignored here, because the emulator refuses them later.
    """
    from hosting_emulator.contract.assumption_table import warnings_of
    from hosting_emulator.contract.assumptions import DEFAULTS, AssumptionRefused

    with suppress(AssumptionRefused):
        out.say_warnings(warnings_of(DEFAULTS.changed(dict(assume))))
