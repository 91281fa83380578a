"""Judges for Idempotency-Keys that are changed, reused or used for too long, and for API key values
that were lost.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field

from hosting_emulator.conduct.exchange_view import A_RETRY_MS, ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.contract.assumption_values import parse_retention_ms
from hosting_emulator.contract.calls import CallName

_Views = Recent[Hashable, ExchangeView]
#: The maximum number of keys to remember for one intended change.
_MOST_KEYS = 100
_SET_FLAG: CallName = "set_project_powered_by_flag"
#: A request that arrives on a different connection this many milliseconds later may come from
#: another run of the program, for example the next run of a periodic job.
_ANOTHER_RUN_MS = 60_000
#: Two identical requests within this many milliseconds may have been caused by the same click.
_ONE_CLICK_MS = 1000
#: The statuses of refusals that can occur before the Idempotency-Key is checked.
_EARLY_REFUSALS = (401, 408, 429)


@dataclass(slots=True)
class _Intent:
    """One intended change, with the keys used for it and the attempts with each key."""

    #: For each key, the most recent attempt whose result is uncertain.
    uncertain: dict[str, ExchangeView] = field(default_factory=dict)
    #: For each key, the finding that a later attempt used a different key.
    accusations: dict[str, Finding] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    #: For each key, the most recent attempt.
    attempts: dict[str, ExchangeView] = field(default_factory=dict)
    #: The keys for which the client received a success response.
    settled_keys: set[str] = field(default_factory=set)
    last: ExchangeView | None = None

    def note_attempt(self, exchange: ExchangeView, key: str) -> None:
        """Remember an attempt, unless a later attempt with the same key is already stored.

        The order of arrival counts, because a delayed request may be judged after requests that
        arrived later.
        """
        if self.last is None or exchange.n > self.last.n:
            self.last = exchange
        attempt = self.attempts.get(key)
        if attempt is None:
            if len(self.attempts) < _MOST_KEYS:
                self.attempts[key] = exchange
        elif exchange.n > attempt.n:
            self.attempts[key] = exchange

    def accuse(self, first: ExchangeView, second: ExchangeView) -> Finding:
        """Return the finding that a second attempt used a different key although the result of the
        first was uncertain.

        The finding is also stored, so that it can be withdrawn if the first key is sent again.
        """
        finding = _key_changed(first, second)
        if len(self.accusations) < _MOST_KEYS:
            self.accusations[str(first.key)] = finding
        return finding


class KeyChanged(ConductJudge):
    """Detects a mutation that is repeated with a new key although the result of the first attempt
    is uncertain.

    Two workers may each intend the same change, so a finding is withdrawn if the first key is sent
    again later. A request that was sent while the first client was still waiting must come from
    another worker, so it causes no finding. If the second attempt uses a different API key, or
    arrives at least a minute later on a different connection, the finding is a note.
    """

    def __init__(self) -> None:
        self._intents: Recent[Hashable, _Intent] = Recent()
        #: The flag changes whose result is uncertain, by user and path, and then by request.
        self._flags: Recent[Hashable, dict[Hashable, _Intent]] = Recent()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        key = exchange.mutation_key
        if key is None:
            return
        intent_key = (exchange.user, exchange.request_identity)
        intent = self._intents.get(intent_key)
        if intent is None:
            intent = self._intents.keep(intent_key, _Intent())
        if key in intent.accusations:
            intent.accusations.pop(key).withdrawn = True
        yield from _changed_keys(intent, exchange, key)
        if len(intent.keys) < _MOST_KEYS:
            intent.keys.add(key)
        yield from _overtaken_attempts(intent, exchange, key)
        intent.note_attempt(exchange, key)
        self._note_result(intent, exchange, key)

    def _note_result(self, intent: _Intent, exchange: ExchangeView, key: str) -> None:
        flag_key = (exchange.user, exchange.path)
        if exchange.is_uncertain:
            if key not in intent.settled_keys:
                intent.uncertain[key] = exchange
            if exchange.call == _SET_FLAG:
                intents = self._flags.get(flag_key, {})
                self._flags.keep(flag_key, {**intents, exchange.request_identity: intent})
        elif exchange.status not in _EARLY_REFUSALS and exchange.entry.code != "rate_limited":
            intent.uncertain.pop(key, None)  # the result is known now
            if exchange.succeeded and len(intent.settled_keys) < _MOST_KEYS:
                intent.settled_keys.add(key)
        if exchange.call == _SET_FLAG and exchange.succeeded:
            # This change to the flag supersedes all other uncertain changes to the same flag.
            for request_identity, flag_intent in self._flags.pop(flag_key, {}).items():
                if request_identity != exchange.request_identity:
                    flag_intent.uncertain.clear()


def _changed_keys(intent: _Intent, exchange: ExchangeView, key: str) -> Iterator[Finding]:
    """Yield a finding for each uncertain attempt that was repeated with a new key."""
    for earlier_key, earlier in list(intent.uncertain.items()):
        is_over = _is_forgotten(earlier, exchange) or exchange.waited(earlier, A_RETRY_MS)
        is_new_key = earlier_key != key and (is_over or key not in intent.keys)
        if not is_new_key:
            continue
        if not is_over:
            if not exchange.may_react_to(earlier):
                continue
            yield intent.accuse(earlier, exchange)
        del intent.uncertain[earlier_key]  # the attempt was reported or is too old


def _overtaken_attempts(intent: _Intent, exchange: ExchangeView, key: str) -> Iterator[Finding]:
    """Yield a finding if a client gave up on a delayed attempt and sent a different key in the
    meantime.

    `exchange` is the delayed attempt. It is judged after the attempt with the other key, because
    exchanges are judged in the order of their responses.
    """
    last = intent.last
    if last is None or last.key == key:
        return
    attempt = intent.attempts.get(key)
    is_retried = attempt is not None and _gave_up(attempt, exchange)
    if not is_retried and _gave_up(last, exchange):
        yield intent.accuse(exchange, last)


def _gave_up(second: ExchangeView, first: ExchangeView) -> bool:
    """Return whether the client gave up on `first`, a delayed request, and then sent `second`."""
    if not first.is_uncertain or first.reports_uncertainty:
        return False
    if first.entry.passage is None:
        return first.entry.real_ms < second.entry.real_ms < first.response_ms
    return second.may_react_to(first)


def _key_changed(first: ExchangeView, second: ExchangeView) -> Finding:
    result = "no complete response"
    if first.reports_uncertainty and not first.entry.lost:
        result = str(first.status)
    quote = None
    spec = first.spec
    if spec is not None and spec.retry_sentence:  # the rule's own quote is about a different call
        quote = (spec.retry_sentence, f"contract, section {spec.section}")
    is_other_connection = second.connection_use is not first.connection_use
    may_be_another_run = is_other_connection and second.waited(first, _ANOTHER_RUN_MS)
    first_api_key = first.entry.principal.api_key_id
    is_same_client = first_api_key == second.entry.principal.api_key_id
    return Finding(
        "new-key-after-uncertainty",
        first,
        second,
        result=result,
        sure=is_same_client and not may_be_another_run,
        quote=quote,
    )


def _is_forgotten(earlier: ExchangeView, exchange: ExchangeView) -> bool:
    """Return whether the service had forgotten an earlier attempt's key when `exchange` arrived."""
    retention_ms = parse_retention_ms(exchange.world.assumptions.idempotency_retention)
    if retention_ms is None:
        return False
    return earlier.at_ms + retention_ms <= exchange.entry.came_ms


