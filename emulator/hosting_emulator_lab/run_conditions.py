"""The conditions that differ between the runs of one client, besides the fault in a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

#: A clock that a judge chooses for a run.
JudgeClock: TypeAlias = Literal["skip", "scaled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunConditions:
    """The conditions of one run.

    `clock` is the mode of the world's clock, with `rate` seconds of world time per real second if
    the mode is `scaled`. If `clock` is None, the clock is the one in the user's settings.

    `vary` is the seed of a variation of the responses, at the variation points in `vary_only` or, if
    that is empty, at all points. If `vary` is None, responses vary only if the user's settings say so.

    `operation_profile` is how operations progress, such as `timed 1s 0s`. It applies only where the
    user's settings leave the default. If it is empty, operations progress as the settings say.

    If `next_poll_s` is not None, responses ask for the next poll of an operation after this many
    seconds, whatever the operation waits for.

    If `has_base_path` is true, the base URL has a path, `/worlds/{world}`, as for every world
    except `default`. A request without this path reaches the `default` world.
    """

    clock: JudgeClock | None = None
    rate: float = 1.0
    vary: str | None = None
    vary_only: tuple[str, ...] = ()
    operation_profile: str = ""
    next_poll_s: int | None = None
    has_base_path: bool = False


class RunsStopped(Exception):
    """The run was stopped early, or not begun, so it has no result."""


#: Operations end at the first poll, one second of world time after they were accepted. A client that
#: waits as long as a response says then waits one real second per run.
ONE_POLL = "timed 1s 0s"
#: Operations are polled in each of their phases.
ALL_PHASES = "timed 1s 1s"
#: The conditions of a judge's run in which polling moves the time, such as the first clean run.
USUAL_CONDITIONS = RunConditions(clock="skip", operation_profile=ONE_POLL)
#: The conditions of an ordinary run.
ORDINARY = RunConditions()
