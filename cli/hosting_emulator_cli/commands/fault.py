"""`fault`: how calls are answered wrongly, on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli.faults import condition_words, effect_of, fault_words, match_words
from hosting_emulator_cli.groups import OrderedGroup
from hosting_emulator_cli.options import (
    asked_if_named,
    examples,
    json_option,
    maybe_client,
    with_world,
)
from hosting_emulator_cli.output import put, put_json, say, table
from hosting_emulator_cli.values import named_values, typed_values

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient


@click.group(
    cls=OrderedGroup,
    epilog=examples(
        "hosting-emulator fault add rate_limit limit=3 window=60s",
        "hosting-emulator fault add connection_reset --call apply_project_domains --after-commit",
        "hosting-emulator fault clear",
    ),
)
def fault() -> None:
    """Arm and remove faults: refused, late, broken and lost answers.

    Faults are tried in the order they were armed, each in its own world only.
    """


class _Add(click.Command):
    """Says of an effect's option that was written as the command's how it is written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises NoSuchOption."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from hosting_emulator.faults.documents import describe_kinds

            name = error.option_name.lstrip("-").replace("-", "_")
            effects = describe_kinds()["effects"]
            if any(name in kind["options"] for kind in effects):
                said = (
                    f"No such option {error.option_name!r}: what an effect takes is written "
                    f"without dashes, as {name}=VALUE."
                )
                raise click.NoSuchOption(error.option_name, said, ctx=ctx) from None
            raise


@fault.command(
    cls=_Add,
    epilog=examples(
        "hosting-emulator fault add abort code=service_unavailable"
        " --call apply_project_domains --times 2 --after-commit",
        "hosting-emulator fault add latency delay_ms=200 jitter_ms=50 --project shop",
        "hosting-emulator fault add truncate bytes=20 --probability 0.1 --ttl 10m",
        'hosting-emulator fault add --json-fault \'{"timeout": {}, "method": "PUT", "times": 1}\'',
    ),
)
@click.argument("effect", required=False)
@click.argument("options", nargs=-1, metavar="[OPTION=VALUE]...", callback=typed_values)
@click.option("--call", metavar="CALL", help="Only this call, such as list_deployments.")
@click.option("--project", metavar="PROJECT", help="Only this project, by alias or id.")
@click.option("--principal", metavar="WHO", help="Only this person, by alias or id.")
@click.option("--method", metavar="METHOD", help="Only this HTTP method.")
@click.option("--path", metavar="PATTERN", help="Only such paths: /v1/projects/*/domains.")
@click.option(
    "--header",
    multiple=True,
    metavar="NAME=PATTERN",
    callback=named_values,
    help="Only requests with such a header; * stands for any text. Repeatable.",
)
@click.option("--times", type=int, metavar="N", help="Act on so many requests, then no more.")
@click.option("--skip-first", type=int, metavar="N", help="Let so many matching requests pass.")
@click.option("--every", type=int, metavar="N", help="Act on every n-th matching request.")
@click.option(
    "--probability", type=float, metavar="P", help="Act by chance, above 0 up to 1, seeded."
)
@click.option(
    "--from", "from_", metavar="WHEN", help="Act from this timestamp, or so long from now."
)
@click.option("--until", metavar="WHEN", help="Act before this timestamp, or for so long from now.")
@click.option("--ttl", metavar="DURATION", help="Act for so long in world time.")
@click.option(
    "--after-commit/--before-commit",
    "after",
    default=None,
    help="Do what is asked and lose the answer, or do nothing (the default).",
)
@click.option("--json-fault", metavar="JSON", help="The whole fault as JSON, instead of all this.")
@json_option
@with_world
def add(
    client: ControlClient,
    world: str,
    effect: str | None,
    options: dict[str, Any],
    json_fault: str | None,
    as_json: bool,
    **rule: Any,
) -> None:
    """Arm a fault and print its id.

    EFFECT is what it does, OPTION=VALUE how; `fault kinds` lists them. A value is JSON where it
    reads as JSON, else text. Durations are world time; an effect's milliseconds are real time.
    """
    written = _written_rule(**rule)
    if (effect is None) == (json_fault is None):
        raise click.UsageError("give either EFFECT or --json-fault")
    if effect is not None:
        document = {effect: options, **written}
    elif written:
        raise click.UsageError("give --json-fault alone: the rest of the fault stands in it")
    else:
        document = _parsed(str(json_fault))
    armed = client.add_fault(document, world)
    if as_json:
        put_json(armed)
        return
    put(armed["id"])
    say(f"{armed['id']} is armed in world {world}: {fault_words(armed)}.")


def _written_rule(
    *, from_: str | None, after: bool | None, header: dict[str, str], **same: Any
) -> dict[str, Any]:
    phase = None if after is None else "after_commit" if after else "before_commit"
    rule = {**same, "header": header or None, "from": from_, "phase": phase}
    return {name: value for name, value in rule.items() if value is not None}


def _parsed(text: str) -> dict[str, Any]:
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"it is not JSON: {error}", param_hint="--json-fault") from error
    if not isinstance(found, dict):
        message = 'write an object, such as {"timeout": {}, "times": 1}'
        raise click.BadParameter(message, param_hint="--json-fault")
    return found


@fault.command("list")
@json_option
@with_world
def list_(client: ControlClient, world: str, as_json: bool) -> None:
    """List the armed faults in the order in which they are tried.

    SEEN counts the requests that matched, HITS those that were acted on; one that is SPENT can act
    no more.
    """
    armed = client.faults(world)
    if as_json:
        put_json(armed)
        return
    headers = ("FAULT", "EFFECT", "MATCHES", "WHEN", "PHASE", "SEEN", "HITS", "SPENT")
    rows = [
        [
            found["id"],
            effect_of(found),
            match_words(found) or "everything",
            condition_words(found) or "always",
            *(found[name] for name in ("phase", "seen", "hits", "spent")),
        ]
        for found in armed
    ]
    put(table(headers, rows))


@fault.command(epilog=examples("hosting-emulator fault remove fault-1"))
@click.argument("faults", nargs=-1, required=True, metavar="FAULT...")
@with_world
def remove(client: ControlClient, world: str, faults: tuple[str, ...]) -> None:
    """Remove faults.

    Each FAULT is an id, such as fault-1.
    """
    for found in faults:
        client.remove_fault(found, world)
        say(f"{found} is removed.")


@fault.command()
@with_world
def clear(client: ControlClient, world: str) -> None:
    """Remove all faults of a world."""
    count = client.clear_faults(world)
    say(f"{count} {'fault is' if count == 1 else 'faults are'} removed.")


@fault.command()
@json_option
@maybe_client
@click.pass_context
def kinds(ctx: click.Context, url: str, control_token: str | None, as_json: bool) -> None:
    """List what a fault can do, what it can match and when it acts.

    Works without a running emulator; with --url the running one is asked.
    """
    found = asked_if_named(ctx, url, control_token, lambda client: client.fault_kinds())
    if found is None:
        from hosting_emulator.faults.documents import describe_kinds

        found = describe_kinds()
    if as_json:
        put_json(found)
        return
    put(table(("EFFECT", "EXAMPLE", "ABOUT"), map(_kind_row, found["effects"])))
    put("\n" + table(("MATCH", "ABOUT"), found["matches"].items()))
    put("\n" + table(("CONDITION", "ABOUT"), found["conditions"].items()))


def _kind_row(kind: dict[str, Any]) -> list[object]:
    example = " ".join(f"{name}={value}" for name, value in kind["example"].items())
    return [kind["kind"], example or "-", kind["about"]]
