"""`requests replay` and `requests shrink`: requests of a log or a recording are sent again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.exchanges import project_aliases, replay_text, show_whole
from hosting_emulator_cli.files import display_name, put_document, read_json
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.output import put, put_json, say
from hosting_emulator_cli.parameters import WholeNumber

if TYPE_CHECKING:
    from hosting_emulator.replay import Beginning, Recording, ReplayOptions

#: How the throw-away world begins, and how requests are sent.
_replay_options = opt.options(
    opt.option(
        "--scenario NAME|FILE",
        "The throw-away world begins as this scenario; else as the recorded world was.",
    ),
    opt.option("--seed TEXT", "The throw-away world begins anew, of this seed."),
    opt.assume_option,
    opt.option(
        "--as principal WHO", "Send all as this person, an alias or id; else as who sent it."
    ),
    opt.flag("--no-time", "Do not move the clock by the time between the requests."),
)


@click.command()
@click.argument("what", metavar="N|FILE")
@opt.flag("--same-key", "With N: keep its Idempotency-Key.")
@opt.flag("--fresh", "With FILE: into a throw-away world, also without saying so.")
@_replay_options
@opt.json_option
@opt.with_world
@click.pass_context
def replay(
    ctx: click.Context,
    /,
    world: opt.HostingEmulator,
    what: str,
    same_key: bool,
    fresh: bool,
    as_json: bool,
    **how: Any,
) -> None:
    """Send one request again, or a whole recording, and compare the answers.

    N|FILE is a number in the list, or a recording. The request N is sent as the same person, with a
    new Idempotency-Key, and what it comes to is shown.

    FILE is an HTTP Archive: of `requests har`, a browser or a proxy (or `requests list --json
    --whole`). It goes to a throw-away world that begins as the recorded one did; --world names
    another. Ids, cursors, secrets and times may differ where a server makes them anew. Exit code 1:
    an answer differs.

    Examples:
      hosting-emulator requests replay 12 --same-key
      hosting-emulator requests har --output before.har
      hosting-emulator requests replay before.har --assume accepted_status=200
      hosting-emulator requests replay browser.har --world checkout --as member
    """
    if what.isdigit():
        if fresh or any(how.values()):
            raise click.UsageError(
                "a single request goes to its own world: only --same-key is for N"
            )
        found = world.requests.replay(int(what), same_key=same_key)
        if as_json:
            put_json(found)
        else:
            show_whole(found, project_aliases(world))
        return
    if same_key:
        raise click.UsageError("--same-key is for N: a recording keeps its keys anyway")
    named = ctx.get_parameter_source("world") is ParameterSource.COMMANDLINE
    if named and (fresh or how["scenario"] or how["seed"] or how["assume"]):
        raise click.UsageError("--world is there already: leave out --fresh and how it begins")
    from hosting_emulator.replay import like_recorded, report_document
    from hosting_emulator.replay import replay as send

    record = _read(world, what)
    control = world.control
    beginning, sending = _how(**how)
    if named:
        report = send(control, record, world, sending)
    else:
        with like_recorded(control, record, beginning) as made:
            report = send(control, record, made, sending)
    if as_json:
        put_json(report_document(report, record))
    else:
        put(replay_text(report, record))
    ctx.exit(1 if report.differing else 0)


@click.command()
@click.argument("file", required=False)
@opt.option(
    "--shows WORDS",
    "The answer to keep: status=, code=, call=, method=, path= and n=, as many as you like.",
    required=True,
)
@opt.option(
    "--output FILE", "Write what is left as an HTTP Archive, which `requests replay` takes."
)
@opt.option("--max-runs N", "Stop after so many tries.", type=WholeNumber(1, 100_000), default=500)
@_replay_options
@opt.json_option
@opt.with_world
def shrink(
    world: opt.HostingEmulator,
    file: str | None,
    shows: str,
    output: Path | None,
    max_runs: int,
    as_json: bool,
    **how: Any,
) -> None:
    """Find the fewest requests that still show an answer, and print them as curl lines.

    FILE is a recording, as for `requests replay`; without it the log of --world is taken. Each try
    is in a throw-away world of its own, which begins as the recorded one did.

    Examples:
      hosting-emulator requests shrink --shows 'status=409 code=idempotency_key_reused'
      hosting-emulator requests shrink failed.har --shows 'code=etag_mismatch n=31' --output short.har
    """
    from hosting_emulator.replay import NotShown, Shows, curl_lines, read_record
    from hosting_emulator.replay import shrink as reduce

    try:
        answer = Shows.read(shows)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--shows") from error
    record = _read(world, file)
    beginning, sending = _how(**how)
    try:
        found = reduce(
            world.control, record, answer, beginning=beginning, options=sending, max_runs=max_runs
        )
    except NotShown as error:
        raise Failure(str(error)) from error
    lines = list(curl_lines(read_record(found.har)))
    numbers = [one.n for one in found.requests]
    if output is not None:
        put_document(found.har, output, "What is left is written to")
    if as_json:
        counts = {"of": found.of, "runs": found.runs, "shortest": found.shortest}
        put_json({"requests": numbers, **counts, "curl": lines})
        return
    put("\n".join(lines))
    say(
        f"{len(numbers)} of {found.of} requests show it (#{', #'.join(map(str, numbers))}), "
        f"found in {found.runs} runs"
        + ("." if found.shortest else "; not tried to the end: give more --max-runs.")
    )


def _read(world: opt.HostingEmulator, file: str | None) -> Recording:
    """Read a recording, or a world's log. Raises Failure."""
    from hosting_emulator.replay import RecordRefused, read_record

    try:
        return read_record(world.requests.har(state=True) if file is None else read_json(file))
    except RecordRefused as error:
        name = f"world {world.name}" if file is None else display_name(file)
        raise Failure(f"{name}: {error}") from error


def _how(
    *,
    scenario: str | None,
    seed: str | None,
    assume: Sequence[tuple[str, str]],
    principal: str | None,
    no_time: bool,
) -> tuple[Beginning, ReplayOptions]:
    from hosting_emulator.replay import Beginning, ReplayOptions

    return Beginning(scenario, seed, dict(assume)), ReplayOptions(
        as_=principal, move_time=not no_time
    )
