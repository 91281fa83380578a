"""Who judges: each looks at what clients do, one exchange after the other, for what its rules forbid."""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64decode
from collections import deque
from collections.abc import Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar
from urllib.parse import urlsplit

import msgspec

from hosting_emulator.calls.dev_access import REDEEM_PATH
from hosting_emulator.calls.inputs import bad_cursor
from hosting_emulator.conduct.rules import (
    A_RETRY_MS,
    ConductJudge,
    ExchangeView,
    Finding,
    Line,
    Recent,
)
from hosting_emulator.contract.assumption_values import parse_retention_ms
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.call_table import parameter_name
from hosting_emulator.contract.calls import REDEEM_TICKET, CallName, CallSpec
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.access_tokens import AccessTokens
from hosting_emulator.engine.redaction import decodings
from hosting_emulator.variation.draws import objects_in
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import TICKETS

# --- Trying and polling again --------------------------------------------------------------------

#: Exchanges by what they are remembered for.
_Views = Recent[Hashable, ExchangeView]
_MOST_ACCUSED = 100
_FLAG: CallName = "set_project_powered_by_flag"
#: Who comes by another connection so much later may be another run: a job of every few minutes, say.
_ANOTHER_RUN_MS = 60_000


@dataclass(slots=True)
class _Attempts:
    """What is known of one thing that was to be done: its keys, and the last of all attempts."""

    #: The last uncertain attempt under each key; and findings of those never asked for again.
    unsure: dict[str, ExchangeView] = field(default_factory=dict)
    accused: dict[str, Finding] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    #: The last attempt under each key.
    attempts: dict[str, ExchangeView] = field(default_factory=dict)
    #: The keys under which the client received a success.
    settled: set[str] = field(default_factory=set)
    last: ExchangeView | None = None


class KeyChanged(ConductJudge):
    """The same mutation under another key, while an attempt under the first ended uncertain.

    Two workers may each have a wish of their own: whoever asks again under the first key after all
    is accused no longer. A request that was sent while the client of the first still waited is
    another worker's. So is one with another API key.
    """

    def __init__(self) -> None:
        self._of: Recent[Hashable, _Attempts] = Recent()
        #: Flags whose switching ended uncertain, by user and address, then by what was asked.
        self._flags: Recent[Hashable, dict[Hashable, _Attempts]] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        key = now.mutation_key
        if key is None:
            return
        asked = (now.user, now.request)
        known = self._of.get(asked) or self._of.keep(asked, _Attempts())
        if key in known.accused:
            known.accused.pop(key).withdrawn = True
        for other, before in list(known.unsure.items()):
            over = _forgotten(before, now) or now.waited(before, A_RETRY_MS)
            if other == key or (key in known.keys and not over):  # no new key
                continue
            if not over and not now.may_react_to(before):
                continue
            if not over:
                yield _accuse(before, now, known)
            del known.unsure[other]  # said once, or over
        if len(known.keys) < _MOST_ACCUSED:
            known.keys.add(key)
        last, same = known.last, known.attempts.get(key)
        retried = same is not None and _went_on_during(same, now)
        if last is not None and last.key != key and not retried and _went_on_during(last, now):
            # A delayed request stands in the log after the one that came while it was held up.
            yield _accuse(now, last, known)
        # A delayed request is judged after later ones: the latest to arrive counts.
        if last is None or now.n > last.n:
            known.last = now
        is_latest = same is None or now.n > same.n
        if is_latest and (same is not None or len(known.attempts) < _MOST_ACCUSED):
            known.attempts[key] = now
        place = (now.user, now.path)
        if now.uncertain:
            if key not in known.settled:
                known.unsure[key] = now
            if now.call == _FLAG:
                self._flags.keep(place, {**self._flags.get(place, {}), now.request: known})
        elif now.status not in (401, 408, 429) and now.entry.code != "rate_limited":
            known.unsure.pop(key, None)  # now it is known what became of it
            if now.succeeded and len(known.settled) < _MOST_ACCUSED:
                known.settled.add(key)
        if now.call == _FLAG and now.succeeded:
            # A flag that was switched since is not the one that was uncertain.
            for request, attempts in self._flags.pop(place, {}).items():
                if request != now.request:
                    attempts.unsure.clear()


def _went_on_during(second: ExchangeView, first: ExchangeView) -> bool:
    """Tell whether a client gave up on a request and sent another while that was still held up."""
    if not first.uncertain or first.says_uncertain:
        return False
    if first.entry.passage is None:
        return first.entry.real_ms < second.entry.real_ms < first.left_ms
    return second.may_react_to(first)


def _accuse(first: ExchangeView, second: ExchangeView, known: _Attempts) -> Finding:
    told = first.says_uncertain and not first.entry.lost
    how = str(first.status) if told else "no complete response"
    another_run = second.line is not first.line and second.waited(first, _ANOTHER_RUN_MS)
    spec, quote = first.spec, None
    if spec is not None and spec.retry_sentence:  # the rule's own words are of another call
        quote = (spec.retry_sentence, f"the contract, {spec.section}")
    accused = ("new-key-after-uncertainty", first, second)
    same_client = first.entry.principal.api_key_id == second.entry.principal.api_key_id
    sure = same_client and not another_run
    accusation = Finding(*accused, how=how, sure=sure, quote=quote)
    if len(known.accused) < _MOST_ACCUSED:
        known.accused[str(first.key)] = accusation
    return accusation


