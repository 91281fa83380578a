"""`fault`, `outcome`, `intervene`: responses wrong on purpose, operations that fail, other changes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.main import CommandGroup
from hosting_emulator_cli.output import columns, prints, say, table

if TYPE_CHECKING:
    from hosting_emulator.sdk.text import FaultWords


def _words(fault: Mapping[str, Any]) -> FaultWords:
    from hosting_emulator.sdk.text import fault_words

    return fault_words(fault)


def _armed_words(fault: Mapping[str, Any]) -> str:
    parts = filter(None, (*_words(fault), fault.get("phase")))
    world = click.get_current_context().params["world"]
    return f"Armed {fault['id']} in world {world}: {', '.join(parts)}."


#: Which calls are meant, and when it acts (see `_written_rule`).
_who_options = opt.options(
    opt.option("--call CALL"),
    opt.option("--project PROJECT"),
    opt.option("--organization ORGANIZATION"),
    opt.option("--user principal USER"),
)
_when_options = opt.options(
    opt.option("--times N", type=int),
    opt.option("--skip-first N", type=int),
    opt.option("--every N", type=int),
    opt.option("--probability P", type=float),
    opt.option("--from from_ WHEN"),
    opt.option("--until WHEN"),
    opt.option("--ttl DURATION", type=str),
    opt.option("--while while_ NAME=VALUE", multiple=True, type=opt.TYPED_VALUE),
    opt.flag("--optional"),
)


def _written_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """Return what was given of a rule, by the names it is written with."""
    rule |= {"from": rule.pop("from_"), "while": dict(rule.pop("while_")) or None}
    rule["optional"] = rule["optional"] or None
    return {name: value for name, value in rule.items() if value is not None}


def _example(kind: Mapping[str, Any]) -> str:
    return " ".join(f"{name}={value}" for name, value in kind["example"].items()) or "-"


def _kinds_text(found: Mapping[str, Any]) -> str:
    """Write what a fault or outcome can do, can match, and when it acts."""
    effects = columns(("EFFECT", "kind"), ("EXAMPLE", _example), "about")(found["effects"])
    rows = {"MATCH": "matches", "CONDITION": "conditions", "WHILE": "while"}
    tables = [table((title, "ABOUT"), found[key].items()) for title, key in rows.items()]
    return "\n\n".join([effects, *tables])


def _manage_commands(
    group: click.Group, of: str, any_: str, *more: str, ids: opt.Complete, kinds: str, about: str
) -> None:
    """Add the commands that list and remove what is armed, and list its `kinds`.

    `of` is over what it matches, `any_` what stands there if it matches all; `more` are columns.
    """
    noun = str(group.name)
    shown = columns(
        (noun.upper(), "id"),
        ("EFFECT", lambda armed: _words(armed).effect),
        (of, lambda armed: _words(armed).matches or any_),
        ("WHEN", lambda armed: _words(armed).conditions or "always"),
        *more,
        *("considered", "seen", "hits"),
        ("USED UP", "spent"),
    )

    @group.command("list", help=f"List the {noun}s in the order they apply.")
    @prints(shown)
    @opt.with_world
    def list_(world: opt.HostingEmulator) -> Any:
        return world.control.get(world.control_path(f"{noun}s"))["items"]

    @group.command(help=f"Remove {noun}s.")
    @click.argument(
        "ids", nargs=-1, required=True, metavar=f"{noun.upper()}...", shell_complete=ids
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
        say(f"Removed {count} {noun if count == 1 else f'{noun}s'}.")

    @group.command("kinds", help=about)
    @prints(_kinds_text)
    @opt.url_options
    def list_kinds(**_: Any) -> Any:
        return opt.ask(
            lambda client: client.contract(f"{noun}-kinds"),
            f"hosting_emulator.faults.documents:{kinds}",
        )


@click.group(cls=CommandGroup)
def fault() -> None:
    """Arm and remove faults: refused, late, broken and lost responses."""


class _Add(click.Command):
    """Says of an effect's option that was written as the command's how it is written."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line. Raises NoSuchOption."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            from hosting_emulator.faults.documents import describe_kinds

            name = error.option_name.lstrip("-").replace("-", "_")
            if any(name in kind["options"] for kind in describe_kinds()["effects"]):
                message = (
                    f"No such option {error.option_name!r}: write an effect's "
                    f"options without dashes, as {name}=VALUE."
                )
                raise click.NoSuchOption(error.option_name, message, ctx=ctx) from None
            raise


