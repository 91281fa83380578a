"""`wait`: block until the emulator answers.

Also the container's health check, run every few seconds: it must stay light.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import click

from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import (
    connected,
    control_token_option,
    examples,
    url_option,
)
from hosting_emulator_cli.values import duration_ms, read_with

#: Real time between two attempts.
POLL_S = 0.05
#: One attempt may hang this long (a listening socket that nobody serves) before the next.
ATTEMPT_S = 2.0


class NotUp(click.ClickException):
    """The time is over: one line and exit code 1."""

    exit_code = 1


@click.command(
    epilog=examples("hosting-emulator start --quiet & hosting-emulator wait --timeout 10s")
)
@click.option(
    "--timeout",
    "timeout_ms",
    callback=read_with(duration_ms),
    default="30s",
    show_default=True,
    metavar="DURATION",
    help="Give up after this much real time, such as 500ms, 30s or 2m.",
)
@url_option
@control_token_option
def wait(timeout_ms: int, url: str, control_token: str | None) -> None:
    """Wait until the emulator answers.

    Exit code 0 as soon as it does; 1, with one line, when the time is over.
    """

    def attempt(timeout_s: float) -> None:
        with connected(url, control_token, timeout_s=timeout_s) as client:
            client.health()

    reason = wait_until(attempt, timeout_s=timeout_ms / 1000)
    if reason is not None:
        raise NotUp(reason)


def wait_until(
    attempt: Callable[[float], None],
    *,
    timeout_s: float,
    now: Callable[[], float] | None = None,
    sleep: Callable[[float], None] | None = None,
) -> str | None:
    """Attempt until it succeeds, and return None; else what failed last, when time is over.

    There is always one attempt; each is told how many seconds it may take. `now` and `sleep` stand
    for the machine's.
    """
    now, sleep = now or time.monotonic, sleep or time.sleep
    left, end = timeout_s, now() + timeout_s
    while True:
        try:
            attempt(min(ATTEMPT_S, max(left, POLL_S)))
        except Failure as failure:
            left = end - now()
            if left <= 0:
                return failure.message
        else:
            return None
        sleep(min(POLL_S, left))
        left = end - now()
