"""The options and commands that `fault` and `outcome` share.

The options select which requests or operations a rule affects, and when it acts. The commands list
and remove armed rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.completion import Complete
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints, say
from hosting_emulator_cli.tables import columns, table
from hosting_emulator_cli.value_types import TYPED_VALUE

if TYPE_CHECKING:
    from hosting_emulator.sdk import FaultState, HostingEmulator, OutcomeState
    from hosting_emulator.sdk.fault_text import FaultWords


def _words(fault: Mapping[str, Any]) -> FaultWords:
    from hosting_emulator.sdk.fault_text import fault_words

    return fault_words(fault)


def _commit_text(fault: Mapping[str, Any]) -> str | None:
    from hosting_emulator.sdk.fault_text import commit_text

    return commit_text(fault)


def state_json(state: FaultState | OutcomeState) -> dict[str, Any]:
    """Return an armed fault or outcome in the control API's JSON format."""
    from hosting_emulator.messages import merge_written

    return merge_written(state)


def armed_text(fault: Mapping[str, Any]) -> str:
    """Return a message that confirms that a fault or outcome was armed."""
    words = _words(fault)
    parts = filter(None, (words.effect, words.matches, words.conditions, _commit_text(fault)))
    world = click.get_current_context().params["world"]
    text = f"Armed {fault['id']} in world {world}: {', '.join(parts)}."
    if fault.get("note"):
        text += f" {fault['note']}"
    return text


def target_options(things: str, call_help: str) -> opt.Decorator[Any]:
    """Declare the options that select which requests or operations a rule affects.

    `things` is `requests` or `operations`.
    """
    return opt.options(
        opt.option("--call", metavar="CALL", help=call_help),
        opt.option(
            "--project",
            metavar="PROJECT",
            help=f"Affect only {things} that concern this project, by alias or id.",
        ),
        opt.option(
            "--organization",
            metavar="ORGANIZATION",
            help=f"Affect only {things} that concern this organization, by alias or id.",
        ),
        opt.option(
            "--user",
            "principal",
            metavar="USER",
            help=f"Affect only {things} of this user, by alias or id.",
        ),
    )


def occasion_options(noun: str, things: str, times_help: str) -> opt.Decorator[Any]:
    """Declare the options that select when a rule acts.

    `noun` is `fault` or `outcome`, and `things` is `requests` or `operations`.
    """
    return opt.options(
        opt.option("--times", metavar="N", help=times_help, type=int),
        opt.option(
            "--skip-first",
            metavar="N",
            help=f"Do not affect the first N matching {things}.",
            type=int,
        ),
        opt.option(
            "--every",
            metavar="N",
            help=(
                f"Affect only every Nth of the matching {things}. For example, 3 means the 3rd, 6th, "
                "9th and so on."
            ),
            type=int,
        ),
        opt.option(
            "--probability",
            metavar="P",
            help=(
                "Act only with this probability, which is greater than 0 and at most 1. The "
                "random numbers depend on the world's seed."
            ),
            type=float,
        ),
        opt.option(
            "--from",
            "from_",
            metavar="WHEN",
            help=(
                "Start acting at this world time: a timestamp, or a duration from now, such as 10m."
            ),
        ),
        opt.option(
            "--until",
            metavar="WHEN",
            help=(
                "Stop acting at this world time: a timestamp, or a duration from now, such as 10m."
            ),
        ),
        opt.option(
            "--pause",
            "pauses",
            metavar="FROM,UNTIL",
            help=(
                "Do not act between these two world times: timestamps, or durations from now, such "
                "as 30s,90s. Repeatable."
            ),
            multiple=True,
        ),
        opt.option(
            "--while",
            "while_",
            metavar="NAME=VALUE",
            help=(
                "Act only while this condition on the world is met, such as dns=expired or "
                "plan=free. Repeatable."
            ),
            multiple=True,
            type=TYPED_VALUE,
        ),
        opt.flag(
            "--optional",
            help=(
                f"Do not report the {noun} as unused in test reports and recorded stories if it never "
                "acts."
            ),
        ),
    )


