"""Judges for polls that arrive too early, and for polls after an operation has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.judges.workers import Workers
from hosting_emulator.conduct.recent import Recent

#: Identifies an operation as seen by one client: the client's credentials and the operation's id.
_OperationKey = tuple[bytes, str]
#: The maximum number of responses to remember for one operation and worker. A client may base the
#: time of its next poll on any of these responses.
_MOST_ADVICE = 20
#: If several workers poll one operation, early polls are reported only if there are at least this
#: many. Fewer may be the first polls from different workers.
_FIRST_POLLS = 6
#: Up to this many early polls on new connections may be the first polls from programs that have
#: just started.
_STARTED_PROGRAMS = 2
#: A client that lets this many milliseconds pass between polls is not waiting for the operation to
#: end.
_OCCASIONAL_MS = 30_000


@dataclass(frozen=True, slots=True)
class _Advice:
    """A response that says how many seconds to wait before the next poll."""

    response: ExchangeView
    seconds: int

    def is_followed(self, poll: ExchangeView) -> bool:
        """Return whether a poll arrived no earlier than the response advised."""
        return poll.waited(self.response, self.seconds * 1000)


class PolledTooEarly(ConductJudge):
    """Detects polls that arrive earlier than the most recent response advised.

    Only the worker that received a response knows its advice. In a world with a `skip` clock, polls
    are not judged, because each poll moves the clock.
    """

    def __init__(self) -> None:
        #: The advice from responses about each operation, oldest first. Each response allows one
        #: poll.
        self._advice: Recent[_OperationKey, list[_Advice]] = Recent()
        #: The most recent timely poll of each operation. Another poll at about the same time is
        #: allowed.
        self._timely: Recent[_OperationKey, ExchangeView] = Recent()
        #: How many polls of each operation would be too early if there were only one worker.
        self._early_counts: Recent[_OperationKey, int] = Recent()
        self._workers = Workers()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.user is None:
            return
        workers = self._workers.count(exchange)
        is_judged = exchange.call == "get_operation" and exchange.world.clock.mode != "skip"
        if is_judged and exchange.is_received:
            yield from self._judge_poll(exchange, workers)
        if exchange.operation is not None:
            self._note_advice(exchange, exchange.operation, workers)

    def _judge_poll(self, poll: ExchangeView, workers: int) -> Iterator[Finding]:
        operation_key = (poll.credentials, str(poll.entry.operation))
        advice = self._advice.get(operation_key, [])
        count = self._early_counts.get(operation_key, 0) + 1
        may_be_first = count <= _STARTED_PROGRAMS
        ignored = _ignored_advice(advice, poll, workers, may_be_first=may_be_first)
        if ignored is None:
            # A poll that crossed the most recent response was sent before the client had its
            # advice.
            is_after_advice = not advice or not poll.crossed(advice[-1].response)
            if is_after_advice:
                self._timely.keep(operation_key, poll)
            return
        timely = self._timely.get(operation_key)
        if timely is not None and poll.is_beside(timely):
            return
        self._early_counts.keep(operation_key, count)
        # Tolerate some early polls if there are several workers, because each may start at any
        # time.
        if workers > 1 and count < max(_FIRST_POLLS, 2 * workers):
            return
        finding = Finding(
            "polled-too-early",
            ignored.response,
            poll,
            seconds=ignored.seconds,
            group=(operation_key, workers > 1),
            sure=_surely_knows(poll, ignored.response, may_be_first=may_be_first),
        )
        if workers == 1:
            finding = self._workers.doubt(poll, finding)
        yield finding

    def _note_advice(
        self, exchange: ExchangeView, operation: dict[str, object], workers: int
    ) -> None:
        operation_key = (exchange.credentials, str(operation["id"]))
        wait_s = None
        progress = operation.get("progress")
        if isinstance(progress, dict):
            wait_s = progress.get("next_poll_after_seconds")
        if not isinstance(wait_s, int) or isinstance(wait_s, bool):
            self._advice.pop(operation_key, None)
            return
        advice = self._advice.get(operation_key, [])
        is_loop = workers == 1 and advice and exchange.crossed(advice[-1].response)
        if is_loop and wait_s >= advice[-1].seconds:
            return  # the client polls in a fast loop: judge its polls by the first response only
        extended = [*advice, _Advice(exchange, wait_s)]
        self._advice.keep(operation_key, extended[-_MOST_ADVICE * workers :])


def _surely_knows(poll: ExchangeView, earlier: ExchangeView, *, may_be_first: bool) -> bool:
    """Return whether the client must have received an earlier response before it sent the poll.

    With `may_be_first`, a poll on a different connection may be the first poll from a different
    program.
    """
    if may_be_first and poll.connection_use is not earlier.connection_use:
        return False
    return poll.knows_response(earlier) == "surely"


def _ignored_advice(
    advice: list[_Advice], poll: ExchangeView, workers: int, *, may_be_first: bool
) -> _Advice | None:
    """Return the advice that a poll ignored, or None if it ignored none.

    The poll must follow the advice in the most recent response on its own connection. If it
    followed the advice in a later response on a different connection, it is allowed, because a
    client with two connections receives both responses. If there is no response on the poll's own
    connection, the poll must follow the advice in the most recent response on any connection. The
    advice that applied to the poll is removed, because it allows only one poll.
    """
    if workers > 1:
        return _ignored_by_pool(advice, poll)
    own = next(
        (item for item in reversed(advice) if item.response.connection_use is poll.connection_use),
        None,
    )
    for item in advice:
        is_later = own is None or item.response.n > own.response.n
        if is_later and item.is_followed(poll):
            own = item
            break
    if own is None and not advice:
        return None
    latest = own or advice[-1]
    if poll.knows_response(latest.response) == "no":
        return None
    if own is not None or _surely_knows(poll, latest.response, may_be_first=may_be_first):
        advice.remove(latest)
    if latest.is_followed(poll):
        return None
    return latest


def _ignored_by_pool(advice: list[_Advice], poll: ExchangeView) -> _Advice | None:
    """Return the advice that a poll from a pool of workers ignored, or None if the poll ignored
    none.

    When workers share connections, each may have received any of the responses. The poll is
    therefore allowed if it followed the advice in any of them.
    """
    followed = [item for item in advice if item.is_followed(poll)]
    if followed:
        # A poll that returned no operation does not use up the advice: the worker may poll again.
        if poll.operation is not None:
            advice.remove(followed[0])
        return None
    # Check earlier responses too, because some pools, such as that of Node's fetch, alternate
    # between connections.
    for item in reversed(advice):
        if poll.knows_response(item.response) != "no":
            return item
    return None


@dataclass(slots=True)
class _End:
    """The end of an operation, as seen by one client.

    `first` and `last` are the first and the most recent response that showed the end. `polls` is
    the number of consecutive polls since then.
    """

    first: ExchangeView
    last: ExchangeView
    polls: int = 0
    #: Whether the client received a replay of an earlier response after the operation had ended,
    #: for example because the client was restarted. A restarted client has to poll once more.
    is_restarted: bool = False
    was_restarted: bool = False


class AfterEnd(ConductJudge):
    """Detects polls of an operation that the client has already seen end. Occasional polls are
    reported as notes.
    """

    def __init__(self) -> None:
        self._ends: Recent[_OperationKey, _End] = Recent()
        #: The id of the operation in each client's most recent request.
        self._last_operations: Recent[bytes, str] = Recent()
        self._workers = Workers()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.user is None:
            return
        workers = self._workers.count(exchange)
        shown_id = None
        if exchange.operation is not None:
            shown_id = exchange.operation["id"]
        operation_id = str(exchange.entry.operation or shown_id)
        is_in_a_row = self._last_operations.get(exchange.credentials) == operation_id
        self._last_operations.keep(exchange.credentials, operation_id)
        operation_key = (exchange.credentials, operation_id)
        end = self._ends.get(operation_key)
        if exchange.call == "get_operation" and end is not None:
            if end.is_restarted:
                end.is_restarted = False
            elif shown_id is not None and exchange.knows_response(end.last) != "no":
                is_next = is_in_a_row and not exchange.waited(end.last, _OCCASIONAL_MS)
                if not is_next:
                    end.polls = 0
                end.polls += 1
                finding = _polled_after_end(end, exchange, operation_key, workers)
                if workers == 1:
                    finding = self._workers.doubt(exchange, finding)
                yield finding
        if shown_id is not None:
            self._note_operation(operation_key, end, exchange)

    def _note_operation(
        self, operation_key: _OperationKey, end: _End | None, exchange: ExchangeView
    ) -> None:
        if end is None:
            if exchange.shows_end:
                self._ends.keep(operation_key, _End(exchange, exchange))
        elif exchange.shows_end:
            if not exchange.crossed(end.last):
                end.last = exchange
        else:
            end.is_restarted = not end.was_restarted
            end.was_restarted = True


def _polled_after_end(
    end: _End, poll: ExchangeView, operation_key: _OperationKey, workers: int
) -> Finding:
    is_own = poll.connection_use is end.last.connection_use
    # Each worker has to see the end itself. A program may also read an ended operation once more, for
    # example to show it.
    is_loop = end.polls > max(workers, 1 if is_own else 2)
    is_sure = is_loop and poll.knows_response(end.last) == "surely"
    group = (operation_key, workers > 1)
    return Finding("polled-after-end", end.first, poll, sure=is_sure, group=group)