def _forgotten(before: ExchangeView, now: ExchangeView) -> bool:
    """Tell whether the key of an earlier attempt was forgotten by the time of another."""
    kept_ms = parse_retention_ms(now.world.assumptions.idempotency_retention)
    return kept_ms is not None and before.at_ms + kept_ms <= now.entry.came_ms


class KeyReused(ConductJudge):
    """One key for two different requests of one user."""

    def __init__(self) -> None:
        #: The first use of a key, and whether it was refused: the key may be free still.
        self._uses: Recent[Hashable, tuple[ExchangeView, bool]] = Recent()

    def see(self, now: ExchangeView) -> Iterator[Finding]:
        key = now.mutation_key
        if key is None:
            return
        scoped = now.world.assumptions.idempotency_scope == "principal_and_call"
        place = (now.user, key, str(now.call) if scoped else "")
        first, free = self._uses.get(place, (now, True))
        refused = 400 <= now.status < 500
        other = first.request != now.request
        if first is now or _forgotten(first, now):
            self._uses.keep(place, (now, refused))
            return
        if other:
            unsaid = "the contract does not say whether its key is free again"
            yield Finding(
                *("key-reused-for-another-request", first, now),
                what="another body" if first.path == now.path else "something else",
                unsaid=f"; the first was refused, and {unsaid}" if free else "",
                group=(now.user, now.key),
                sure=not free,
            )
        if free and (other or not refused):
            self._uses.keep(place, (now, refused))


class KeyOutlivesIntent(ConductJudge):
    """A flag switched under the key of an earlier switch that was heard, after it was switched again."""

    def __init__(self) -> None:
        #: The first answer under a key that was heard; and what was last done at a place.
        self._heard, self._done = _Views(), _Views()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        key = now.mutation_key
        if key is None or now.call != _FLAG or not now.succeeded:
            return
        place, group = (now.user, now.path), (now.user, key)
        if not now.entry.replayed:
            self._heard.keep(group, now)
            self._done.keep(place, now)
            return
        first, since = self._heard.get(group), self._done.get(place)
        self._heard.keep(group, first or now)
        if first is None or since is None or since.n < first.n or since.request == now.request:
            return
        if now.entry.real_ms >= since.left_ms:
            yield Finding("key-outlives-intent", first, since, now, since=since, group=group)


#: What is sent so soon after the same may come from the same click.
_ONE_CLICK_MS = 1000


class SentTwice(ConductJudge):
    """The same carried out twice, by two connections at about the same time, under two keys."""

    def __init__(self) -> None:
        self._done = _Views()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        done = now.mutation_key is not None and not now.entry.replayed and 0 < now.status < 300
        if not done or now.call == _FLAG:  # which is one flag
            return
        asked = (now.user, now.request)
        before = self._done.get(asked)
        self._done.keep(asked, now)
        if before is None or before.key == now.key or not now.beside(before, _ONE_CLICK_MS):
            return
        if not before.heard or not now.heard:  # `KeyChanged` judges what a client does then
            return
        if abs(now.entry.came_ms - before.entry.came_ms) < _ONE_CLICK_MS:
            yield Finding("sent-twice-at-once", before, now, group=asked)


class KeyValues(ConductJudge):
    """API keys whose value nobody heard, with no other made since."""

    def __init__(self) -> None:
        self._lost: Recent[tuple[str | None, str], ExchangeView] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call == "create_user_api_key" and now.mutation_key and now.status < 400:
            if not now.succeeded:
                self._lost.keep((now.user, now.mutation_key), now)
            elif not now.entry.replayed:
                for place in [place for place in self._lost if place[0] == now.user]:
                    del self._lost[place]
        return ()

    def end(self) -> Iterable[Finding]:
        return [Finding("api-key-value-lost", lost) for lost in self._lost.values()]


#: A client whose program sends several requests at once keeps at most so many connections, as judged.
_MOST_WORKERS = 64


class _Workers:
    """Counts the workers that share credentials and a pool of connections.

    A connection of such a pool is used by one worker after another: the next request on it may be
    of a worker that has not seen the response before it. A pool shows itself when two requests are
    in progress at once, or when a connection is used again after another one was. Findings that
    hold only for a single worker become notes as soon as a pool shows itself.

    With `notices_crossing` a pool also shows itself when a connection is used again that was opened
    just after a request by another connection, which stayed open.
    """

    def __init__(self, *, notices_crossing: bool = False) -> None:
        self._notices_crossing = notices_crossing
        self._lines: Recent[bytes, list[Line]] = Recent()
        self._last: Recent[bytes, ExchangeView] = Recent()
        self._counts: Recent[bytes, int] = Recent()
        self._doubtful: Recent[bytes, list[Finding]] = Recent()
        #: Credentials that sent two requests at about the same time, on two open connections.
        self._crossed: Recent[bytes, None] = Recent()

    def count(self, now: ExchangeView) -> int:
        """Take note of an exchange, and return how many workers use its credentials at most."""
        credentials = now.credentials
        last = self._last.get(credentials)
        self._last.keep(credentials, now)
        lines = [line for line in self._lines.get(credentials, []) if line is not now.line]
        lines = [line for line in lines if not _was_over(line, now)]
        lines = [*lines, now.line][-_MOST_WORKERS:]
        self._lines.keep(credentials, lines)
        other_line = last is not None and last.line is not now.line
        if self._notices_crossing and last is not None and now.nth == 1 and now.crossed(last):
            self._crossed.keep(credentials, None)
        shows_pool = other_line and last is not None and (now.nth > 1 or now.overlaps(last))
        # A single worker that keeps its connections opens no second one beside an open one.
        if shows_pool or (now.nth > 1 and credentials in self._crossed):
            self._counts.keep(credentials, max(len(lines), 2, self._counts.get(credentials, 1)))
            for finding in self._doubtful.pop(credentials, []):
                finding["severity"] = "note"
        return self._counts.get(credentials, 1)

    def doubt(self, now: ExchangeView, finding: Finding) -> Finding:
        """Return a finding that does not hold if its credentials turn out to be a pool's."""
        doubtful = self._doubtful.get(now.credentials) or self._doubtful.keep(now.credentials, [])
        if len(doubtful) < _MOST_ACCUSED:
            doubtful.append(finding)
        return finding


