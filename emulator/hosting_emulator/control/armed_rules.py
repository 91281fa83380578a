"""Arms, shows and removes a world's faults and outcomes.

In this module, a rule is either a fault or an outcome, depending on its category.
"""

from __future__ import annotations

from collections.abc import Callable

from hosting_emulator.contract.documents import DocumentRefused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.views import armed_document
from hosting_emulator.http.endpoint import ControlRefusal, refused_as, require
from hosting_emulator.messages import FaultsRemoved, JsonObject
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import World


def list_rules(engine: Engine, category: RuleCategory) -> list[JsonObject]:
    """Return the armed rules in a category, in the order in which they apply."""
    now_ms = engine.run_due()
    engine.protect()
    rules = faults_in_order(engine.world, category.table)
    return [
        rule_document(
            engine, engine.world, rule, now_ms, category, is_protected=engine.is_protected(rule.id)
        )
        for rule in rules
    ]


def arm_rule(
    engine: Engine,
    document: JsonObject,
    category: RuleCategory,
    check: Callable[[Fault], None] = lambda _: None,
) -> JsonObject:
    """Arm a rule. It applies after all rules that are already armed. Raises ControlRefusal.

    `check` can raise ControlRefusal to reject the rule.
    """
    change = engine.begin_change()
    with refused_as(400, f"{category.noun.capitalize()} refused", DocumentRefused):
        rule = arm(change, document, category)
    check(rule)
    engine.commit(change, f"{rule.id} armed", {category.noun: document})
    return rule_document(engine, engine.world, rule, change.now_ms, category)


def show_rule(engine: Engine, rule_id: str, category: RuleCategory) -> JsonObject:
    """Return the armed rule with this id. Raises ControlRefusal 404 if there is none."""
    rules = {rule["id"]: rule for rule in list_rules(engine, category)}
    detail = category.unknown_id_message(rule_id[:80], rules)
    return require(rules.get(rule_id), f"No such {category.noun}", detail)


def remove_rule(engine: Engine, rule_id: str, category: RuleCategory) -> None:
    """Remove an armed rule.

    Raises ControlRefusal 404 if there is no such rule, or 409 if the rule is protected.
    """
    show_rule(engine, rule_id, category)
    if engine.is_protected(rule_id):
        message = f"{rule_id} is protected: only the program that armed it can remove it"
        raise ControlRefusal(409, "Not removed", message)
    change = engine.begin_change()
    change.delete(category.table, rule_id)
    engine.commit(change, f"{category.noun}s removed", {f"remove_{category.noun}": rule_id})


def clear_rules(engine: Engine, category: RuleCategory) -> FaultsRemoved:
    """Remove all rules in a category except protected ones, and return how many were removed."""
    change = engine.begin_change()
    rules = [
        rule
        for rule in faults_in_order(engine.world, category.table)
        if not engine.is_protected(rule.id)
    ]
    for rule in rules:
        change.delete(category.table, rule.id)
    engine.commit(change, f"{category.noun}s removed", {f"clear_{category.noun}s": True})
    return FaultsRemoved(removed=len(rules))


def rule_document(
    engine: Engine,
    world: World,
    rule: Fault,
    now_ms: int,
    category: RuleCategory,
    *,
    is_protected: bool = False,
) -> JsonObject:
    """Convert a rule to a JSON object for the control API.

    The rule's counts come from `engine`.
    """
    usage = engine.usage.of(rule.id)
    return armed_document(world, rule, now_ms, usage, category, is_protected=is_protected)
