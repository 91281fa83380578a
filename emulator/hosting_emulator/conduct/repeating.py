"""Idempotency-Keys: whether each mutation has one, and the right one when it is tried again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hosting_emulator.conduct.rule import CONTRACT, Finding, Judge, Recent, Rule, found
from hosting_emulator.conduct.seen import A_RETRY_MS, Seen, named, waited
from hosting_emulator.contract.durations import parse_duration_ms

_Request = tuple[str, str, str, bytes]
_MOST_ACCUSED = 100
_FLAG = "set_project_powered_by_flag"

MISSING_KEY = Rule(
    id="missing-idempotency-key",
    severity="error",
    title="A mutation without an Idempotency-Key",
    because="Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
    "header is listed for operations 5 to 8).",
    place=f"{CONTRACT}, Endpoints",
    matters="The request is refused; and without a key no lost answer can be asked for again.",
    instead="Make a key for each thing that is to be done, and send it with every attempt at it.",
)
NEW_KEY = Rule(
    id="new-key-after-uncertainty",
    severity="error",
    title="Tried again under a new Idempotency-Key, not knowing what became of the first attempt",
    because="After any uncertainty the same name and Idempotency-Key are reused rather than creating "
    "another token.",
    place=f"{CONTRACT}, Endpoints, 3",
    matters="The first attempt may have been carried out: the second does it again, and leaves two "
    "keys or two operations where one was wanted.",
    instead="Keep the key of the first attempt, and send it with each further one until an answer "
    "says what became of it.",
)
KEY_REUSED = Rule(
    id="key-reused-for-another-request",
    severity="error",
    title="An Idempotency-Key used again for something else",
    because="Same key with a changed request: 409 code idempotency_key_reused.",
    place=f"{CONTRACT}, Endpoints, 1",
    matters="The second request is refused, or it is taken for a repetition of the first and never "
    "carried out.",
    instead="Make a new key for each thing that is to be done; a random one will do.",
)


class MissingKey(Judge):
    """Calls 1 to 4 without the header they require."""

    rules = (MISSING_KEY,)

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at one request alone."""
        if seen.spec is not None and seen.spec.idempotent and not seen.key:
            yield found(
                MISSING_KEY,
                [seen],
                f"{named(seen)} came without an Idempotency-Key.",
                group=(seen.call, seen.entry.path),
            )


@dataclass(slots=True)
class _Attempts:
    """What is known of one thing that was to be done: the last attempt under each key."""

    unsure: dict[str, Seen] = field(default_factory=dict)
    #: The last of all attempts, whatever became of it.
    last: Seen | None = None
    #: What was found of attempts that were not asked for again, by their keys.
    accused: dict[str, Finding] = field(default_factory=dict)