def _was_over(line: Line, now: ExchangeView) -> bool:
    """Tell whether a connection had ended when a request came by another one."""
    ended, passage = line.connection.ended, now.entry.passage
    if passage is not None:
        return 0 < ended < passage.arrival
    return now.line.connection.follows(line.connection)


#: A read after so long looks anew.
_A_READ_AGAIN_MS = 60_000
#: Who asks again so soon after the end did not see it; who looks as seldom does not wait for it.
_AT_ONCE_MS, _A_LOOK_MS = 1000, 30_000
_KEY_LIMIT = 128
#: So many refused mutations, each with a key and a connection of its own, may be of two programs.
_SEPARATE_INTENTS = 2
#: What libraries and browsers ask by themselves.
_NO_CALL = frozenset({"HEAD", "OPTIONS"})
#: An operation, as one client sees it.
_Place = tuple[bytes, str]


class NotRetryable(ConductJudge):
    """The same request again, with the same credentials, after it was refused for good.

    A read is taken for a retry only right after it. A mutation is one also after reads in between,
    until something was done, or an operation heard to end, that may have made it possible.
    """

    def __init__(self) -> None:
        #: The last request by its credentials; and the last refusal of each mutation.
        self._last, self._refused = _Views(), _Views()
        self._workers = _Workers(notices_crossing=True)
        #: How often a request was refused for good, each time right after the time before.
        self._repeats: Recent[Hashable, int] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        workers = self._workers.count(now)
        place = (now.credentials, now.request)
        mutation = now.spec is not None and now.spec.method != "GET"
        before = self._refused.get(place) if mutation else self._last.get(now.credentials)
        last = now
        if before is not None and before.request == now.request and now.crossed(before):
            # Of those that come one upon another the first stays: the others come after that one.
            last = before if before.entry.code == now.entry.code else now
        self._last.keep(now.credentials, now if mutation else last)
        if mutation and now.status >= 400:
            self._refused.keep(place, last)
        elif mutation or (now.call == "get_operation" and now.shows_end):
            self._refused.clear()
        if before is None or not _in_vain(before, now):
            self._repeats.keep(place, 1)
            return
        repeats = self._repeats.get(place, 1) + 1
        self._repeats.keep(place, repeats)
        # Another client may have heard the response.
        sure = now.knows(before) == "surely"
        # Of more requests than there are workers, one was a retry.
        proven = now.has_key_of(before) or repeats > workers > 1
        sure = sure and (workers == 1 or proven)
        if now.key != before.key and now.line is not before.line:
            # Two programs may each have its own key. A client that repeats it is no such pair.
            sure = sure and repeats > _SEPARATE_INTENTS
        group = (*place, now.entry.code, proven)
        finding = Finding("retried-not-retryable", before, now, sure=sure, group=group)
        yield finding if proven else self._workers.doubt(now, finding)


def _in_vain(before: ExchangeView, now: ExchangeView) -> bool:
    code, problem = now.entry.code, before.answer if isinstance(before.answer, dict) else {}
    if code is None or before.entry.code != code or not before.heard or now.call == REDEEM_TICKET:
        return False
    if problem.get("retryable") is not False or now.entry.method in _NO_CALL:
        return False
    if before.request != now.request or now.knows(before) == "no":
        return False
    if before.key != now.key:  # another key makes another request where the refusal was about it
        names = [name.lower() for name, _ in before.entry.raw_headers]
        one = names.count(b"idempotency-key") == 1
        bad = not one or not 1 <= len(before.key or "") <= _KEY_LIMIT
        if code == "idempotency_key_reused" or (code == "invalid_request" and bad):
            return False
    is_read = now.spec is not None and now.spec.method == "GET"
    return not now.waited(before, _A_READ_AGAIN_MS if is_read else A_RETRY_MS)


#: An answer that said to wait, and for how many seconds.
_Told = tuple[ExchangeView, int]
#: Answers about one operation that are kept, each for a client that may poll after it.
_MOST_TOLD = 20
#: So many attempts in vain within so long are a storm, where nothing said how long to wait.
_STORM, _STORM_MS = 10, 2000
#: So many polls of one operation may be the first ones of several workers.
_BEGINNINGS = 6
#: So many early polls on new connections may be the first polls of programs that have just started.
_STARTED_PROGRAMS = 2
#: So many attempts within that time are too many for any worker; and so many are remembered.
_ATTEMPTS_EACH = 5
_MOST_ATTEMPTS = _ATTEMPTS_EACH * _MOST_WORKERS


