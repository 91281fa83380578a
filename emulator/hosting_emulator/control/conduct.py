"""Endpoints that report which conduct rules a world's client has broken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.watch import Watch
from hosting_emulator.conduct.world_watch import watch_of
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_log import CAPACITY
from hosting_emulator.http.endpoint import ControlRefusal
from hosting_emulator.http.query import Query, Words
from hosting_emulator.http.time_slices import LongJob
from hosting_emulator.messages import ConductReport, ConductRuleRow

#: The maximum number of exchanges to judge before other requests are handled.
_SLICE = 5


async def show_conduct(
    engine: Engine,
    skip_rules: Annotated[Words, Query("Rules to skip.")],
    final: Annotated[
        bool, Query("Include rules that can be judged only after the client has finished.")
    ] = False,
) -> ConductReport:
    """Report which conduct rules the client has broken since the start, or since the findings were
    discarded.

    `skip_rules` contains the ids of rules to skip. With `final`, the report includes the rules that
    can be judged only after the client has finished.
    """
    check_rules(skip_rules, "skip_rules")
    watch = watch_of(engine)
    await judge_in_slices([watch.current])
    return watch.look(skip_rules, final=final)


async def judge_in_slices(watches: Iterable[Watch]) -> None:
    """Judge the new exchanges in slices, so that other requests are not blocked.

    If clients keep sending requests, the latest exchanges may remain to be judged.
    """
    async with LongJob() as job:
        for watch in watches:
            # Clients may send requests faster than this loop judges them, so it judges at most as
            # many exchanges as a log can contain. The rest are judged when the report is created.
            for _ in range(CAPACITY // _SLICE):
                if not watch.judge_some(_SLICE):
                    break
                await job.pause()


def clear_conduct(engine: Engine) -> None:
    """Discard all existing conduct findings. Judging continues with the next request."""
    watch_of(engine).begin_anew()


def check_rules(ids: Sequence[str], name: str) -> None:
    """Raise ControlRefusal 400 if any of the ids is not the id of a conduct rule.

    `name` is the name of the parameter in which the ids were sent.
    """
    for id_ in ids:
        if id_ not in RULES:
            hint = nearest(id_, RULES) or "; /_emulator/contract/conduct-rules lists the rules"
            raise ControlRefusal(400, f"Bad {name}", f"there is no rule {id_[:80]!r}{hint}")


def list_rules() -> list[ConductRuleRow]:
    """List all conduct rules, with their reasons and remedies."""
    return list(RULES.values())
