"""Sentences that say what changed when a scenario replaced a world, and how to go back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Context


@dataclass(frozen=True, slots=True)
class WorldBefore:
    """The properties of a world, other than its content, that a scenario changes: time, clock, seed
    and request log.

    `commit` is the latest commit before the scenario was loaded.
    """

    seed: str
    now_ms: int
    mode: str
    request_count: int
    commit: int

    @classmethod
    def of(cls, engine: Engine) -> Self:
        """Record the time, clock, seed and request log of a world."""
        now_ms = engine.run_due()
        world = engine.world
        return cls(world.seed, now_ms, world.clock.mode, engine.log.count, world.commit)


def load_notices(context: Context, engine: Engine, before: WorldBefore | None) -> list[str]:
    """Return sentences about a world into which a scenario has been loaded.

    `before` describes the world that was replaced. It is None if the world is new.
    """
    notices = []
    if before is not None:
        notices += _time_notices(engine, before)
    notices += clock_notices(context, engine)
    if before is not None:
        if engine.world.seed != before.seed:
            env = _command(context, engine, "env")
            notices.append(
                "The scenario has its own seed, so ids are different and earlier tokens are not "
                f"valid. `{env}` prints new ones."
            )
        if before.request_count:
            notices.append(
                f"The request log was emptied. It had {count_text(before.request_count, 'request')}."
            )
        rewind = _command(context, engine, f"world rewind {before.commit}")
        reset_to_default = _command(context, engine, "world reset --default")
        restart = _command(context, engine, "world reset")
        notices.append(
            f"While this emulator runs, `{rewind}` returns to the world as it was before. "
            f"`{reset_to_default}` returns to the default world, and `{restart}` to the start of this "
            "scenario."
        )
    return notices


def clock_notices(context: Context, engine: Engine) -> list[str]:
    """Return a list with a sentence that says that the clock is frozen and how to move it.

    The list is empty if the clock is not frozen.
    """
    if engine.world.clock.mode != "frozen":
        return []
    advance = _command(context, engine, "clock advance 10m")
    run = _command(context, engine, "clock run")
    return [
        "The clock is frozen, so nothing that takes time will finish on its own. "
        f"`{advance}` moves world time, and `{run}` lets it run."
    ]


def _time_notices(engine: Engine, before: WorldBefore) -> list[str]:
    notices = []
    now_ms = engine.now_ms()
    before_text = format_timestamp(before.now_ms)
    now_text = format_timestamp(now_ms)
    if now_ms < before.now_ms:
        notices.append(f"World time went back from {before_text} to {now_text}.")
    elif now_ms > before.now_ms:
        notices.append(f"World time went forward from {before_text} to {now_text}.")
    mode = engine.world.clock.mode
    if mode != before.mode:
        notices.append(f"The clock was {before.mode} and is now {mode}.")
    return notices


def _command(context: Context, engine: Engine, words: str) -> str:
    return command_line(words, context.base_url, engine.world.name)
