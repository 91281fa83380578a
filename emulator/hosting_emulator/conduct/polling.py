"""Polling: as often as the service asks for, and no longer than to the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Recent, Rule, found
from hosting_emulator.conduct.seen import ENDED, Seen, shown_wait, waited

TOO_EARLY = Rule(
    id="polled-too-early",
    severity="warning",
    title="Polled before next_poll_after_seconds was over",
    because="progress object: [...] next_poll_after_seconds (integer; a value of 60 appears)",
    place=f"{CONTRACT}, Resources, Operation",
    matters="Nothing new can be learnt so soon; many clients that poll like this are rate limited, "
    "and then learn later what they could have known.",
    instead="Wait next_poll_after_seconds of the last answer before asking again.",
)
AFTER_END = Rule(
    id="polled-after-end",
    severity="warning",
    title="Polled an operation that has ended",
    because="States: queued, running, succeeded, failed, cancelled.",
    place=f"{CONTRACT}, States and transitions, Operation.state",
    matters="What has ended does not change: a loop that does not see the end may never stop.",
    instead="Stop polling at succeeded, failed or cancelled, whichever comes.",
)

#: Who asks again so soon after the end did not see it.
_AT_ONCE_MS = 1000
#: An operation, as one client sees it.
_Place = tuple[bytes, str]


class TooEarly(Judge):
    """A poll sooner than the last answer about the operation asked for.

    Not judged in a world whose clock skips: there a poll moves time itself.
    """

    rules = (TOO_EARLY,)

    def __init__(self) -> None:
        self._told: Recent[_Place, tuple[Seen, int]] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Hold each poll against what was last said of polling."""
        if seen.who is None:
            return
        if seen.call == "get_operation" and seen.world.clock.mode != "skip":
            told = self._told.get((seen.credentials, str(seen.entry.operation)))
            if told is not None and not waited(told[0], seen, told[1] * 1000):
                yield self._found(*told, seen)
        operation = seen.operation()
        if operation is None:
            return
        place = (seen.credentials, operation["id"])
        if seen.entry.replayed and place in self._told:  # it says what was said before
            return
        seconds = _next_poll_s(operation)
        if seconds is None:
            self._told.pop(place, None)
        else:
            self._told.keep(place, (seen, seconds))

    def _found(self, before: Seen, seconds: int, seen: Seen) -> Finding:
        return found(
            TOO_EARLY,
            [before, seen],
            f"Operation {seen.entry.operation} was to be polled after {seconds} s (#{before.n}), and "
            f"was polled after {shown_wait(before, seen)} (#{seen.n}).",
            group=(seen.credentials, seen.entry.operation),
        )


def _next_poll_s(operation: dict[str, object]) -> int | None:
    progress = operation.get("progress")
    told = progress.get("next_poll_after_seconds") if isinstance(progress, dict) else None
    return told if isinstance(told, int) and not isinstance(told, bool) else None


@dataclass(slots=True)
class _End:
    """An end that was heard of: first, and last; and how often it was asked for since."""

    first: Seen
    last: Seen
    again: int = 0
    #: An earlier answer came again, as to a client that begins anew: it has to look once more.
    anew: bool = False
    begun_anew: bool = False


class AfterEnd(Judge):
    """A poll after the client heard how the operation ended.

    Once, and not at once, it may be another program that looks: a note. More of it is a loop.
    """

    rules = (AFTER_END,)

    def __init__(self) -> None:
        self._ended: Recent[_Place, _End] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Hold each poll against the last state that was heard."""
        if seen.who is None:
            return
        if seen.call == "get_operation":
            place = (seen.credentials, str(seen.entry.operation))
            end = self._ended.get(place)
            if end is not None and end.anew:
                end.anew = False
            elif end is not None:
                yield _again(end, seen, place)
        self._learn(seen)

    def _learn(self, seen: Seen) -> None:
        operation = seen.operation()
        if operation is None:
            return
        place = (seen.credentials, operation["id"])
        end = self._ended.get(place)
        if operation.get("state") in ENDED:
            if end is None:
                self._ended.keep(place, _End(seen, seen))
            else:
                end.last = seen
        elif end is not None:
            end.anew, end.begun_anew = not end.begun_anew, True


def _again(end: _End, seen: Seen, place: _Place) -> Finding:
    end.again += 1
    loop = end.again > 1 or not waited(end.last, seen, _AT_ONCE_MS)
    return found(
        AFTER_END,
        [end.first, seen],
        f"Operation {seen.entry.operation} had ended (#{end.first.n}), and was polled again "
        f"(#{seen.n}).",
        group=place,
        severity=None if loop else "note",
    )
