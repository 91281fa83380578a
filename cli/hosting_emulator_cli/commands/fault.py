"""`fault`, `outcome`, `intervene`: failing responses, failing operations, and other changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.main import CommandGroup, examples
from hosting_emulator_cli.output import columns, intervention_sentence, prints, say, table

if TYPE_CHECKING:
    from hosting_emulator.sdk import FaultState, OutcomeState
    from hosting_emulator.sdk.text import FaultWords


def _words(fault: Mapping[str, Any]) -> FaultWords:
    from hosting_emulator.sdk.text import fault_words

    return fault_words(fault)


def _state_json(state: FaultState | OutcomeState) -> dict[str, Any]:
    """Return an armed fault or outcome as the control API sends it."""
    from hosting_emulator.messages import merge_written

    return merge_written(state)


def _armed_words(fault: Mapping[str, Any]) -> str:
    parts = filter(None, (*_words(fault), fault.get("phase")))
    world = click.get_current_context().params["world"]
    return f"Armed {fault['id']} in world {world}: {', '.join(parts)}."


def _target_options(things: str, call_help: str) -> opt.Decorator[Any]:
    """Add the options that select the things (requests or operations) that a rule applies to."""
    return opt.options(
        opt.option("--call", metavar="CALL", help=call_help),
        opt.option(
            "--project",
            metavar="PROJECT",
            help=f"Only {things} of this project, by alias or id.",
        ),
        opt.option(
            "--organization",
            metavar="ORGANIZATION",
            help=f"Only {things} of this organization, by alias or id.",
        ),
        opt.option(
            "--user",
            "principal",
            metavar="USER",
            help=f"Only {things} of this user, by alias or id.",
        ),
    )


def _occasion_options(things: str, times_help: str) -> opt.Decorator[Any]:
    """Add the options that select when a rule acts."""
    return opt.options(
        opt.option("--times", metavar="N", help=times_help, type=int),
        opt.option(
            "--skip-first",
            metavar="N",
            help=f"Let this many matching {things} pass first.",
            type=int,
        ),
        opt.option(
            "--every",
            metavar="N",
            help=f"Act only on every Nth of the matching {things}: 3 means the 3rd, 6th, 9th.",
            type=int,
        ),
        opt.option(
            "--probability",
            metavar="P",
            help="Act with this probability, above 0 up to 1; seeded.",
            type=float,
        ),
        opt.option(
            "--from",
            "from_",
            metavar="WHEN",
            help="Act from this timestamp on, or from this long after now.",
        ),
        opt.option(
            "--until",
            metavar="WHEN",
            help="Act until this timestamp, or until this long after now.",
        ),
        opt.option("--ttl", metavar="DURATION", help="Act for this long in world time.", type=str),
        opt.option(
            "--while",
            "while_",
            metavar="NAME=VALUE",
            help="Act only while this holds in the world, such as dns=expired or plan=free; "
            "repeatable.",
            multiple=True,
            type=opt.TYPED_VALUE,
        ),
        opt.flag("--optional", help="Reports do not complain if this never acts."),
    )


def _written_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a rule that have a value, by their names in a rule."""
    rule["from"] = rule.pop("from_")
    rule["while"] = dict(rule.pop("while_")) or None
    rule["optional"] = rule["optional"] or None
    return {name: value for name, value in rule.items() if value is not None}


def _example(kind: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in kind["example"].items()) or "-"


def _kinds_text(kinds: Mapping[str, Any]) -> str:
    """Write what a fault or outcome can do, what it can match, and when it acts."""
    effects = columns(("EFFECT", "kind"), ("EXAMPLE", _example), "about")(kinds["effects"])
    rows = {"MATCH": "matches", "CONDITION": "conditions", "WHILE": "while"}
    tables = [table((title, "ABOUT"), kinds[key].items()) for title, key in rows.items()]
    return "\n\n".join([effects, *tables])


@dataclass(frozen=True, kw_only=True)
class _ArmedThings:
    """What the commands that list and remove faults or outcomes say about them.

    `match_header` is the header of the column with what one matches, `match_all` its text for one
    that matches everything. `describe_kinds` is a function of the emulator, as `module:function`.
    """

    match_header: str
    match_all: str
    more_columns: Sequence[str] = ()
    ids: opt.Complete
    describe_kinds: str
    list_help: str
    remove_help: str
    kinds_help: str


