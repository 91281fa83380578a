"""Hints about unknown fields in a fault or an outcome. A hint names the field, option or kind to
use instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory

#: Maps words that are used in other tools or on our command line to the equivalent fields and
#: kinds.
_OTHER_WORDS = {
    "user": "principal",
    "actor": "principal",
    "caller": "principal",
    "org": "organization",
    "endpoint": "call",
    "operation": "call",
    "operation_id": "call",
    "url": "path",
    "headers": "header",
    "params": "query",
    "auth": "credentials",
    "count": "times",
    "hits": "times",
    "repeat": "times",
    "skip": "skip_first",
    "nth": "every",
    "chance": "probability",
    "percent": "probability",
    "percentage": "probability",
    "rate": "probability",
    "start": "from",
    "since": "from",
    "end": "until",
    "duration": "until",
    "lasts": "until",
    "ttl": "until",
    "when": "while",
    "if": "while",
    "commit": "after_commit",
    "commit_phase": "after_commit",
    "phase": "after_commit",
    "stage": "after_commit",
    "delay": "latency",
    "error": "abort",
    "problem": "abort",
    "reset": "connection_reset",
    "disconnect": "connection_reset",
    "response": "respond",
    "reply": "respond",
    "stuck": "stick",
    "failure": "fail",
    "canceled": "cancel",
    "cancelled": "cancel",
}
#: The command-line options for fields whose options have different names.
_OPTIONS = {"principal": "--user", "pauses": "--pause"}
#: The code in the contract for an operation that failed. No problem has this code.
_FAILED_OPERATION = "operation_failed"
#: The names that other tools use for the field that contains the kind.
_WORDS_FOR_KIND = ("effect", "kind", "type", "action", "fault", "outcome")


def field_hint(document: Mapping[str, Any], name: str, category: RuleCategory) -> str:
    """Return a hint about an unknown field in a document, or an empty string if there is none."""
    for kind, options in category.kinds.items():
        if kind in document and name in options.__struct_encode_fields__:
            return f"; {name} is an option of {kind}, as in {kind}: {{{name}: …}}"
    if name in ALL_CALLS:
        return f"; {name} is a call: write call: {name} beside one of the kinds"
    field = _OTHER_WORDS.get(name)
    if field in category.kinds or field in category.fields:
        return f"; did you mean {field}?"
    if name in PROBLEMS:
        kind = "abort" if category is FAULT else "fail"
        return f"; {name} is a problem code, so write {kind} code={name}"
    if name == _FAILED_OPERATION and category is OUTCOME:
        return f"; {name} is an error code, so write fail code={name}"
    if name == "before_commit" and "after_commit" in category.fields:
        return "; a fault acts before the commit unless after_commit is true"
    if name in _WORDS_FOR_KIND:
        return _kind_hint(document[name], category)
    return nearest(name, [*category.kinds, *category.fields])


def option_hint(name: str, options: Sequence[str], category: RuleCategory) -> str:
    """Return a hint about a name that is not among the options of a kind, or an empty string.

    If the name means a field of the rule, the hint says so, and suggests an option only if the name
    is its singular, as `header` is for `headers`. Otherwise, the hint suggests the nearest option.
    """
    hint = _rule_field_hint(name, category)
    if not hint or f"{name}s" in options:
        hint = nearest(name, options) + hint
    return hint


def _rule_field_hint(name: str, category: RuleCategory) -> str:
    """Return a hint that an unknown option is a field of the rule and must be written next to the kind.

    Return an empty string if rules have no such field.
    """
    field = name
    if name not in category.fields:
        field = _OTHER_WORDS.get(name, "")
    if field not in category.fields:
        return ""
    option = _OPTIONS.get(field, f"--{field.replace('_', '-')}")
    return f"; write {field} next to the kind, not inside it (on the command line, use {option})"


def _kind_hint(value: Any, category: RuleCategory) -> str:
    """Return a hint about how a document names its kind.

    If `value` is the name of a kind, the hint's example uses that kind.
    """
    kind = "connection_reset" if category is FAULT else "fail"
    if isinstance(value, str) and value in category.kinds:
        kind = value
    return f"; the kind is itself a key, as in {kind}: {example_of(kind, category)}"


def example_of(kind: str, category: RuleCategory) -> str:
    """Return example options of a kind, as JSON that is also valid YAML."""
    return json.dumps(category.kinds[kind].example)
