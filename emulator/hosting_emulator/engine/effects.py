"""The effects that an exchange waits for: the passing of time, or a change being stored on disk."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Generator
from dataclasses import dataclass
from types import coroutine
from typing import TypeAlias

from hosting_emulator.calls.request import Reply


@dataclass(frozen=True, slots=True)
class Delay:
    """An effect that waits for `ms` real milliseconds.

    If `is_done` is true, the call is complete and only its response is still waiting.
    """

    ms: int
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class Durable:
    """An effect that waits until a change is stored on disk.

    `await_durable()` returns an awaitable that may raise OSError, or None if there is nothing to
    wait for.
    """

    await_durable: Callable[[], Awaitable[None] | None]


#: An exchange in progress. If its `wait` function is `yield_effect`, the coroutine yields its
#: effects.
Exchange: TypeAlias = Coroutine[Delay | Durable, None, Reply]
Wait: TypeAlias = Callable[[Delay | Durable], Awaitable[None]]


@coroutine
def yield_effect(effect: Delay | Durable) -> Generator[Delay | Durable, None, None]:
    """Yield an effect to the caller, which drives the exchange with `send`."""
    yield effect


def run_through(exchange: Exchange) -> Reply:
    """Run an exchange to completion without waiting for its effects, and return the response."""
    try:
        while True:
            exchange.send(None)
    except StopIteration as stop:
        reply: Reply = stop.value
        return reply