def _add_management(group: click.Group, things: _ArmedThings) -> None:
    """Add the commands that list and remove what is armed, and that list its kinds."""
    noun = str(group.name)
    armed_columns = columns(
        (noun.upper(), "id"),
        ("EFFECT", lambda armed: _words(armed).effect),
        (things.match_header, lambda armed: _words(armed).matches or things.match_all),
        ("WHEN", lambda armed: _words(armed).conditions or "always"),
        *things.more_columns,
        "considered",
        "seen",
        "hits",
        ("USED UP", "spent"),
    )

    @group.command("list", help=f"List the {noun}s in the order they apply.\n\n{things.list_help}")
    @prints(armed_columns)
    @opt.with_world
    def list_(world: opt.HostingEmulator) -> Any:
        return world.control.get(world.control_path(f"{noun}s"))["items"]

    @group.command(
        help=f"Remove {noun}s.\n\n{things.remove_help}",
        epilog=examples(f"hosting-emulator {noun} remove {noun}-1"),
    )
    @click.argument(
        "ids",
        nargs=-1,
        required=True,
        metavar=f"{noun.upper()}...",
        shell_complete=things.ids,
    )
    @opt.with_world
    def remove(world: opt.HostingEmulator, ids: tuple[str, ...]) -> None:
        for id_ in ids:
            world.control.delete(world.control_path(f"{noun}s", id_))
            say(f"Removed {id_}.")

    @group.command(help=f"Remove all {noun}s of a world.")
    @opt.with_world
    def clear(world: opt.HostingEmulator) -> None:
        count = world.control.delete(world.control_path(f"{noun}s"))["removed"]
        plural = "" if count == 1 else "s"
        say(f"Removed {count} {noun}{plural}.")

    @group.command(
        "kinds",
        help=f"{things.kinds_help}\n\n"
        "Works without a running emulator; with --url it asks the running one.",
    )
    @prints(_kinds_text)
    @opt.url_options
    def list_kinds(**_: Any) -> Any:
        return opt.ask(lambda client: client.contract(f"{noun}-kinds"), things.describe_kinds)


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
    """Arm and remove faults: refused, late, broken and lost responses.

    Faults apply in the order they were armed, each only in its own world.
    """


