"""The page of verdicts and causes of the tools that judge clients and servers."""

from __future__ import annotations

from hosting_emulator_lab.contract_check import ALLOWED
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.fault_points import KINDS
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS
from reference.markdown import code, codes, join, prose, sentence, table


def render() -> str:
    """Return the page without its title."""
    verdicts = [
        [code(meaning.mark), verdict, sentence(meaning.text)]
        for verdict, meaning in VERDICT_MEANINGS.items()
    ]
    causes = [
        [code(name), text.severity, prose(sentence(text.title)), prose(text.instead)]
        for name, text in CAUSE_TEXTS.items()
    ]
    return join(
        "`hosting-emulator explore` gives each run of a client a verdict, and `hosting-emulator judge` "
        "reports causes.",
        "## Verdicts of a run",
        table(["mark", "verdict", "meaning"], verdicts),
        "## Causes",
        "A cause is one mistake of a client, however many runs show it. Causes of severity `error` and "
        "`warning` make the exit code 1. `judge` also reports findings of the "
        "[rules of conduct](conduct-rules.md) as causes.",
        table(["cause", "severity", "what the client does", "what to do"], causes),
        "## Faults that explore tries",
        f"Without `--faults`, `explore` tries these kinds: {codes(KINDS)}.",
        "## Changes that a contract check may make",
        f"`hosting-emulator contract check --allow` takes these words: {codes(ALLOWED)}.",
    )