class NewKey(Judge):
    """The same mutation under another key, while an attempt under the first ended uncertain.

    Two workers may each have a wish of their own: whoever asks again under the first key after all
    is accused no longer.
    """

    rules = (NEW_KEY,)

    def __init__(self) -> None:
        self._of: Recent[tuple[str, _Request], _Attempts] = Recent()
        #: Flags whose switching ended uncertain, by person and address.
        self._flags: Recent[tuple[str, str], dict[_Request, _Attempts]] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Follow the attempts at each thing."""
        if seen.spec is None or not seen.spec.idempotent or seen.who is None or not seen.key:
            return
        known = self._of.get((seen.who, seen.request))
        if known is None:
            known = _Attempts()
            self._of.keep((seen.who, seen.request), known)
        if seen.key in known.accused:
            known.accused.pop(seen.key).withdrawn = True
        yield from self._judged(seen, known)
        self._learn(seen, known)

    def _judged(self, seen: Seen, known: _Attempts) -> Iterator[Finding]:
        for key, before in list(known.unsure.items()):
            if key == seen.key:
                continue
            if _given_up(before, seen):
                yield self._accused(before, seen, known)
            del known.unsure[key]  # said once, or over
        last = known.last
        if seen.entry.late_ms and last is not None and last.key != seen.key:
            # A delayed request stands in the log after the one that came while it was held up.
            came_ms = seen.entry.real_ms
            if came_ms < last.entry.real_ms < seen.left_ms:
                yield self._accused(seen, last, known)

    def _accused(self, first: Seen, second: Seen, known: _Attempts) -> Finding:
        told = first.says_uncertain and not first.entry.lost
        how = str(first.status) if told else "no whole answer"
        finding = found(
            NEW_KEY,
            [first, second],
            f"{named(first)} got {how} under the key {first.key!r} (#{first.n}), and was sent again "
            f"under the key {second.key!r} (#{second.n}).",
        )
        if len(known.accused) < _MOST_ACCUSED:
            known.accused[str(first.key)] = finding
        return finding

    def _learn(self, seen: Seen, known: _Attempts) -> None:
        assert seen.key is not None
        known.last = seen
        if seen.uncertain or seen.entry.late_ms:
            known.unsure[seen.key] = seen
            if seen.call == _FLAG:
                place = (str(seen.who), seen.path)
                self._flags.keep(place, {**self._flags.get(place, {}), seen.request: known})
        elif seen.status not in (401, 408, 429):
            known.unsure.pop(seen.key, None)  # now it is known what became of it
        if seen.call == _FLAG and seen.succeeded:
            self._forget_other_flags(seen)

    def _forget_other_flags(self, seen: Seen) -> None:
        """A flag that was switched since is not the one that was uncertain."""
        for request, known in self._flags.pop((str(seen.who), seen.path), {}).items():
            if request != seen.request:
                known.unsure.clear()


def _given_up(before: Seen, seen: Seen) -> bool:
    """Tell whether an attempt was still uncertain when the next came."""
    retention_ms = parse_duration_ms(seen.world.assumptions.idempotency_retention)
    if seen.entry.came_ms - before.at_ms >= retention_ms:  # its key is forgotten by now
        return False
    if waited(before, seen, A_RETRY_MS):
        return False
    return before.uncertain or seen.entry.real_ms < before.left_ms


@dataclass(frozen=True, slots=True)
class _Use:
    first: Seen
    #: It was refused: its key may be free still.
    refused: bool


class KeyReused(Judge):
    """One key for two different requests of one person."""

    rules = (KEY_REUSED,)

    def __init__(self) -> None:
        self._uses: Recent[tuple[str, str, str], _Use] = Recent()

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Remember what each key was used for first."""
        if seen.spec is None or not seen.spec.idempotent or seen.who is None or not seen.key:
            return
        assumptions = seen.world.assumptions
        scoped = assumptions.idempotency_scope == "principal_and_call"
        place = (seen.who, seen.key, str(seen.call) if scoped else "")
        use = self._uses.get(place)
        refused = 400 <= seen.status < 500
        if use is None or _is_over(use, seen):
            self._uses.keep(place, _Use(seen, refused))
        elif use.first.request != seen.request:
            yield _reused(use, seen)
            if use.refused:
                self._uses.keep(place, _Use(seen, refused))
        elif use.refused and not refused:
            self._uses.keep(place, _Use(seen, False))


def _is_over(use: _Use, seen: Seen) -> bool:
    retention_ms = parse_duration_ms(seen.world.assumptions.idempotency_retention)
    return seen.entry.came_ms - use.first.at_ms >= retention_ms


def _reused(use: _Use, seen: Seen) -> Finding:
    first = use.first
    differs = "another body" if first.path == seen.path else "something else"
    free = "; the first was refused, and whether its key is free again the contract does not say"
    return found(
        KEY_REUSED,
        [first, seen],
        f"The key {seen.key!r} of {named(first)} (#{first.n}) was sent with {differs} "
        f"({named(seen)}, #{seen.n}){free if use.refused else ''}.",
        group=(seen.who, seen.key),
        severity="note" if use.refused else None,
    )
