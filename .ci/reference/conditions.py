"""The page of conditions, which select the requests for a fault or an outcome, and the time when it acts."""

from __future__ import annotations

from hosting_emulator.faults.views import describe_kinds, describe_outcome_kinds
from reference.markdown import docstring, join, prose, sentence, table
from reference.triggers import DEFINITIONS, LINKS
from reference.value_types import type_words

INTRODUCTION = """\
A *trigger* is a fault, an outcome or an entry of a scenario's timeline that waits to act. Each
fault and outcome can have these conditions, beside the options of its kind. The command line writes
them as options (`--skip-first 2`), a scenario file and the control API as keys beside the kind
(`skip_first: 2`). `hosting-emulator triggers` shows what each trigger waits for.

An outcome has fewer conditions than a fault, because it looks at operations, and not at requests.

All keys that a trigger names must match, and all conditions must allow it to act. `every: 3` is the
third matching request, the sixth and so on, and after `skip_first: 1` the fourth, the seventh. A
request that a trigger is compared with is *considered*, a matching one is *seen*, and an action is a
*hit*. A fault that no call can match is refused, such as one with a path outside `/v1`."""

WHEN_A_CONDITION_IS_READ = """\
A fault reads the condition when a request arrives. After the commit, it sees the state after the
request's own change: with `after_commit` and `while: {flag: true}`, it acts on the request that
switches the flag on, and not on the one that switches it off. An outcome reads the condition when a
phase of its operation begins, and at each change of the world. `times` then counts the operations on
which it acted, and an operation waits for at most one outcome."""


def render() -> str:
    """Return the page without its title."""
    faults = describe_kinds()
    outcomes = describe_outcome_kinds()
    properties = DEFINITIONS["Fault"]["properties"]

    def rows(words: dict[str, str], outcome_words: dict[str, str]) -> list[list[str]]:
        return [
            [
                f"`{name}`",
                type_words(properties[name], LINKS),
                "fault, outcome" if name in outcome_words else "fault",
                prose(sentence(text)),
            ]
            for name, text in words.items()
        ]

    head = ["key", "value", "of", "meaning"]
    world = DEFINITIONS["Condition"]
    return join(
        INTRODUCTION,
        "## Which requests",
        table(head, rows(faults.matches, outcomes.matches)),
        "## When, and how often",
        table(head, rows(faults.conditions, outcomes.conditions)),
        "## Conditions on the world",
        f"These are the keys of `while`. {docstring(world['description'])}",
        WHEN_A_CONDITION_IS_READ,
        table(
            ["key", "value", "meaning"],
            [
                [f"`{name}`", type_words(field, LINKS), prose(sentence(field["description"]))]
                for name, field in world["properties"].items()
            ],
        ),
    )