class TooSoon(ConductJudge):
    """What the service said of waiting: Retry-After of 429 and 503, and when to poll again.

    A response tells only the worker that received it. So a request is a retry if the same request
    was told to wait: the first request of another worker is none. Polls are not judged in a world
    whose clock skips: there a poll moves time itself.
    """

    def __init__(self) -> None:
        #: The last response that said to wait, by credentials and request: to each connection, and
        #: to any (None).
        self._told: Recent[tuple[bytes, Hashable, Line | None], _Told] = Recent()
        #: How many requests of one kind came too soon, by credentials and request.
        self._repeats: Recent[Hashable, int] = Recent()
        #: A rate limit that credentials were told of, and how many other requests were refused since.
        self._limits: Recent[bytes, tuple[_Told, int]] = Recent()
        #: What was said of an operation, oldest first: each answer allows one poll.
        self._polls: Recent[_Place, list[_Told]] = Recent()
        #: The last poll that came in time: another beside it is as right.
        self._right: Recent[_Place, ExchangeView] = Recent()
        #: How many polls of an operation came too early, as far as one worker is concerned.
        self._early: Recent[_Place, int] = Recent()
        #: The last attempts in vain at one request, oldest first.
        self._in_vain: Recent[tuple[bytes, Hashable], deque[ExchangeView]] = Recent()
        self._workers = _Workers()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.user is None:
            return
        workers = self._workers.count(now)
        yield from self._repeat(now, workers)
        yield from self._ignored_limit(now, workers)
        yield from self._storm(now, workers)
        yield from self._poll(now, workers)

    def _order(self, now: ExchangeView) -> _Told | None:
        """Return what was said of this request, to this client if it is known, and still holds."""
        for line in (now.line, None):
            place = (now.credentials, now.request, line)
            told = self._told.get(place)
            if told is not None and now.waited(told[0], told[1] * 1000):
                del self._told[place]
            elif told is not None and now.knows(told[0]) != "no":
                return told
        return None

    def _repeat(self, now: ExchangeView, workers: int) -> Iterator[Finding]:
        place = (now.credentials, now.request)
        told = self._order(now) if self._told else None
        if told is None:
            self._repeats.pop(place, None)
        else:
            before, seconds = told
            repeats = self._repeats.get(place, 1)
            if (
                now.retry_after_s is not None
            ):  # told once more; another response may ask for a retry
                repeats += 1
            self._repeats.keep(place, repeats)
            proven = now.has_key_of(before) or repeats > workers > 1
            # Of two jobs with one token, one has not heard what the other was told.
            surely = now.knows(before) == "surely"
            finding = Finding(
                *("retried-too-soon", before, now),
                seconds=seconds,
                what="was sent again",
                group=(*place, proven),
                sure=surely and (workers == 1 or proven),
            )
            yield finding if proven else self._workers.doubt(now, finding)
        wait_s = now.retry_after_s
        limited = now.entry.code == "rate_limited" or now.status in (429, 503)
        if now.heard and wait_s is not None and limited:
            for line in (now.line, None):
                key = (*place, line)
                if key not in self._told or not now.crossed(self._told[key][0]):
                    self._told.keep(key, (now, wait_s))

    def _ignored_limit(self, now: ExchangeView, workers: int) -> Iterator[Finding]:
        """Find a client that goes on with other requests although it is told of a rate limit."""
        credentials = now.credentials
        told, count = self._limits.get(credentials, (None, 0))
        wait_s = now.retry_after_s
        by_limit = now.entry.code == "rate_limited" or now.status == 429
        if told is not None and now.waited(told[0], told[1] * 1000):
            told = None
        if not by_limit or wait_s is None or not now.heard:
            if told is None:
                self._limits.pop(credentials, None)
            return
        if told is None:
            self._limits.keep(credentials, ((now, wait_s), 0))
            return
        first, seconds = told
        if not now.may_react_to(first) or now.crossed(first):
            return
        self._limits.keep(credentials, (told, count + 1))
        if count + 1 != max(_STORM, _ATTEMPTS_EACH * workers):
            return
        got = f"{first.name} got {first.status} with Retry-After: {seconds} (#{first.n})"
        message = (
            f"{got}, and {count + 1} more requests were refused within {now.shown_wait(first)}."
        )
        group = (credentials, "limit", first.n)
        # The queue of a pool may consist of requests that were decided on before.
        yield Finding(
            "retried-too-soon", first, now, message=message, group=group, sure=workers == 1
        )

    def _storm(self, now: ExchangeView, workers: int) -> Iterator[Finding]:
        """Find attempts without end or pause, where nothing said how long to wait."""
        in_vain = (now.uncertain or now.status == 429) and now.retry_after_s is None
        if not in_vain and not self._in_vain:
            return
        place = (now.credentials, now.request)
        if not in_vain:
            self._in_vain.pop(place, None)
            return
        most = max(_STORM, _ATTEMPTS_EACH * workers)
        tried = self._in_vain.get(place) or self._in_vain.keep(place, deque(maxlen=_MOST_ATTEMPTS))
        tried.append(now)
        if len(tried) < most or now.waited(tried[-most], _STORM_MS):
            return
        attempts = [*tried][-most:]
        first = attempts[0]
        failed = f"{now.name} failed (#{first.n}: {first.status or 'no response'})"
        often = f"{most} times within {now.shown_wait(first)} (to #{now.n})"
        message = f"{failed}, and was sent {often}."
        named = (*attempts[: _STORM - 1], now)
        yield Finding("retried-too-soon", *named, message=message, group=(*place, "storm"))

    def _poll(self, now: ExchangeView, workers: int) -> Iterator[Finding]:
        if now.call == "get_operation" and now.world.clock.mode != "skip" and now.heard:
            place = (now.credentials, str(now.entry.operation))
            said = self._polls.get(place, [])
            count = self._early.get(place, 0) + 1
            maybe_first = count <= _STARTED_PROGRAMS
            early = _early(said, now, workers, maybe_first=maybe_first)
            twin = self._right.get(place)
            if early is None:
                if not (said and now.crossed(said[-1][0])):  # else it could not know
                    self._right.keep(place, now)
            elif twin is None or not now.beside(twin):
                self._early.keep(place, count)
                # Each of several workers may begin to poll at any time.
                if workers == 1 or count >= max(_BEGINNINGS, 2 * workers):
                    before, seconds = early
                    finding = Finding(
                        *("polled-too-early", before, now),
                        seconds=seconds,
                        group=(place, workers > 1),
                        sure=_surely_heard(now, before, maybe_first=maybe_first),
                    )
                    yield finding if workers > 1 else self._workers.doubt(now, finding)
        if now.operation is None:
            return
        place = (now.credentials, now.operation["id"])
        progress = now.operation.get("progress")
        wait_s = progress.get("next_poll_after_seconds") if isinstance(progress, dict) else None
        if isinstance(wait_s, int) and not isinstance(wait_s, bool):
            said = self._polls.get(place, [])
            # Of a fast loop the first stays.
            stays = workers == 1 and said and now.crossed(said[-1][0])
            if not stays or wait_s < said[-1][1]:
                self._polls.keep(place, [*said, (now, wait_s)][-_MOST_TOLD * workers :])
        else:
            self._polls.pop(place, None)


