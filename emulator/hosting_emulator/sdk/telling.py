"""What an assertion on requests says when it fails: expected, made, and what is nearest.

It writes text only; whether something failed is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator.sdk.filters import Wanted, answer_of
from hosting_emulator.sdk.made import RecordedRequest
from hosting_emulator.sdk.wording import aligned, asked, counted

#: More rows than these bury what matters; the newest are shown.
_ROWS = 20
_NEAREST = 3


@dataclass(frozen=True)
class Log:
    """What is held of the requests of a world: `lost` older ones have left the ring."""

    world: str
    base_url: str
    held: Sequence[RecordedRequest]
    lost: int


@dataclass(frozen=True)
class Count:
    """How often is right; None is no bound."""

    least: int | None
    most: int | None

    def allows(self, found: int) -> bool:
        """Whether so many are right."""
        enough = self.least is None or found >= self.least
        return enough and (self.most is None or found <= self.most)

    def words(self) -> str:
        """Say how often is right."""
        if self.most == 0:
            return "not to be made"
        if self.most is None:
            return (
                f"to be made{'' if self.least in (None, 1) else f' at least {_often(self.least)}'}"
            )
        if self.least == self.most:
            return f"to be made {_often(self.most)}"
        if not self.least:
            return f"to be made at most {_often(self.most)}"
        return f"to be made {self.least} to {self.most} times"


def miscounted(wanted: Wanted, count: Count, matching: list[RecordedRequest], log: Log) -> str:
    """Say that requests were made too often or too seldom."""
    lines = [
        f"expected {wanted.words()} {count.words()}, but it was {_made(len(matching))}",
        *_nearest(wanted, log.held if count.least and len(matching) < count.least else ()),
        *_table(log, {made.n for made in matching}),
    ]
    return "\n".join(lines)


def untellable(wanted: Wanted, count: Count, matching: list[RecordedRequest], log: Log) -> str:
    """Say that the count is right as far as the log goes back, and that this proves nothing."""
    lines = [
        f"expected {wanted.words()} {count.words()}, which cannot be told any more: the log holds "
        f"the last {counted(len(log.held), 'request')}, {log.lost:,} older ones have left it",
        f"in those it was {_made(len(matching))}; take `requests.from_now()` before what you count",
    ]
    return "\n".join(lines)


def not_all_well(failed: list[RecordedRequest], log: Log) -> str:
    """List the requests that failed, each with why."""
    lines = [f"expected every request to succeed, but {len(failed)} of {len(log.held)} did not", ""]
    shown = failed[-_ROWS:]
    if len(failed) > len(shown):
        lines.append(f"  … {counted(len(failed) - len(shown), 'earlier one')} left out")
    rows = [
        [f"  #{made.n}", asked(made.method, made.call, made.path), made.who or "-", answer_of(made)]
        for made in shown
    ]
    for made, line in zip(shown, aligned(rows), strict=True):
        lines.append(line)
        lines += [f"      {sentence}" for sentence in made.why]
    return "\n".join(lines)


def _nearest(wanted: Wanted, held: Sequence[RecordedRequest]) -> list[str]:
    # Nobody is near who shares nothing with what is wanted, but for a call that was misspelt.
    ranked = [
        (len(misses) + ("call" in misses), made, misses)
        for made in held
        if (misses := wanted.misses(made))
        and (len(misses) < wanted.points or ("call" in misses and made.call is None))
    ]
    if not ranked:
        return []
    least = min(far for far, _, _ in ranked)
    nearest = [(made, misses) for far, made, misses in ranked if far == least]
    lines = ["", "nearest:"]
    for made, misses in nearest[-_NEAREST:]:
        differs = ", and ".join(wanted.found(made, name) for name in misses)
        why = f" ({'; '.join(made.why)})" if made.failed and made.why else ""
        lines.append(f"  #{made.n} {differs}{why}")
    return lines


def _table(log: Log, marked: set[int]) -> list[str]:
    if not log.held:
        return ["", f"no request has reached this world; its base URL is {log.base_url}"]
    shown = log.held[-_ROWS:]
    left_out = len(log.held) - len(shown) + log.lost
    lines = ["", f"made in world {log.world}{', > are those counted' if marked else ''}:"]
    if left_out:
        lines.append(f"    … {counted(left_out, 'earlier request')} left out")
    rows = [
        [
            f"  {'>' if made.n in marked else ' '} #{made.n}",
            asked(made.method, made.call, made.path),
            made.who or "-",
            answer_of(made),
            f"key {made.idempotency_key}" if made.idempotency_key else "",
        ]
        for made in shown
    ]
    return [*lines, *aligned(rows)]


def _made(times: int) -> str:
    return f"made {_often(times)}" if times else "never made"


def _often(times: int | None) -> str:
    return {1: "once", 2: "twice"}.get(times or 0, f"{times:,} times")