def rule_members(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are set, keyed by the names of the corresponding fields of a rule."""
    members = dict(options)
    members["from"] = members.pop("from_")
    members["while"] = dict(members.pop("while_")) or None
    members["pauses"] = [text for pause in members["pauses"] for text in pause.split(",")] or None
    members["optional"] = members["optional"] or None
    return {name: value for name, value in members.items() if value is not None}


def _option_names(kind: Mapping[str, Any]) -> str:
    return " ".join(kind["options"]) or "-"


def _example(kind: Mapping[str, Any]) -> str:
    from hosting_emulator.contract.value_texts import value_text

    return " ".join(f"{name}={value_text(value)}" for name, value in kind["example"].items()) or "-"


def _kinds_text(kinds: Mapping[str, Any]) -> str:
    """Format the effects, matches and conditions of faults or outcomes as tables."""
    effect_columns = columns(
        ("EFFECT", "kind"), ("OPTIONS", _option_names), ("EXAMPLE", _example), "about"
    )
    effects = effect_columns(kinds["effects"])
    rows = {"MATCH": "matches", "CONDITION": "conditions", "WHILE": "while"}
    tables = [table((title, "ABOUT"), kinds[key].items()) for title, key in rows.items()]
    return "\n\n".join([effects, *tables])


@dataclass(frozen=True, kw_only=True)
class ManagementTexts:
    """Texts for the commands that list and remove faults or outcomes.

    `match_header` is the heading of the column that shows what a rule matches. `match_all` is shown
    in this column for a rule that matches everything. `describe_kinds` is the import path
    (`module:function`) of the function that returns the kinds.
    """

    match_header: str
    match_all: str
    more_columns: Sequence[str] = ()
    ids: Complete
    describe_kinds: str
    list_help: str
    remove_help: str
    kinds_help: str


def add_management(group: click.Group, texts: ManagementTexts) -> None:
    """Add the commands `list`, `remove`, `clear` and `kinds` to a group."""
    noun = str(group.name)
    armed_columns = columns(
        (noun.upper(), "id"),
        ("EFFECT", lambda armed: _words(armed).effect),
        (texts.match_header, lambda armed: _words(armed).matches or texts.match_all),
        ("WHEN", lambda armed: _words(armed).conditions or "always"),
        *texts.more_columns,
        "considered",
        "seen",
        "hits",
        ("USED UP", "spent"),
    )

    @group.command(
        "list",
        help=f"List the {noun}s in the order in which they were armed.\n\n{texts.list_help}",
    )
    @prints(armed_columns)
    @opt.with_world
    def list_armed(world: HostingEmulator) -> Any:
        return world.control.get(world.control_path(f"{noun}s"))["items"]

    @group.command(
        help=f"Remove {noun}s.\n\n{texts.remove_help}",
        epilog=examples(f"hosting-emulator {noun} remove {noun}-1"),
    )
    @click.argument(
        "ids",
        nargs=-1,
        required=True,
        metavar=f"{noun.upper()}...",
        shell_complete=texts.ids,
    )
    @opt.with_world
    def remove(world: HostingEmulator, ids: tuple[str, ...]) -> None:
        for id_ in ids:
            world.control.delete(world.control_path(f"{noun}s", id_))
            say(f"Removed {id_}.")

    @group.command(help=f"Remove all {noun}s from the world.")
    @opt.with_world
    def clear(world: HostingEmulator) -> None:
        from hosting_emulator.sdk.text import count_text

        count = world.control.delete(world.control_path(f"{noun}s"))["removed"]
        say(f"Removed {count_text(count, noun)}.")

    @group.command(
        "kinds",
        help=f"{texts.kinds_help}\n\n"
        "The conditions have the names that scenario files use. Needs no running emulator. With --url, "
        "lists what the emulator at this address offers.",
    )
    @prints(_kinds_text)
    @opt.typed_url_options
    def list_kinds(**_: Any) -> Any:
        return opt.ask(lambda client: client.contract(f"{noun}-kinds"), texts.describe_kinds)
