"""The rules of conduct, as far as tests outside the rules' own folder must know them."""

from __future__ import annotations

from hosting_emulator.conduct.rules import RULES


def conduct_rule_ids() -> list[str]:
    """Return the ids of all rules, in the order in which they are listed."""
    return list(RULES)