def _surely_heard(now: ExchangeView, before: ExchangeView, *, maybe_first: bool) -> bool:
    """Tell whether the client of a poll surely had an earlier response.

    With `maybe_first` a poll on another connection may be the first one of another program.
    """
    if maybe_first and now.line is not before.line:
        return False
    return now.knows(before) == "surely"


def _early(
    said: list[_Told], now: ExchangeView, workers: int, *, maybe_first: bool
) -> _Told | None:
    """Return the answer that a poll did not wait for; an answer that allowed it is used up.

    The last that came by its own connection counts, or a later one that was waited for: who asks by
    two hears both. Or else any: another client may have had it. Of several workers that share their
    connections each may have had any of them: one that was waited for is enough.
    """
    if workers > 1:
        waited = [told for told in said if now.waited(told[0], told[1] * 1000)]
        if waited:
            if now.operation is not None:  # else its worker asks again
                said.remove(waited[0])
            return None
        # A pool may alternate its connections, as Node's fetch does: an earlier response counts too.
        return next((told for told in reversed(said) if now.knows(told[0]) != "no"), None)
    own = next((told for told in reversed(said) if told[0].line is now.line), None)
    later = (told for told in said if own is None or told[0].n > own[0].n)
    own = next((told for told in later if now.waited(told[0], told[1] * 1000)), own)
    told = own or (said[-1] if said else None)
    if told is None or now.knows(told[0]) == "no":
        return None
    if own is not None or _surely_heard(now, told[0], maybe_first=maybe_first):
        said.remove(told)
    return None if now.waited(told[0], told[1] * 1000) else told


@dataclass(slots=True)
class _End:
    """An end that was heard of: first, and last; and how often in a row it was asked for since."""

    first: ExchangeView
    last: ExchangeView
    again: int = 0
    #: An earlier answer came again, as to a client that begins anew: it has to look once more.
    anew: bool = False
    begun_anew: bool = False


class AfterEnd(ConductJudge):
    """A poll after its client heard the operation's end: a loop, or who looks now and then (a note)."""

    def __init__(self) -> None:
        self._ended: Recent[_Place, _End] = Recent()
        #: The operation that a client's last request was about.
        self._about: Recent[bytes, str] = Recent()
        self._workers = _Workers()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.user is None:
            return
        workers = self._workers.count(now)
        shown = now.operation["id"] if now.operation is not None else None
        about = str(now.entry.operation or shown)
        on_end = self._about.get(now.credentials) == about
        self._about.keep(now.credentials, about)
        place = (now.credentials, about)
        end = self._ended.get(place)
        if now.call == "get_operation" and end is not None:
            if end.anew:
                end.anew = False
            elif shown is not None and now.knows(end.last) != "no":
                end.again = end.again + 1 if on_end and not now.waited(end.last, _A_LOOK_MS) else 1
                own = now.line is end.last.line
                at_once = own and not now.waited(end.last, _AT_ONCE_MS)
                if workers > 1:
                    # Each of several workers has to see the end for itself.
                    at_once = False
                loop = at_once or end.again > max(workers, 1 if own else 2)
                sure = loop and now.knows(end.last) == "surely"
                group = (place, workers > 1)
                finding = Finding("polled-after-end", end.first, now, sure=sure, group=group)
                yield finding if workers > 1 else self._workers.doubt(now, finding)
        if shown is None:
            return
        if now.shows_end and end is None:
            self._ended.keep(place, _End(now, now))
        elif end is not None and now.shows_end:
            end.last = end.last if now.crossed(end.last) else now
        elif end is not None:
            end.anew, end.begun_anew = not end.begun_anew, True


# --- What was begun ------------------------------------------------------------------------------


