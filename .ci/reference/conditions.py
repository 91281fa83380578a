"""The page of conditions, which select the requests for a fault or an outcome, and the time when it acts."""

from __future__ import annotations

from hosting_emulator.faults.views import describe_kinds, describe_outcome_kinds
from reference.markdown import docstring, join, prose, sentence, table
from reference.triggers import DEFINITIONS, LINKS
from reference.value_types import type_words

INTRODUCTION = """\
A *trigger* is a fault, an outcome or an entry of a scenario's timeline that waits to act. In addition
to the options of its kind, each fault and outcome can have these conditions. In a scenario file and in
the control API, they are keys beside the kind (`skip_first: 2`). On the command line, they are options
of the same names (`--skip-first 2`), except that `principal` is `--user` and `pauses` is `--pause`.
`hosting-emulator triggers` shows what each trigger is waiting for.

An outcome has fewer conditions than a fault, because it applies to operations, not to requests.

A trigger acts only if all its keys match and all its conditions hold. `every: 3` selects the third
matching request, the sixth, and so on. After `skip_first: 1`, it selects the fourth and the seventh. A
request is *considered* when it is checked against a trigger, *seen* if it matches, and a *hit* if the
trigger acts on it. A fault is refused if no call could match its `call`, `method` and `path`, for
example without `call` and with a path outside `/v1`."""

WHEN_A_CONDITION_IS_READ = """\
A fault evaluates the condition when a request arrives. After the commit, it uses the state after the
request's own change: with `after_commit` and `while: {flag: true}`, the fault acts on a request that
switches the flag on, but not on one that switches it off. The outcome `succeed` evaluates the condition
when its operation starts. Other outcomes evaluate it when a phase of the operation begins, and at each
change to the world. `times` then counts the operations on which the outcome acted, and an operation
waits for at most one outcome."""


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
