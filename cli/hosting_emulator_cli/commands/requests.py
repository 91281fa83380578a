"""`requests`: what was asked, what was answered and why; and requests sent again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli import output as out
from hosting_emulator_cli.files import put_document, read_json
from hosting_emulator_cli.main import CommandGroup, examples, failing

if TYPE_CHECKING:
    from hosting_emulator.sdk import ExchangeSummary, HostingEmulator, Message, WholeExchange
    from hosting_emulator.sdk.text import ExchangeCells
    from hosting_emulator_lab.replay import Beginning, Recording, ReplayReport


_HEADERS = ("N", "AT", "STATUS", "METHOD", "CALL", "PROJECT", "USER", "MS", "RESPONSE", "WHY")


def _aliases(world: HostingEmulator) -> dict[str, str]:
    """Return the aliases of a world's projects by id, as it now is."""
    return {project.id: project.alias for project in world.summary.projects}


def cells_of(exchange: ExchangeSummary, projects: Mapping[str, str]) -> ExchangeCells:
    """Write an exchange part by part, such that no part can steer a terminal."""
    from hosting_emulator.sdk.text import ExchangeCells, exchange_cells, trail_of

    cells = exchange_cells(exchange, projects, trail_of(exchange))
    return ExchangeCells(*map(out.printable, cells))


def target(exchange: ExchangeSummary) -> str:
    """Write what stood in the request's first line: method, path and query."""
    query = f"?{exchange.query}" if exchange.query else ""
    return out.printable(f"{exchange.method} {exchange.path}{query}")


def body_parts(message: Message) -> Iterator[tuple[str, str]]:
    """Write a body, which cannot steer a terminal: `json`, `text` or `binary`, and that it is `cut`."""
    body, size = message.body, message.body_bytes
    if not size:
        return
    if body is None:
        yield "binary", f"{size} bytes of binary data"
        return
    try:
        yield "json", out.printable_json(json.loads(body))
    except ValueError:  # no JSON, or not all of it: as it is
        yield "text", out.printable_lines(body)
    if message.body_cut:
        yield "cut", f"… truncated: the body has {size} bytes."


def _line(exchange: ExchangeSummary, projects: Mapping[str, str], *, why: bool = True) -> str:
    """Write one exchange in a line that does not know of others, with its reason."""
    cells = cells_of(exchange, projects)
    shown = cells._replace(user=cells.user or "-", why=cells.why if why else "")
    return "  ".join(filter(None, shown))


def put_whole(world: HostingEmulator, exchange: WholeExchange, as_json: bool) -> None:
    """Print a whole exchange: line, explanation, and both sides; as JSON, or in colours on a terminal."""
    if as_json:
        out.put_json(exchange)
        return
    projects = _aliases(world)
    if out.is_terminal():
        from hosting_emulator_cli.rich_views import whole_view

        screen = out.console()
        screen.print(whole_view(exchange, projects, screen.width))
        return
    steps = exchange.trail
    width = max((len(step.step) for step in steps), default=0)
    lines = [
        _line(exchange, projects, why=False),
        "",
        *(f"  {step.step:<{width}}  {out.printable(step.text)}" for step in steps),
        "",
        target(exchange),
        *_message_lines(exchange.request),
        "",
        str(exchange.status or "no response"),
        *_message_lines(exchange.response),
    ]
    out.put("\n".join(lines))


def _message_lines(message: Message) -> Iterator[str]:
    yield from (out.printable(f"  {name}: {value}") for name, value in message.headers)
    if message.body_bytes:
        yield ""
    for _, text in body_parts(message):
        yield from (f"  {line}" for line in text.splitlines())