class _Continuity(ConductJudge):
    """What clients went on from: whether it is the unknown that they stop at can be told by it.

    Only answers of one kind (the first of several, or a later one), to one client, can be compared.
    """

    resource: ClassVar[str]

    def __init__(self) -> None:
        #: The unknown things that each client went on past; and from which kind of answer it went on.
        self._past: Recent[bytes, set[str]] = Recent()
        self._goes_on: Recent[tuple[bytes, bool], None] = Recent()
        #: Who went on at all, and whether to an end: who never did may stop for any reason.
        self._turned: Recent[bytes, bool] = Recent()

    def _went_on(self, answered: ExchangeView) -> None:
        credentials = answered.credentials
        past = self._past.get(credentials) or self._past.keep(credentials, set())
        past.update(_unknown(self.resource, answered.answer))
        self._goes_on.keep((credentials, _is_first(answered)), None)

    def _stopped_at(self, last: ExchangeView) -> str | None:
        """Return what is unknown in the last answer, unless its client went on past such."""
        passed = self._past.get(last.credentials, ())
        found = _unknown(self.resource, last.answer).items()
        return next((text for thing, text in found if thing not in passed), None)

    def _stop(self, last: ExchangeView, message: str, *, meant: bool = False) -> Finding:
        """Find a stop at the unknown: sure if the client goes on to ends, past nothing such."""
        credentials, first = last.credentials, _is_first(last)
        sure = (credentials, first) in self._goes_on and not self._past.get(credentials)
        sure = sure and not meant and self._turned.get(credentials, False)
        return Finding("stopped-at-the-unknown", last, message=message, sure=sure)


class UnfinishedOperations(_Continuity):
    """Operations whose end nobody heard of, whoever asked."""

    resource = "Operation"

    def __init__(self) -> None:
        super().__init__()
        #: The last that was heard of those that were begun here; None: their end.
        self._last: Recent[str, ExchangeView | None] = Recent()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        polled = now.call == "get_operation"
        before = self._last.get(str(now.entry.operation)) if polled else None
        if before is not None and before.credentials == now.credentials:
            self._went_on(before)
        if now.operation is None:
            return ()
        id_ = now.operation["id"]
        if now.shows_end:
            self._last.keep(id_, None)
            self._turned.keep(now.credentials, True)
        # What was begun elsewhere may be looked at only; after the end it is the first answer again.
        elif self._last.get(id_) is not None or (id_ not in self._last and not polled):
            self._last.keep(id_, now)
        return ()

    def end(self) -> Iterable[Finding]:
        for id_, last in self._last.items():
            if last is None:
                continue
            state = last.answer.get("state")
            if unknown := self._stopped_at(last):
                message = f"Operation {id_} ({state}) was not polled again after a response with {unknown}."
                yield self._stop(last, message)
            else:
                yield Finding("operation-not-followed", last, id=id_, state=state)


class UnfinishedLists(_Continuity):
    """A list that was left at a page with something unknown, by who is known to read to the end."""

    resource = "DeploymentPage"

    def __init__(self) -> None:
        super().__init__()
        #: The last page of each list that is being read, by its reader and project.
        self._last = _Views()

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call != "list_deployments" or now.user is None:
            return ()
        # A list that is begun takes the place of another.
        place, cursor = (now.credentials, str(now.entry.project)), _cursor(now)
        before = self._last.get(place)
        if before is not None and cursor is not None and cursor == before.answer.get("next_cursor"):
            self._went_on(before)
        whole = now.succeeded and isinstance(now.answer, dict)
        if cursor is not None:
            ended = whole and not now.answer.get("next_cursor")
            self._turned.keep(now.credentials, ended or self._turned.get(now.credentials, False))
        if whole:
            self._last.keep(place, now)
        elif now.succeeded:  # too long to be kept whole: nobody knows whether there is another
            self._last.pop(place, None)
        return ()

    def end(self) -> Iterable[Finding]:
        for page in self._last.values():
            if not page.answer.get("next_cursor"):
                continue
            unknown = self._stopped_at(page)
            # Who says how many are wanted may want no more.
            some = page.world.assumptions.limit_parameter in page.query
            if unknown:
                message = f"{page.name} stopped at a page with {unknown}, although there are more."
                # Who asks for the first page may only want that.
                yield self._stop(page, message, meant=_is_first(page))
            elif not some and page.credentials not in self._turned:
                yield Finding("first-page-for-all", page)


def _cursor(page: ExchangeView) -> str | None:
    return page.query.get(page.world.assumptions.cursor_parameter)


def _is_first(answered: ExchangeView) -> bool:
    return answered.call != "get_operation" and _cursor(answered) is None


def _unknown(resource: str, document: Any) -> dict[str, str]:
    """Say what neither the contract nor our defaults name: of all fields, and of each one's values, one."""
    unknown: dict[str, str] = {}
    for found in objects_in(resource, document):
        at = "".join(f"{part}." for part in found.path.split("/")[1:] if not part.isdigit())
        known = {field.name: field for field in found.resource.fields}
        for name, value in found.members.items():
            if name not in known:
                unknown.setdefault("a field", f"the unknown field {at}{name}")
                continue
            words = getattr(DEFAULTS, known[name].assumption, None)
            if isinstance(words, tuple) and isinstance(value, str) and value not in words:
                unknown.setdefault(at + name, f"the unknown {at}{name} {value!r}")
    return unknown


# --- What a request holds ------------------------------------------------------------------------

