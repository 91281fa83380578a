"""Implements `fault`, which arms and removes faults."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.armed_rules import (
    ManagementTexts,
    add_management,
    armed_text,
    occasion_options,
    rule_members,
    state_json,
    target_options,
)
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import CommandGroup, examples
from hosting_emulator_cli.missing_values import missing_value_named
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.value_types import TYPED_VALUE

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator


@click.group(
    cls=CommandGroup,
    epilog=examples(
        r"""
        hosting-emulator fault add rate_limit limit=3 window=60s
        hosting-emulator fault add connection_reset --call apply_project_domains \
            --after-commit
        hosting-emulator fault clear
        """
    ),
)
def fault() -> None:
    """Arm and remove faults, such as refused requests and altered or lost responses.

    If several faults match a request, they are tried in the order in which they were armed, but
    those that act before the commit come first. Delays add up, and most other faults prevent the
    later ones from acting. Each fault affects only one world, except `refuse_connections` and,
    without a project, `bad_certificate`.
    """


class _AddCommand(HelpCommand):
    """A command that explains the syntax if the user types dashes before an effect's option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line. Raises NoSuchOption."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from hosting_emulator.faults.views import describe_kinds

            name = error.option_name.lstrip("-").replace("-", "_")
            if any(name in kind.options for kind in describe_kinds().effects):
                message = (
                    f"No such option {error.option_name!r}: write an effect's "
                    f"options without dashes, as {name}=VALUE."
                )
                raise click.NoSuchOption(error.option_name, message, ctx=ctx) from None
            raise


@fault.command(
    cls=_AddCommand,
    epilog=examples(
        r"""
        hosting-emulator fault add abort code=service_unavailable \
            --call apply_project_domains --times 2 --after-commit
        hosting-emulator fault add latency delay_ms=200 jitter_ms=50 --project shop
        hosting-emulator fault add truncate bytes=20 --probability 0.1 --until 10m
        hosting-emulator fault add \
            --json-fault '{"timeout": {}, "method": "PUT", "times": 1}'
        """
    ),
)
@click.argument("effect", required=False, shell_complete=completion.FAULT_KINDS)
@click.argument("effect_options", nargs=-1, metavar="[OPTION=VALUE]...", type=TYPED_VALUE)
@target_options(
    "requests",
    "Affect only requests to this call or other endpoint, such as list_deployments, redeem_ticket "
    "or idp_token. Default: all API calls, but no other endpoints.",
)
@opt.option(
    "--method",
    metavar="METHOD",
    help="Affect only requests with this HTTP method.",
)
@opt.option(
    "--path",
    metavar="PATTERN",
    help=(
        "Affect only requests whose path matches this pattern, in which * stands for any text, such "
        "as /v1/projects/*/domains."
    ),
)
@opt.option(
    "--header",
    metavar="NAME=PATTERN",
    help=(
        "Affect only requests with a header that matches this pattern, in which * stands for any "
        "text. Repeatable."
    ),
    multiple=True,
    cls=opt.PatternOption,
)
@opt.option(
    "--query",
    metavar="NAME=PATTERN",
    help=(
        "Affect only requests with a query parameter that matches this pattern, in which * stands "
        "for any text. Repeatable."
    ),
    multiple=True,
    cls=opt.PatternOption,
)
@opt.option(
    "--body",
    metavar="PATH=VALUE",
    help=(
        "Affect only requests in whose body the field at PATH has this value, such as "
        "name=ci*. In text, * stands for any text. Repeatable."
    ),
    multiple=True,
    cls=opt.PatternOption,
    type=TYPED_VALUE,
)
@opt.option(
    "--credentials",
    metavar="CREDENTIALS",
    help=(
        "Affect only API calls with this kind of credentials: token, key, none, invalid or any. "
        "Default: API calls with a valid token or key."
    ),
)
@opt.option(
    "--connection",
    metavar="USE",
    help=(
        "Affect only requests on a `new` connection, or on a connection that is `reused` after an "
        "earlier request."
    ),
)
@occasion_options("fault", "requests", "Affect at most N requests.")
@opt.option(
    "--after-commit/--before-commit",
    "after_commit",
    help=(
        "Act after the request has taken effect, or before (default). Most faults that act before "
        "prevent the effect. Some faults do not accept this option."
    ),
)
@opt.option(
    "--json-fault",
    metavar="JSON",
    help="The whole fault as a JSON object, instead of EFFECT and the options above.",
)
@prints("{value[id]}", words=armed_text)
@opt.with_world
def add(
    world: HostingEmulator,
    effect: str | None,
    effect_options: tuple[tuple[str, Any], ...],
    json_fault: str | None,
    after_commit: bool | None,
    **options: Any,
) -> Any:
    """Arm a fault and print its id.

    EFFECT is what the fault does, and OPTION=VALUE sets an option of the effect. `fault kinds`
    lists the effects and their options. VALUE is parsed as JSON if possible. Durations are in world
    time, except options whose names end in `_ms`, which are in real milliseconds.
    """
    members = _fault_members(after_commit, options)
    if (effect is None) == (json_fault is None):
        raise click.UsageError("use either EFFECT or --json-fault")
    if effect is not None:
        values = dict(effect_options)
        with missing_value_named("fault add", effect, values, lambda: _kind(str(effect))):
            return state_json(world.arm({effect: values, **members}).state)
    if members:
        raise click.UsageError(
            "--json-fault contains the whole fault: omit all other options of the fault"
        )
    return state_json(world.arm(_read_fault(str(json_fault))).state)


def _kind(effect: str) -> Any:
    """Return the type that declares an effect's options, or None for an unknown effect."""
    from hosting_emulator.faults.categories import FAULT

    return FAULT.kinds.get(effect)


def _fault_members(after_commit: bool | None, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a fault that the options set, without the effect."""
    members = {**options, "after_commit": after_commit}
    for name in ("header", "query", "body"):
        members[name] = dict(options[name]) or None
    return rule_members(members)


def _read_fault(text: str) -> dict[str, Any]:
    """Return the fault in `--json-fault`. Raises BadParameter if the text is not a JSON object."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--json-fault") from error
    if not isinstance(document, dict):
        message = 'write an object, such as {"timeout": {}, "times": 1}'
        raise click.BadParameter(message, param_hint="--json-fault")
    return document


add_management(
    fault,
    ManagementTexts(
        match_header="MATCHES",
        match_all="everything",
        more_columns=("after_commit",),
        ids=completion.FAULTS,
        describe_kinds="hosting_emulator.faults.views:describe_kinds",
        list_help=(
            "CONSIDERED is the number of requests that were checked against the fault since the "
            "emulator started. SEEN is the number of requests that matched it, and HITS is the "
            "number of requests on which it acted. A fault that is USED UP no longer acts."
        ),
        remove_help="FAULT is the id of a fault, such as fault-1.",
        kinds_help=(
            "List the kinds of faults, their options, and the conditions under which they act."
        ),
    ),
)