#: Which requests a command is about; they arrive as the client takes them.
_filters = opt.options(
    opt.option(
        "--call",
        metavar="NAME",
        help="Only this call; `none` for paths that belong to no call.",
    ),
    opt.option(
        "--status",
        metavar="STATUS",
        help="Only this status (404), or this class (4xx).",
    ),
    opt.option(
        "--user",
        metavar="USER",
        help="Only this user, by alias or id; `nobody` for requests without a known token.",
    ),
    opt.option(
        "--project",
        metavar="PROJECT",
        help="Only this project, by alias or id.",
    ),
    opt.option(
        "--since",
        metavar="TIME",
        help="Only from this time on: a world timestamp, or a duration back from now (5m).",
    ),
    opt.option(
        "--until",
        metavar="TIME",
        help="Only before this time: a world timestamp, or a duration back from now.",
    ),
    opt.option(
        "--text",
        metavar="TEXT",
        help="Only requests with this text in the path, a body or the reasons.",
    ),
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
    """Show the request log: requests, responses and the reasons for them.

    A world keeps its last 1,000 requests, with secrets removed. Times are world time.
    """


@requests.command(
    "list",
    epilog=examples("hosting-emulator requests list --status 4xx --json"),
)
@opt.option(
    "--limit",
    metavar="N",
    help="Show at most this many.",
    type=opt.WholeNumber(1, 1000),
    default=50,
)
@_filters
@opt.flag(
    "--whole",
    help="With --json: include headers and bodies.",
)
@opt.json_option
@opt.with_world
def list_(
    world: opt.HostingEmulator, limit: int, whole: bool, as_json: bool, **filters: Any
) -> None:
    """List the last requests, newest last."""
    if whole and not as_json:
        raise click.UsageError("--whole needs --json; `requests show N` shows one in full")
    items = world.requests.page(limit=limit, **filters).items[::-1]
    if as_json:
        out.put_json([world.requests.whole(item.n) for item in items] if whole else items)
        return
    aliases = _aliases(world)
    if out.is_terminal():
        _show(items, aliases)
    else:
        out.put(_table(items, aliases))
    if not items:
        given = any(value is not None for value in filters.values())
        out.say("No request matches." if given else "No requests yet.")


def _table(exchanges: Iterable[ExchangeSummary], projects: Mapping[str, str]) -> str:
    """Lay out exchanges, one in a line."""
    rows = []
    for exchange in exchanges:
        _, at, status, *request, _, response, why = cells_of(exchange, projects)
        ms = round(exchange.duration_us / 1000, 2)
        row = [exchange.n, at, exchange.status or status, *request, ms, response, why]
        rows.append([None if cell == "" else cell for cell in row])
    return out.table(_HEADERS, rows)


@requests.command(epilog=examples("hosting-emulator requests show 12"))
@click.argument("n", type=opt.WholeNumber(min=1))
@opt.json_option
@opt.with_world
def show(world: opt.HostingEmulator, n: int, as_json: bool) -> None:
    """Show one request completely: trail, headers and bodies.

    N is the request's number in the list. If the client may not see a resource, the trail says that
    it exists and who can see it.
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
    "--limit",
    metavar="N",
    help="Start with the last N requests.",
    type=opt.WholeNumber(0, 1000),
    default=10,
)
@_filters
@opt.flag(
    "--json",
    "as_json",
    help="Print JSON, one object per line.",
)
@opt.with_world
def tail(world: opt.HostingEmulator, limit: int, as_json: bool, **filters: Any) -> None:
    """Show requests as they happen, until Ctrl-C."""
    from hosting_emulator.sdk import Exchange

    aliases = _aliases(world)

    def put(exchange: ExchangeSummary) -> None:
        if as_json:
            out.put(json.dumps(out.plain_message(exchange), ensure_ascii=True))
        elif out.is_terminal():
            _show([exchange], aliases)
        else:
            out.put(_line(exchange, aliases))

    with world.requests.listen(only=("request", "world"), **filters) as events:
        shown = 0
        for exchange in world.requests.page(limit=limit, **filters).items[::-1] if limit else ():
            put(exchange)
            shown = exchange.n
        for event in events:
            if event.kind == "gap":
                out.say("Too many requests at once: some are not shown.")
            elif event.kind == "world":
                out.say(f"The world was {event.data['title']}.")
                shown = 0
                aliases = _aliases(world)
            elif event.data["n"] > shown:
                put(world.control.read(Exchange, event.data))


def _show(exchanges: Iterable[ExchangeSummary], aliases: Mapping[str, str]) -> None:
    from hosting_emulator_cli.rich_views import line_view

    screen = out.console()
    for exchange in exchanges:
        screen.print(line_view(exchange, aliases, screen.width))


@requests.command(epilog=examples("hosting-emulator requests har --output requests.har"))
@opt.option(
    "--limit",
    metavar="N",
    help="Show at most this many.",
    type=opt.WholeNumber(1, 1000),
    default=1000,
)
@_filters
@opt.option(
    "--state/--no-state",
    help="Include the world as it was before the first request, for `requests replay`.",
    default=True,
)
@opt.output_option
@opt.with_world
def har(world: opt.HostingEmulator, output: Path | None, **which: Any) -> None:
    """Write requests as an HTTP Archive (HAR 1.2), oldest first.

    Open the file in a browser's network panel, or send it again with `requests replay`.
    """
    document = world.requests.har(**which)
    put_document(document, output, "The requests were written to")


@requests.command(
    epilog=examples(
        """
        hosting-emulator requests resend 12
        hosting-emulator requests resend 12 --same-key
        """
    )
)
@click.argument("n", type=opt.WholeNumber(min=1))
@opt.flag(
    "--same-key",
    help="Keep the request's Idempotency-Key.",
)
@opt.json_option
@opt.with_world
def resend(world: opt.HostingEmulator, n: int, same_key: bool, as_json: bool) -> None:
    """Send one request of the log again, as the same user, and show the response.

    N is the request's number in the list. The request is sent as the same user with a new
    Idempotency-Key.
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
    help="Start the temporary world from this scenario. Default: as the recorded world was.",
)
@opt.option(
    "--seed",
    metavar="TEXT",
    help="Start the temporary world anew from this seed.",
)
@opt.assume_option
@opt.option(
    "--user",
    metavar="USER",
    help="Send all requests as this user, by alias or id. Default: the user who sent each.",
)
@opt.flag(
    "--no-time",
    help="Do not move the clock by the time that passed between the requests.",
)
@opt.json_option
@opt.with_world
def replay(world: opt.HostingEmulator, file: str, fresh: bool, as_json: bool, **how: Any) -> int:
    """Send a recording again, and compare the responses.

    FILE is an HTTP Archive from `requests har`, a browser or a proxy (or the output of `requests
    list --json --whole`). It is sent to a temporary world that starts as the recorded one did;
    --world names another. Ids, cursors, secrets and times that a server generates may differ. Exit
    code 1: a response differs.
    """
    if file.isdigit():
        raise click.UsageError(
            f"{file} is no recording; `requests resend {file}` sends one request of the log again"
        )
    named = opt.typed("world")
    if named and (fresh or how["scenario"] or how["seed"] or how["assume"]):
        raise click.UsageError("--world exists already: leave out --fresh, --scenario and --seed")
    from hosting_emulator_lab import replay as replaying

    record = _read_recording(file)
    beginning, sending = _how(**how)
    made = replaying.like_recorded(world.control, record, beginning)
    with nullcontext(world) if named else made as target_world:
        report = replaying.replay(world.control, record, target_world, **sending)
    if as_json:
        out.put_json(replaying.report_document(report, record))
    else:
        out.put(_replay_text(report, record))
    return 1 if report.differing else 0


