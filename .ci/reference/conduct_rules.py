"""The page of the rules of conduct."""

from __future__ import annotations

from hosting_emulator.conduct.rules import PRINCIPLES, RULES
from reference.markdown import join, prose, table

INTRODUCTION = """\
`hosting-emulator conduct`, `judge`, `explore`, `exec --conduct` and the pytest plugin report requests
that break these rules. Each rule quotes the sentence on which it is based. To skip a rule, use
`--skip-rule RULE` or, with pytest, `--hosting-emulator-skip-rule RULE`. `explore` has no such option."""


def render() -> str:
    """Return the page without its title."""
    rows = [
        [f"[`{rule.id}`](#{rule.id})", rule.severity, prose(rule.title)] for rule in RULES.values()
    ]
    sections = [
        join(
            f"## {rule.id}",
            f"{prose(rule.title)} ({rule.severity}). {prose(rule.matters)}",
            f"*Because:* “{prose(rule.because)}” ({rule.place})",
            f"*Instead:* {prose(rule.instead)}",
            f"*Exceptions:* {prose(rule.exceptions)}" if rule.exceptions else "",
        )
        for rule in RULES.values()
    ]
    principles = "\n".join(f"- {prose(text)}" for text in PRINCIPLES)
    return join(
        INTRODUCTION,
        table(["rule", "severity", "what it finds"], rows),
        "## What counts",
        principles,
        *sections,
    )
