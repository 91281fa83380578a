"""Implements `outcome`, which arms, lists and removes outcomes."""

from __future__ import annotations

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
from hosting_emulator_cli.main import CommandGroup, examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.value_types import TYPED_VALUE

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator


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
    """Arm outcomes, which determine how operations proceed and end.

    For example, an outcome makes an operation fail, get stuck or await reconciliation in one of its
    phases: queued, building (only with initialize_managed_source), deploying or verifying. An
    outcome applies to the next matching operation, or to several operations with --times. At most
    one outcome applies to an operation. Outcomes that were armed earlier take precedence.
    """


@outcome.command(
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
@click.argument("kind", shell_complete=completion.OUTCOME_KINDS)
@click.argument("effect_options", nargs=-1, metavar="[OPTION=VALUE]...", type=TYPED_VALUE)
@target_options(
    "operations", "Affect only operations that this call starts, such as apply_project_domains."
)
@occasion_options("outcome", "operations", "Affect at most N operations. Default: 1.")
@prints("{value[id]}", words=armed_text)
@opt.with_world
def add(
    world: HostingEmulator,
    kind: str,
    effect_options: tuple[tuple[str, Any], ...],
    **options: Any,
) -> Any:
    """Arm an outcome for the next matching operation, and print the outcome's id.

    KIND is what happens to the operation, such as `fail` or `stick`, and OPTION=VALUE sets an
    option of the kind. `outcome kinds` lists the kinds and their options. VALUE is parsed as JSON
    if possible. Durations are in world time.
    """
    document = {kind: dict(effect_options), **rule_members(options)}
    return state_json(world.add_outcome(document).state)


add_management(
    outcome,
    ManagementTexts(
        match_header="OF",
        match_all="any operation",
        ids=completion.OUTCOMES,
        describe_kinds="hosting_emulator.faults.views:describe_outcome_kinds",
        list_help=(
            "CONSIDERED is the number of requests to start an operation that were checked against "
            "the outcome since the emulator started. SEEN is the number of operations that matched "
            "it. HITS is the number of operations to which it was applied or, with --while, on "
            "which it acted. An outcome that is USED UP is not applied to any more operations."
        ),
        remove_help=(
            "OUTCOME is the id of an outcome, such as outcome-1. An operation to which the "
            "outcome was already applied keeps it, unless the outcome is still waiting for its "
            "--while condition."
        ),
        kinds_help=(
            "List the kinds of outcomes, their options, and the conditions under which they apply."
        ),
    ),
)
