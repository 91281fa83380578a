"""`requests replay` and `requests shrink`: requests of a log or a recording are sent again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hosting_emulator_cli.exchanges import project_aliases
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import assume_option, examples, json_option, with_world
from hosting_emulator_cli.output import put, put_json, say
from hosting_emulator_cli.showing import show_whole

if TYPE_CHECKING:
    from hosting_emulator.replay import Beginning, Recording
    from hosting_emulator.sdk import ControlClient

_as_option = click.option(
    "--as",
    "principal",
    metavar="WHO",
    help="Send all as this person, an alias or id; else as who sent it.",
)
_scenario_option = click.option(
    "--scenario",
    metavar="NAME|FILE",
    help="The throw-away world begins as this scenario; else as the recorded world was.",
)
_seed_option = click.option(
    "--seed", metavar="TEXT", help="The throw-away world begins anew, of this seed."
)
_no_time_option = click.option(
    "--no-time", is_flag=True, help="Do not move the clock by the time between the requests."
)


@click.command(
    epilog=examples(
        "hosting-emulator requests replay 12 --same-key",
        "hosting-emulator requests har --output before.har",
        "hosting-emulator requests replay before.har --assume accepted_status=200",
        "hosting-emulator requests replay browser.har --world checkout --as member",
    )
)
@click.argument("what", metavar="N|FILE")
@click.option("--same-key", is_flag=True, help="With N: keep its Idempotency-Key.")
@click.option(
    "--fresh", is_flag=True, help="With FILE: into a throw-away world, also without saying so."
)
@_scenario_option
@_seed_option
@assume_option
@_as_option
@_no_time_option
@json_option
@with_world
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    client: ControlClient,
    world: str,
    what: str,
    same_key: bool,
    fresh: bool,
    as_json: bool,
    principal: str | None,
    no_time: bool,
    **beginning: Any,
) -> None:
    """Send one request again, or a whole recording, and compare the answers.

    N|FILE is a number in the list, or a recording. The request N is sent as the same person, with a
    new Idempotency-Key, and what it comes to is shown.

    FILE is an HTTP Archive: of `requests har`, a browser or a proxy (or `requests list --json
    --whole`). It goes to a throw-away world that begins as the recorded one did; --world names
    another. Ids, cursors, secrets and times may differ where a server makes them anew. Exit code 1:
    an answer differs.
    """
    named = ctx.get_parameter_source("world") is ParameterSource.COMMANDLINE
    if what.isdigit():
        if fresh or principal or no_time or any(beginning.values()):
            raise click.UsageError(
                "a single request goes to its own world: only --same-key is for N"
            )
        _replay_one(client, world, int(what), same_key, as_json)
        return
    if same_key:
        raise click.UsageError("--same-key is for N: a recording keeps its keys anyway")
    if named and (fresh or any(beginning.values())):
        raise click.UsageError("--world is there already: leave out --fresh and how it begins")
    from hosting_emulator.replay import (
        ReplayOptions,
        like_recorded,
        report_document,
    )
    from hosting_emulator.replay import replay as send
    from hosting_emulator_cli.replays import report_text

    record = _read(what)
    options = ReplayOptions(as_=principal, move_time=not no_time)
    if named:
        report = send(client, record, client.world(world), options)
    else:
        with like_recorded(client, record, _beginning(**beginning)) as made:
            report = send(client, record, client.world(made.name), options)
    if as_json:
        put_json(report_document(report, record))
    else:
        put(report_text(report, record))
    ctx.exit(1 if report.differing else 0)


@click.command(
    epilog=examples(
        "hosting-emulator requests shrink --shows 'status=409 code=idempotency_key_reused'",
        "hosting-emulator requests shrink failed.har --shows 'code=etag_mismatch n=31' "
        "--output short.har",
    )
)
@click.argument("file", required=False)
@click.option(
    "--shows",
    required=True,
    metavar="WORDS",
    help="The answer to keep: status=, code=, call=, method=, path= and n=, as many as you like.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write what is left as an HTTP Archive, which `requests replay` takes.",
)
@click.option(
    "--max-runs",
    type=click.IntRange(1, 100_000),
    default=500,
    show_default=True,
    metavar="N",
    help="Stop after so many tries.",
)
@_scenario_option
@_seed_option
@assume_option
@_as_option
@_no_time_option
@json_option
@with_world
def shrink(
    client: ControlClient,
    world: str,
    file: str | None,
    shows: str,
    output: Path | None,
    max_runs: int,
    principal: str | None,
    no_time: bool,
    as_json: bool,
    **beginning: Any,
) -> None:
    """Find the fewest requests that still show an answer, and print them as curl lines.

    FILE is a recording, as for `requests replay`; without it the log of --world is taken. Each try
    is in a throw-away world of its own, which begins as the recorded one did.
    """
    from hosting_emulator.replay import NotShown, ReplayOptions, Shows, curl_lines, read_record
    from hosting_emulator.replay import shrink as reduce
    from hosting_emulator_cli.files import put_document
    from hosting_emulator_cli.looks.progress import working
    from hosting_emulator_cli.output import as_json as to_json

    try:
        wanted = Shows.read(shows)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--shows") from error
    record = _read(file) if file is not None else _record_of(client, world)
    try:
        with working("Leaving out what is not needed"):
            found = reduce(
                client,
                record,
                wanted,
                beginning=_beginning(**beginning),
                options=ReplayOptions(as_=principal, move_time=not no_time),
                max_runs=max_runs,
            )
    except NotShown as error:
        raise Failure(str(error)) from error
    left = read_record(found.har)
    numbers = [one.n for one in found.requests]
    if output is not None:
        put_document(to_json(found.har), output, "What is left is written to")
    if as_json:
        put_json(
            {
                "requests": numbers,
                "of": found.of,
                "runs": found.runs,
                "shortest": found.shortest,
                "curl": list(curl_lines(left)),
            }
        )
        return
    put("\n".join(curl_lines(left)))
    say(
        f"{len(numbers)} of {found.of} requests show it (#{', #'.join(map(str, numbers))}), "
        f"found in {found.runs} runs"
        + ("." if found.shortest else "; not tried to the end: give more --max-runs.")
    )


def _replay_one(client: ControlClient, world: str, n: int, same_key: bool, as_json: bool) -> None:
    found = client.replay(n, world, same_key=same_key)
    if as_json:
        put_json(found)
    else:
        show_whole(found, project_aliases(client, world))


def _read(file: str) -> Recording:
    """Read a recording. Raises Failure."""
    from hosting_emulator.replay import RecordRefused, read_record
    from hosting_emulator_cli.files import read_json

    try:
        return read_record(read_json(file))
    except RecordRefused as error:
        raise Failure(f"{'stdin' if file == '-' else file}: {error}") from error


def _record_of(client: ControlClient, world: str) -> Recording:
    from hosting_emulator.replay import RecordRefused, read_record

    try:
        return read_record(client.har(world, state=True))
    except RecordRefused as error:
        raise Failure(f"world {world}: {error}") from error


def _beginning(scenario: str | None, seed: str | None, assume: Mapping[str, Any]) -> Beginning:
    from hosting_emulator.replay import Beginning

    return Beginning(scenario, seed, assume)