_EMPTY, _TICKET = "an empty body", "a ticket"
#: How languages write that there is nothing.
_NOTHINGS = frozenset({"null", "none", "nil", "<nil>", "undefined", "nan", "[object object]"})
#: A token's header, which stands before two more parts, maybe behind other letters.
_BEFORE_TWO_PARTS = re.compile(r"(?<![\w-])[\w-]++(?=\.[\w-]++\.[\w-])")
#: What may be one of this service's secrets; whether it is, is looked up.
_SECRET = re.compile(r"[A-Za-z0-9_-]{43,}")
_SHORTEST_SECRET = 43


class RequestContent(ConductJudge):
    """What each request holds. It remembers the cursors that were given out."""

    def __init__(self) -> None:
        #: The project whose page had a cursor; and what redirected somebody to another host.
        self._given: Recent[str, str] = Recent()
        self._redirected: Recent[tuple[bytes, str], ExchangeView] = Recent()
        #: Tickets whose redemption was not heard of; and until when a ticket was valid when shown.
        self._unheard: Recent[str, bool] = Recent()
        self._until: Recent[str, int] = Recent()

    def after_return(self) -> RequestContent:
        """Go on: a page from before the world was put back had its cursor, too."""
        return self

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        if now.call == REDEEM_TICKET:
            yield from self._ticket(now)
        elif now.call == "create_dev_access_ticket" and now.succeeded:
            expiry = _ticket_expiry(now.answer)
            if expiry is not None:
                self._until.keep(*expiry)
        yield from self._token(now)
        principal, spec = now.entry.principal, now.spec
        # Another flaw may be refused first: the session is missing all the same.
        if spec is not None and spec.interactive and principal and not principal.interactive:
            what = "an API key" if principal.api_key_id else "a token without a session"
            group = (principal.user_id, what)
            yield Finding("key-where-session-needed", now, what=what, group=group)
        yield from _misplaced_secrets(now)
        if now.call == "list_deployments":
            yield from self._cursor(now)
        if spec is not None and spec.idempotent and not now.key:
            yield Finding("missing-idempotency-key", now, group=(now.call, now.entry.path))
        elif spec is not None and not spec.idempotent and now.key is not None:
            yield Finding("key-not-listed", now, group=now.call)
        for what, quote, hint in _unread_parts(now):
            yield Finding(
                *("unread-field", now),
                what=what,
                hint=hint,
                group=(now.call, what),
                # An empty object where no body is listed is what some libraries send by themselves.
                sure=what != _EMPTY,
                quote=quote,
            )

    def _token(self, now: ExchangeView) -> Iterator[Finding]:
        """Look at the token where one is sent: whether it is any, and who is told of it."""
        sent = now.headers.get(b"authorization", b"")
        scheme, _, token = sent.decode("latin-1").partition(" ")
        host = now.headers.get(b"host", b"").decode("latin-1")
        if scheme.lower() == "bearer" and token.strip().lower() in _NOTHINGS:
            yield Finding("null-as-token", now, token=token.strip(), group=token)
        redirected = self._redirected.get((now.credentials, host))
        at_dev_origin = now.call == REDEEM_TICKET or (now.call is None and host.startswith("dev-"))
        came, seen = "to a dev origin", [now]
        if redirected is not None:
            came, seen = f"through the redirect of #{redirected.n}", [redirected, now]
        for what in _secrets_in(now, token) if at_dev_origin or redirected is not None else ():
            rule, group = "token-sent-elsewhere", (host, what)
            yield Finding(rule, *seen, came=came, host=host, what=what, group=group)
        if 300 <= now.status < 400 and now.heard and now.call != REDEEM_TICKET:
            for name, value in now.entry.response_headers:
                elsewhere = _host_of(value) if name == "Location" else ""
                if elsewhere and elsewhere != host:
                    self._redirected.keep((now.credentials, elsewhere), now)

    def _ticket(self, now: ExchangeView) -> Iterator[Finding]:
        """Hold a redemption against what the world knew of the ticket."""
        indexes = now.world.indexes
        ticket_id = indexes.get(f"ticket:{digest(now.query.get('ticket', ''))}")
        ticket = now.world.get(TICKETS, ticket_id) if ticket_id else None
        if ticket is None:
            return
        id_, came_ms = ticket.id, now.entry.came_ms
        newest = indexes.get(f"last_ticket:{ticket.principal}")
        until_ms = self._until.get(id_, ticket.expires_ms)
        unheard = self._unheard.pop(id_, False)
        if not now.heard:
            self._unheard.keep(id_, True)
        if ticket.state == "used":
            if not unheard:  # who never heard of it asks again
                yield Finding("ticket-redeemed-twice", now, id=id_, group=id_)
        elif ticket.expires_ms <= came_ms:
            if until_ms <= came_ms:  # nobody ended it early
                until = format_timestamp(until_ms)
                yield Finding("ticket-redeemed-late", now, id=id_, until=until, group=id_)
        elif ticket.state == "revoked" and newest != id_:
            yield Finding("replaced-ticket-redeemed", now, id=id_, newest=newest, group=id_)

    def _cursor(self, now: ExchangeView) -> Iterator[Finding]:
        """Look at cursors that were refused, and that no page of that project had."""
        project, name = str(now.entry.project), now.world.assumptions.cursor_parameter
        cursor = now.query.get(name)
        # By what was noted of it: the answer's own words may be any.
        refused = now.status >= 400 and bad_cursor(name).detail in now.entry.why
        home = self._given.get(cursor or "")
        if cursor is not None and refused and home != project:
            # Its own may be refused once the world was put back.
            origin = "no page returned it" if home is None else f"it is from project {home}"
            cursor = cursor[:60]
            yield Finding("made-up-cursor", now, cursor=cursor, origin=origin, group=project)
        answer = now.answer if now.status == 200 else None
        given = answer.get("next_cursor") if isinstance(answer, dict) else None
        if isinstance(given, str):
            self._given.keep(given, project)


