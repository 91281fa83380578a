"""Access to the rules of conduct for tests of other packages."""

from __future__ import annotations

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.world_watch import watch_of
from tests.support.in_process import InProcess


def conduct_rule_ids() -> list[str]:
    """Return the ids of all rules, in the order of the rule list."""
    return list(RULES)


def judge_all_requests(api: InProcess) -> None:
    """Let the rules judge all requests that a world has received so far."""
    watch_of(api.engine).look()
