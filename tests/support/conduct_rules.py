"""The rules of conduct, as far as tests outside the rules' own folder must know them."""

from __future__ import annotations

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.world_watch import watch_of
from tests.support.in_process import InProcess


def conduct_rule_ids() -> list[str]:
    """Return the ids of all rules, in the order in which they are listed."""
    return list(RULES)


def judge_all_requests(api: InProcess) -> None:
    """Let the rules judge every request of a world so far."""
    watch_of(api.engine).look()