def _ticket_expiry(answer: Any) -> tuple[str, int] | None:
    """Return the id of a new ticket, and when it expires. None: the response does not say."""
    ticket = answer if isinstance(answer, dict) else {}
    id_, expires_at = ticket.get("ticket_id"), ticket.get("expires_at")
    if not isinstance(id_, str) or not isinstance(expires_at, str):
        return None
    try:
        return id_, parse_timestamp(expires_at)
    except ValueError:  # a `respond` fault may write anything there
        return None


def _host_of(location: str) -> str:
    """Return the host that a Location header names. Empty: it names none, or is no URL."""
    try:
        return urlsplit(location).netloc
    except ValueError:
        return ""


def _unread_parts(now: ExchangeView) -> Iterator[tuple[str, tuple[str, str] | None, str]]:
    """Name what is not read, each with what the contract says of the call, and a hint."""
    spec, entry = now.spec, now.entry
    if spec is None:
        return
    place = f"the contract, {spec.section}"
    if entry.query:
        known = {parameter_name(parameter, now.world.assumptions) for parameter in spec.query}
        quote = (spec.query_sentence, place) if spec.query_sentence else None
        for name in now.query:
            if name not in known:
                yield f"the query parameter {name[:60]!r}", quote, _meant(now, spec, name)
    if spec.method == "GET":  # of whose body the contract says nothing
        place = "the contract, Endpoints; none is listed for this call"
    if entry.body_bytes and spec.body is None:
        empty = entry.body.strip() in (b"{}", b"null", b"")
        yield _EMPTY if empty else "a body", (spec.body_sentence, place), ""
    elif entry.body_bytes and spec.body is not None and isinstance(now.sent, dict):
        for name in now.sent:
            if name not in RESOURCES[spec.body].names:
                yield f"the body field {name[:60]!r}", (spec.body_sentence, place), ""


def _meant(now: ExchangeView, spec: CallSpec, name: str) -> str:
    """Say which parameter that was left out could be meant: the contract names none of them."""
    for parameter in reversed(spec.query):  # a cursor may be anything
        known = parameter_name(parameter, now.world.assumptions)
        if known not in now.query and re.fullmatch(parameter.pattern, now.query[name]):
            assumption = parameter.name_assumption
            return (
                f"; if the service has another name for {known!r}, set the assumption {assumption}"
            )
    return ""


def _misplaced_secrets(now: ExchangeView) -> Iterator[Finding]:
    """Find secrets of this world in the address, the Referer and all other headers."""
    entry = now.entry
    if len(entry.path) + len(entry.query) >= _SHORTEST_SECRET:
        right = now.call == REDEEM_TICKET or entry.path == REDEEM_PATH
        target = f"{entry.path}?{entry.query}"
        for what in _secrets_in(now, " ".join([target, *decodings(target)])):
            if not (right and what == _TICKET):
                yield Finding("secret-in-url", now, what=what, group=(now.call, what))
    for name, value in entry.raw_headers:
        # Most headers are too short to hold one.
        shown = name.decode("latin-1").lower()
        if len(value) < _SHORTEST_SECRET or shown == "authorization":
            continue
        rule = "secret-in-referer" if shown == "referer" else "secret-in-header"
        text = value.decode("latin-1")
        scheme, _, packed = text.strip().partition(" ")
        if scheme.lower() == "basic":  # user and password, as RFC 7617 packs them
            with suppress(ValueError):
                text += f" {b64decode(packed.strip()).decode('latin-1')}"
        text = " ".join([text, *decodings(text)])
        for what in _secrets_in(now, text):
            yield Finding(rule, now, what=what, header=shown, group=(shown, what))


def _secrets_in(now: ExchangeView, text: str) -> list[str]:
    """Return what secrets of the world a text holds, each kind once."""
    world, prefix = now.world, now.world.assumptions.key_prefix
    kinds: dict[str, None] = {}
    for run in _BEFORE_TWO_PARTS.findall(text):  # a proxy may add tokens of its own, of other keys
        head = run[run.find("eyJ") :]
        with suppress(ValueError, msgspec.DecodeError, RecursionError):
            header = msgspec.json.decode(urlsafe_b64decode(head + "=" * (-len(head) % 4)))
            kid = header.get("kid") if isinstance(header, dict) else None
            if kid is not None and kid == AccessTokens(world.seed, world.name).kid:
                kinds["an access token"] = None
    for secret in _SECRET.findall(text):
        if prefix in secret and len(secret.partition(prefix)[2]) >= _SHORTEST_SECRET:
            kinds["an API key"] = None
        elif world.indexes.get(f"ticket:{digest(secret[-_SHORTEST_SECRET:])}"):
            kinds[_TICKET] = None
    return list(kinds)


JUDGES: tuple[type[ConductJudge], ...] = (
    *(KeyChanged, KeyReused, KeyOutlivesIntent, SentTwice, KeyValues, NotRetryable, TooSoon),
    *(AfterEnd, UnfinishedOperations, UnfinishedLists, RequestContent),
)