class KeyReused(ConductJudge):
    """Detects when a user sends the same key in two different requests."""

    def __init__(self) -> None:
        #: The first request with each key, and whether that request was refused. The service may
        #: not have stored the key of a refused request.
        self._uses: Recent[Hashable, tuple[ExchangeView, bool]] = Recent()

    def observe(self, exchange: ExchangeView) -> Iterator[Finding]:
        key = exchange.mutation_key
        if key is None:
            return
        is_for_one_call = exchange.world.assumptions.idempotency_scope == "principal_and_call"
        use_key = (exchange.user, key, str(exchange.call) if is_for_one_call else "")
        is_refused = 400 <= exchange.status < 500
        use = self._uses.get(use_key)
        if use is None or _is_forgotten(use[0], exchange):
            self._uses.keep(use_key, (exchange, is_refused))
            return
        first, may_be_free = use
        is_other_request = first.request_identity != exchange.request_identity
        if is_other_request:
            yield _key_reused(first, exchange, may_be_free=may_be_free)
        if may_be_free and (is_other_request or not is_refused):
            self._uses.keep(use_key, (exchange, is_refused))


def _key_reused(first: ExchangeView, exchange: ExchangeView, *, may_be_free: bool) -> Finding:
    unsaid = ""
    if may_be_free:
        unsaid = (
            ". The first request was refused, and the contract does not say whether a key can be used "
            "again after a refusal"
        )
    return Finding(
        "key-reused-for-another-request",
        first,
        exchange,
        change="with another body" if first.path == exchange.path else "for a different request",
        unsaid=unsaid,
        group=(exchange.user, exchange.key),
        sure=not may_be_free,
    )