def _read_recording(file: str) -> Recording:
    """Read a recording. Raises Failure."""
    from hosting_emulator_lab.replay import RecordRefused, read_record

    document, name = read_json(file)
    with failing(RecordRefused, prefix=f"{name}: "):
        return read_record(document)


def _how(
    *, assume: Any, user: str | None, no_time: bool, **began: Any
) -> tuple[Beginning, dict[str, Any]]:
    """Return how the throw-away world begins, and how requests are sent."""
    from hosting_emulator.contract.assumption_table import warnings_of
    from hosting_emulator.contract.assumptions import DEFAULTS, AssumptionRefused
    from hosting_emulator_lab.replay import Beginning

    with suppress(AssumptionRefused):  # the emulator refuses it
        out.say_warnings(warnings_of(DEFAULTS.changed(dict(assume))))
    beginning = Beginning(assumptions=dict(assume), **began)
    return beginning, {"user": user, "move_time": not no_time}


def _replay_text(report: ReplayReport, record: Recording) -> str:
    """Lay out a report: a line for each request, what differs below it, and the sum."""
    width, lines = max((len(f"#{one.recorded.n}") for one in report.requests), default=0), []
    for one in report.requests:
        asked = f"{one.recorded.method} {one.recorded.target}"
        number = f"#{one.recorded.n}".ljust(width)
        if one.skipped is not None:
            lines.append(f"{number}  skipped  {asked}: {one.skipped}")
            continue
        word = "differs" if one.differences else "same"
        status = "---" if one.answer is None else one.answer.status
        lines.append(f"{number}  {word:<7}  {status}  {asked}")
        for at, *values in one.differences:
            texts = [v if isinstance(v, str) else json.dumps(v, ensure_ascii=False) for v in values]
            was, now = (text if len(text) <= 100 else f"{text[:99]}…" for text in texts)
            lines.append(f"{'':{width}}    {at}: was {was}, now {now}")
    lines += ["", *(f"Note: {sentence}." for sentence in report.notes)]
    if record.left_out:
        more = len(record.left_out) - 1
        rest = f" and {more} more" if more else ""
        lines.append(f"Note: left out, because it is not a call: {record.left_out[0]}{rest}.")
    sent, differ = len(report.requests) - len(report.skipped), len(report.differing)
    skipped = f", {len(report.skipped)} skipped" if report.skipped else ""
    lines.append(
        f"{sent} request{'s' * (sent != 1)} sent to {report.world}: {sent - differ} same, "
        f"{differ} differ{skipped}"
    )
    return "\n".join(map(out.printable, lines))
