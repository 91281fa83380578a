"""Parses the effect of a fault or an outcome, which is a kind with options, from a document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from hosting_emulator.contract.documents import DocumentRefused, read_options
from hosting_emulator.faults.categories import FAULT, RuleCategory
from hosting_emulator.faults.field_hints import example_of, field_hint, option_hint
from hosting_emulator.world.partial_effects import NOTHING_ELSE_SHOWN


def check_field_names(document: Mapping[str, Any], category: RuleCategory) -> None:
    """Raise DocumentRefused if a field is neither a kind nor a field of a rule."""
    for name in document:
        if name in category.kinds or name in category.fields:
            continue
        message = _unknown_field(document, str(name), category)
        raise DocumentRefused(message, str(name))


def _unknown_field(document: Mapping[str, Any], name: str, category: RuleCategory) -> str:
    hint = field_hint(document, name, category)
    if isinstance(document[name], Mapping):
        # The value looks like the options of a kind, so report an unknown kind.
        if not hint:
            hint = f"; the kinds are {', '.join(category.kinds)}"
        return f"there is no {category.noun} {name!r}{hint}"
    return f"{category.noun_with_article} has no field {name!r}{hint}"


def only_kind(document: Mapping[str, Any], category: RuleCategory) -> str:
    """Return the kind that a document names. Raises DocumentRefused unless there is exactly one kind."""
    names = [name for name in document if name in category.kinds]
    if len(names) == 1:
        return names[0]
    rule = "an outcome needs exactly one kind"
    if category is FAULT:
        rule = "a fault needs exactly one effect"
    mistake = "none is given"
    if names:
        mistake = f"{' and '.join(names)} are given"
    raise DocumentRefused(f"{rule}: {', '.join(category.kinds)}; {mistake}")


def read_effect(kind: str, options: Any, category: RuleCategory) -> dict[str, Any]:
    """Check the options of a kind, and return the options that differ from their defaults.

    Raises DocumentRefused for invalid options.
    """
    if options is True:
        options = None
    try:
        effect = read_options(
            kind,
            options,
            category.kinds[kind],
            "option",
            " ",
            example=example_of(kind, category),
            name_hint=partial(option_hint, category=category),
        )
    except DocumentRefused as refused:
        path = kind
        if refused.field:
            path = f"{kind}.{refused.field}"
        message = str(refused)
        if refused.field.startswith("leaves"):
            message += f" ({NOTHING_ELSE_SHOWN})"
        raise DocumentRefused(message, path) from None
    checked: dict[str, Any] = msgspec.to_builtins(effect)
    return checked