class _AddCommand(click.Command):
    """Explains the syntax to users who write an effect's option like an option of the command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises NoSuchOption."""
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
        hosting-emulator fault add truncate bytes=20 --probability 0.1 --ttl 10m
        hosting-emulator fault add \
            --json-fault '{"timeout": {}, "method": "PUT", "times": 1}'
        """
    ),
)
@click.argument("effect", required=False, shell_complete=opt.FAULT_KINDS)
@click.argument("effect_options", nargs=-1, metavar="[OPTION=VALUE]...", type=opt.TYPED_VALUE)
@_target_options(
    "requests",
    "Only this call, such as list_deployments, or another endpoint, such as redeem_ticket or "
    "idp_token.",
)
@opt.option(
    "--method",
    metavar="METHOD",
    help="Only this HTTP method.",
)
@opt.option(
    "--path",
    metavar="PATTERN",
    help="Only paths that match, such as /v1/projects/*/domains.",
)
@opt.option(
    "--header",
    metavar="NAME=PATTERN",
    help="Only requests with a matching header; * stands for any text. Repeatable.",
    multiple=True,
)
@opt.option(
    "--query",
    metavar="NAME=PATTERN",
    help="Only requests with a matching query parameter; * stands for any text. Repeatable.",
    multiple=True,
)
@opt.option(
    "--body",
    metavar="PATH=VALUE",
    help="Only requests with this body field, such as key.name=ci*. Repeatable.",
    multiple=True,
    type=opt.TYPED_VALUE,
)
@opt.option(
    "--credentials",
    metavar="CREDENTIALS",
    help=(
        "Only requests with these credentials: a token, a key, none, invalid ones, or any. "
        "Default: valid ones."
    ),
)
@_occasion_options("requests", "Act on this many requests, then no more.")
@opt.option(
    "--after-commit/--before-commit",
    "after",
    help="Apply the request and lose the response, or do not apply it (default).",
)
@opt.option(
    "--json-fault",
    metavar="JSON",
    help="The whole fault as JSON, instead of the other options.",
)
@prints("{value[id]}", words=_armed_words)
@opt.with_world
def add(
    world: opt.HostingEmulator,
    effect: str | None,
    effect_options: tuple[tuple[str, Any], ...],
    json_fault: str | None,
    **rule: Any,
) -> Any:
    """Arm a fault and print its id.

    EFFECT is what the fault does; OPTION=VALUE sets its details; `fault kinds` lists both. A value
    that parses as JSON is JSON, otherwise text. Durations are world time; milliseconds of an effect
    are real time.
    """
    is_after_commit = rule.pop("after")
    rule["phase"] = None
    if is_after_commit is not None:
        rule["phase"] = "after_commit" if is_after_commit else "before_commit"
    for name in ("header", "query", "body"):
        rule[name] = dict(rule[name]) or None
    written = _written_rule(rule)
    if (effect is None) == (json_fault is None):
        raise click.UsageError("give either EFFECT or --json-fault")
    if effect is not None:
        return _state_json(world.arm({effect: dict(effect_options), **written}).state)
    if written:
        raise click.UsageError("give --json-fault alone: it contains the whole fault")
    try:
        document = json.loads(str(json_fault))
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--json-fault") from error
    if not isinstance(document, dict):
        message = 'write an object, such as {"timeout": {}, "times": 1}'
        raise click.BadParameter(message, param_hint="--json-fault")
    return _state_json(world.arm(document).state)


_add_management(
    fault,
    _ArmedThings(
        match_header="MATCHES",
        match_all="everything",
        more_columns=("phase",),
        ids=opt.FAULTS,
        describe_kinds="hosting_emulator.faults.views:describe_kinds",
        list_help=(
            "CONSIDERED counts the requests that were compared with the fault, SEEN those that "
            "matched, HITS those the fault acted on. A fault that is USED UP acts no more."
        ),
        remove_help="Each FAULT is an id, such as fault-1.",
        kinds_help="List what faults can do, what they match and when they act.",
    ),
)


@click.group(
    cls=CommandGroup,
    epilog=examples(
        r"""
        hosting-emulator outcome add fail phase=deploying --project blog
        hosting-emulator outcome add reconcile attempts=2 then=exhaust each=5s \
            --call apply_project_domains
        hosting-emulator outcome add succeed running=40s
        hosting-emulator outcome list
        """
    ),
)
def outcome() -> None:
    """Set in advance how an operation ends: it fails, is stuck, waits for reconciliation.

    An outcome applies to the next operation that matches, and only to that one unless --times says
    more. Outcomes apply in the order they were armed.
    """


@outcome.command(
    "add",
    epilog=examples(
        r"""
        hosting-emulator outcome add stick phase=verifying --project shop \
            --user owner
        hosting-emulator outcome add cancel phase=building --times 3
        hosting-emulator outcome add fail code=operation_failed retryable=true \
            --while plan=free --times 9
        """
    ),
)
@click.argument("kind", shell_complete=opt.OUTCOME_KINDS)
@click.argument("effect_options", nargs=-1, metavar="[OPTION=VALUE]...", type=opt.TYPED_VALUE)
@_target_options("operations", "Only operations of this call, such as apply_project_domains.")
@_occasion_options("operations", "Act on this many operations, then no more. Default: 1.")
@prints("{value[id]}", words=_armed_words)
@opt.with_world
def add_outcome(
    world: opt.HostingEmulator, kind: str, effect_options: tuple[tuple[str, Any], ...], **rule: Any
) -> Any:
    """Set in advance how the next operation ends, and print the outcome's id.

    KIND is how the operation ends; OPTION=VALUE sets the details; `outcome kinds` lists both. A
    value that parses as JSON is JSON, otherwise text. Durations are world time, with every clock.
    """
    return _state_json(world.tell({kind: dict(effect_options), **_written_rule(rule)}).state)


_add_management(
    outcome,
    _ArmedThings(
        match_header="OF",
        match_all="any operation",
        ids=opt.OUTCOMES,
        describe_kinds="hosting_emulator.faults.views:describe_outcome_kinds",
        list_help=(
            "CONSIDERED counts the operations that began, SEEN those that matched, HITS those the "
            "outcome applies to. An outcome that is USED UP applies to no more operations."
        ),
        remove_help=(
            "Each OUTCOME is an id, such as outcome-1. Operations that started with the outcome "
            "still end that way."
        ),
        kinds_help="List the kinds of outcomes, and what they match.",
    ),
)


def _field_names(kind: Mapping[str, Any]) -> str:
    names = []
    for field in kind["fields"]:
        names.append(field["name"] if field["required"] else f"[{field['name']}]")
    return " ".join(names)


def _interventions_text(result: Any) -> str | None:
    return _intervention_columns(result) if isinstance(result, list) else None


def _intervention_words(result: Any) -> str | None:
    return None if isinstance(result, list) else intervention_sentence(result)


_intervention_columns = columns("name", ("FIELDS ([] is optional)", _field_names), "about")


@click.command(
    epilog=examples(
        r"""
        hosting-emulator intervene stick_operation project=shop
        hosting-emulator intervene stick_operation --all project=shop
        hosting-emulator intervene fail_operation project=shop \
            message='No space left.'
        hosting-emulator intervene move_dns project=blog to=authorized \
            expires_in=10m
        hosting-emulator intervene set_permissions organization=acme \
            permissions='["projects.read"]'
        hosting-emulator intervene kinds
        """
    )
)
@click.argument("name", shell_complete=opt.INTERVENTIONS)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=opt.TYPED_VALUE)
@opt.flag(
    "--all",
    "everything",
    help="Apply it to all operations (of a project), tickets (of a user) or keys.",
)
@prints(_interventions_text, words=_intervention_words)
@opt.world_option
@opt.url_options
def intervene(
    world: str,
    name: str,
    fields: tuple[tuple[str, Any], ...],
    everything: bool,
    **_: Any,
) -> Any:
    """Change a world: stick an operation, expire a ticket, move DNS, set a plan.

    NAME is the intervention; `intervene kinds` lists all with their fields. FIELD=VALUE sets a
    field. A value that parses as JSON is JSON, otherwise text. A refused intervention changes
    nothing. `intervene kinds` works without a running emulator; with --url it asks the running one.
    """
    if name == "kinds":
        if fields or everything:
            raise click.UsageError("`intervene kinds` takes no fields")
        return opt.ask(
            lambda client: client.contract("interventions"),
            "hosting_emulator.faults.interventions:describe_interventions",
        )
    parameters = dict(fields)
    if everything:
        parameters["all"] = True
    sentence = opt.ask(lambda client: client.world(world).intervene(name, **parameters))
    return {"intervention": name, "message": sentence}