@fault.command(cls=_Add)
@click.argument("effect", required=False, shell_complete=opt.FAULT_KINDS)
@click.argument("taken", nargs=-1, metavar="[OPTION=VALUE]...", type=opt.TYPED_VALUE)
@_who_options
@opt.option("--method METHOD")
@opt.option("--path PATTERN")
@opt.option("--header NAME=PATTERN", multiple=True)
@opt.option("--query NAME=PATTERN", multiple=True)
@opt.option("--body PATH=VALUE", multiple=True, type=opt.TYPED_VALUE)
@opt.option("--credentials CREDENTIALS")
@_when_options
@opt.option("--after-commit/--before-commit after")
@opt.option("--json-fault JSON")
@prints("{value[id]}", words=_armed_words)
@opt.with_world
def add(
    world: opt.HostingEmulator,
    effect: str | None,
    taken: tuple[tuple[str, Any], ...],
    json_fault: str | None,
    **rule: Any,
) -> Any:
    """Arm a fault and print its id."""
    after = rule.pop("after")
    rule["phase"] = None if after is None else "after_commit" if after else "before_commit"
    rule |= {name: dict(rule[name]) or None for name in ("header", "query", "body")}
    written = _written_rule(rule)
    if (effect is None) == (json_fault is None):
        raise click.UsageError("give either EFFECT or --json-fault")
    if effect is not None:
        return world.arm({effect: dict(taken), **written}).state
    if written:
        raise click.UsageError("give --json-fault alone: it contains the whole fault")
    try:
        document = json.loads(str(json_fault))
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--json-fault") from error
    if not isinstance(document, dict):
        message = 'write an object, such as {"timeout": {}, "times": 1}'
        raise click.BadParameter(message, param_hint="--json-fault")
    return world.arm(document).state


_manage_commands(
    *(fault, "MATCHES", "everything", "phase"),
    ids=opt.FAULTS,
    kinds="describe_kinds",
    about="List what faults can do, what they match and when they act.",
)


@click.group(cls=CommandGroup)
def outcome() -> None:
    """Set in advance how an operation ends: it fails, is stuck, waits for reconciliation."""


@outcome.command("add")
@click.argument("kind", shell_complete=opt.OUTCOME_KINDS)
@click.argument("taken", nargs=-1, metavar="[OPTION=VALUE]...", type=opt.TYPED_VALUE)
@_who_options
@_when_options
@prints("{value[id]}", words=_armed_words)
@opt.with_world
def add_outcome(
    world: opt.HostingEmulator, kind: str, taken: tuple[tuple[str, Any], ...], **rule: Any
) -> Any:
    """Set in advance how the next operation ends, and print the outcome's id."""
    return world.tell({kind: dict(taken), **_written_rule(rule)}).state


_manage_commands(
    *(outcome, "OF", "any operation"),
    ids=opt.OUTCOMES,
    kinds="describe_outcome_kinds",
    about="List the kinds of outcomes, and what they match.",
)


def _field_names(kind: Mapping[str, Any]) -> str:
    fields = kind["fields"]
    return " ".join(each["name"] if each["required"] else f"[{each['name']}]" for each in fields)


_intervention_columns = columns("word", ("FIELDS ([] is optional)", _field_names), "about")


@click.command()
@click.argument("name", shell_complete=opt.INTERVENTIONS)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=opt.TYPED_VALUE)
@opt.flag("--all everything")
@prints(
    lambda found: _intervention_columns(found) if isinstance(found, list) else None,
    words=lambda done: (
        None if isinstance(done, list) else f"{done['said'][:1].upper()}{done['said'][1:]}."
    ),
)
@opt.world_option
@opt.url_options
def intervene(
    world: str,
    name: str,
    fields: tuple[tuple[str, Any], ...],
    everything: bool,
    **_: Any,
) -> Any:
    """Change a world: stick an operation, expire a ticket, move DNS, set a plan."""
    if name == "kinds":
        if fields or everything:
            raise click.UsageError("`intervene kinds` takes no fields")
        return opt.ask(
            lambda client: client.contract("interventions"),
            "hosting_emulator.faults.interventions:describe_interventions",
        )
    given = dict(fields)
    if everything:
        given["all"] = True
    said = opt.ask(lambda client: client.world(world).intervene(name, **given))
    return {"intervention": name, "said": said}