class KeyOutlivesIntent(ConductJudge):
    """Detects a flag change that is sent with the key of an earlier change, although the flag has
    changed in the meantime.

    There is no finding if the client had not yet received the response to the intervening change.
    """

    def __init__(self) -> None:
        #: For each user and key, the first exchange whose response the client received.
        self._received = _Views()
        #: For each user and path, the most recent change to the flag.
        self._changes = _Views()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        key = exchange.mutation_key
        if key is None or exchange.call != _SET_FLAG or not exchange.succeeded:
            return
        flag_key = (exchange.user, exchange.path)
        group = (exchange.user, key)
        if not exchange.entry.replayed:
            self._received.keep(group, exchange)
            self._changes.keep(flag_key, exchange)
            return
        first = self._received.get(group)
        between = self._changes.get(flag_key)
        self._received.keep(group, first or exchange)
        if first is None or between is None or between.n < first.n:
            return
        if between.request_identity == exchange.request_identity:
            return
        if exchange.entry.real_ms >= between.response_ms:
            yield Finding(
                "key-outlives-intent", first, between, exchange, between=between, group=group
            )


class SentTwice(ConductJudge):
    """Detects a change that was made twice at about the same time, on two connections and with two
    keys.
    """

    def __init__(self) -> None:
        self._applied = _Views()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        is_applied = (
            exchange.mutation_key is not None
            and not exchange.entry.replayed
            and 0 < exchange.status < 300
        )
        # Setting a flag a second time to the same value changes nothing.
        if not is_applied or exchange.call == _SET_FLAG:
            return
        group = (exchange.user, exchange.request_identity)
        earlier = self._applied.get(group)
        self._applied.keep(group, exchange)
        if earlier is None or earlier.key == exchange.key:
            return
        if not exchange.is_beside(earlier, _ONE_CLICK_MS):
            return
        if not earlier.is_received or not exchange.is_received:
            return  # `KeyChanged` reports repeats of attempts without a response
        if abs(exchange.entry.came_ms - earlier.entry.came_ms) < _ONE_CLICK_MS:
            yield Finding("sent-twice-at-once", earlier, exchange, group=group)


class KeyValues(ConductJudge):
    """Detects API keys whose value the client never received, unless a later key replaced them."""

    def __init__(self) -> None:
        self._lost: Recent[tuple[str | None, str], ExchangeView] = Recent()

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        if exchange.call != "create_user_api_key" or exchange.status >= 400:
            return ()
        key = exchange.mutation_key
        if key is None:
            return ()
        if not exchange.succeeded:
            self._lost.keep((exchange.user, key), exchange)
        elif not exchange.entry.replayed:
            for lost_key in [lost_key for lost_key in self._lost if lost_key[0] == exchange.user]:
                del self._lost[lost_key]
        return ()

    def end(self) -> Iterable[Finding]:
        return [Finding("api-key-value-lost", creation) for creation in self._lost.values()]
