"""`fault` and `intervene`: calls answered wrongly on purpose, and a world changed from outside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import completion
from hosting_emulator_cli import options as opt
from hosting_emulator_cli.groups import CommandGroup
from hosting_emulator_cli.output import columns, prints, say, table
from hosting_emulator_cli.parameters import TYPED_VALUE

if TYPE_CHECKING:
    from hosting_emulator.sdk.text import FaultWords


def words(fault: Mapping[str, Any]) -> FaultWords:
    """Return a fault or outcome as people read it."""
    from hosting_emulator.sdk.text import fault_words

    return fault_words(fault)


def armed_words(fault: Mapping[str, Any]) -> str:
    """Say that a fault or outcome is armed."""
    parts = (*words(fault), fault.get("phase"))
    world = click.get_current_context().params["world"]
    return f"Armed {fault['id']} in world {world}: {', '.join(filter(None, parts))}."


# --- fault ---------------------------------------------------------------------------------------


@click.group(cls=CommandGroup)
def fault() -> None:
    """Arm and remove faults: refused, late, broken and lost responses."""


_WHEN = (
    opt.option("--times N", type=int),
    opt.option("--skip-first N", type=int),
    opt.option("--every N", type=int),
    opt.option("--probability P", type=float),
    opt.option("--from from_ WHEN"),
    opt.option("--until WHEN"),
    opt.option("--ttl DURATION", type=str),
    opt.option("--while while_ NAME=VALUE", multiple=True, type=TYPED_VALUE),
)


def when_options(command: opt.F) -> opt.F:
    """Give a command the options that say when a fault or outcome acts (see `written_rule`)."""
    for option in reversed(_WHEN):
        command = option(command)
    return command


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
@click.argument("effect", required=False, shell_complete=completion.FAULT_KINDS)
@click.argument("taken", nargs=-1, metavar="[OPTION=VALUE]...", type=TYPED_VALUE)
@opt.option("--call CALL")
@opt.option("--project PROJECT")
@opt.option("--organization ORGANIZATION")
@opt.option("--principal WHO")
@opt.option("--method METHOD")
@opt.option("--path PATTERN")
@opt.option("--header NAME=PATTERN", multiple=True)
@opt.option("--query NAME=PATTERN", multiple=True)
@opt.option("--body PATH=VALUE", multiple=True, type=TYPED_VALUE)
@opt.option("--credentials CREDENTIALS")
@when_options
@opt.option("--after-commit/--before-commit after")
@opt.option("--json-fault JSON")
@prints("{value[id]}", words=armed_words)
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
    written = written_rule(rule)
    if (effect is None) == (json_fault is None):
        raise click.UsageError("give either EFFECT or --json-fault")
    if effect is not None:
        document = {effect: dict(taken), **written}
    elif written:
        raise click.UsageError("give --json-fault alone: it contains the whole fault")
    else:
        document = _parsed(str(json_fault))
    return world.arm(document).state


def written_rule(rule: dict[str, Any]) -> dict[str, Any]:
    """Return what was given of a rule, by the names it is written with."""
    rule |= {"from": rule.pop("from_"), "while": dict(rule.pop("while_")) or None}
    return {name: value for name, value in rule.items() if value is not None}


def _parsed(text: str) -> dict[str, Any]:
    import json

    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"not JSON: {error}", param_hint="--json-fault") from error
    if not isinstance(found, dict):
        message = 'write an object, such as {"timeout": {}, "times": 1}'
        raise click.BadParameter(message, param_hint="--json-fault")
    return found


def manage_commands(group: click.Group, shown: Mapping[str, Any], ids: completion.Complete) -> None:
    """Add to `fault` or `outcome` the commands that list and remove what is armed; `shown` are columns."""
    noun = str(group.name)

    @group.command("list", help=f"List the {noun}s in the order they apply.")
    @prints(
        columns({noun.upper(): "id", **shown, "SEEN": "seen", "HITS": "hits", "USED UP": "spent"})
    )
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


manage_commands(
    fault,
    {
        "EFFECT": lambda found: words(found).effect,
        "MATCHES": lambda found: words(found).matches or "everything",
        "WHEN": lambda found: words(found).conditions or "always",
        "PHASE": "phase",
    },
    completion.FAULTS,
)


_kind_columns = columns(
    {
        "EFFECT": "kind",
        "EXAMPLE": lambda kind: " ".join(f"{k}={v}" for k, v in kind["example"].items()) or "-",
        "ABOUT": "about",
    }
)


def kinds_text(found: Mapping[str, Any]) -> str:
    """Write what a fault or outcome can do, can match, and when it acts."""
    return "\n\n".join(
        [
            _kind_columns(found["effects"]),
            table(("MATCH", "ABOUT"), found["matches"].items()),
            table(("CONDITION", "ABOUT"), found["conditions"].items()),
            table(("WHILE", "ABOUT"), found["while"].items()),
        ]
    )


@fault.command()
@prints(kinds_text)
@opt.with_or_without_client
def kinds(ask: opt.Ask) -> Any:
    """List what faults can do, what they match and when they act."""
    return ask(
        lambda client: client.contract("fault-kinds"),
        "hosting_emulator.faults.documents:describe_kinds",
    )


# --- intervene -----------------------------------------------------------------------------------


_intervention_columns = columns(
    {
        "WORD": "word",
        "FIELDS ([] is optional)": lambda kind: " ".join(
            field["name"] if field["required"] else f"[{field['name']}]" for field in kind["fields"]
        ),
        "ABOUT": "about",
    }
)


@click.command()
@click.argument("word", required=False, shell_complete=completion.INTERVENTIONS)
@click.argument("fields", nargs=-1, metavar="[FIELD=VALUE]...", type=TYPED_VALUE)
@opt.flag("--all everything")
@opt.flag("--list listing")
@prints(
    lambda found: _intervention_columns(found) if isinstance(found, list) else None,
    words=lambda done: (
        None if isinstance(done, list) else f"{done['said'][:1].upper()}{done['said'][1:]}."
    ),
)
@opt.world_option
@opt.with_or_without_client
def intervene(
    ask: opt.Ask,
    world: str,
    word: str | None,
    fields: tuple[tuple[str, Any], ...],
    everything: bool,
    listing: bool,
) -> Any:
    """Change a world: stick an operation, expire a ticket, move DNS, set a plan."""
    if listing == (word is not None):
        raise click.UsageError("give either WORD or --list")
    if word is not None:
        given = dict(fields) | ({"all": True} if everything else {})
        said = ask(lambda client: client.world(world).intervene(str(word), **given))
        return {"intervention": word, "said": said}
    return ask(
        lambda client: client.contract("interventions"),
        "hosting_emulator.interventions:describe_interventions",
    )
