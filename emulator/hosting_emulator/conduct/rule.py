"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from hosting_emulator.conduct.seen import Seen

Severity = Literal["error", "warning", "note"]
#: From the least to the worst.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")

CONTRACT = "the contract"
_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a client must not do, or had better not.

    `because` is a sentence that says so, and `place` where it stands; `matters` says what happens to
    who breaks it, and `instead` what to do.
    """

    id: str
    severity: Severity
    title: str
    because: str
    place: str
    matters: str
    instead: str


@dataclass(slots=True)
class Finding:
    """A rule that was broken: by which requests, in one sentence with the particulars.

    `requests` are numbers of the request log, oldest first; `at_ms` is world time. Findings of one
    rule with the same `group` are one finding of more requests. `severity` is the rule's unless this
    one is milder.
    """

    rule: Rule
    requests: list[int]
    says: str
    at_ms: int
    severity: Severity
    group: Hashable = None
    #: Requests beyond those that are listed, and the number of the last of all.
    more: int = 0
    last: int = 0
    #: What came later shows that it was none.
    withdrawn: bool = False
    #: The sentence that says so and where it stands, where they are not the rule's.
    because: str = ""
    place: str = ""


class Judge:
    """Sees every exchange of one world in order, and remembers what its rules need."""

    rules: ClassVar[tuple[Rule, ...]]

    def see(self, seen: Seen) -> Iterable[Finding]:
        """Look at the next exchange."""
        return ()

    def turned(self) -> Judge:
        """Return who judges on once the world was put back: one that knows nothing of before."""
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Say what can only be said once the client is done. Changes nothing: it may go on."""
        return ()


def found(
    rule: Rule,
    requests: Iterable[Seen],
    says: str,
    *,
    group: Hashable = None,
    severity: Severity | None = None,
    quote: tuple[str, str] = ("", ""),
) -> Finding:
    """Return a finding about some exchanges; world time is that of the last.

    `quote` is the sentence and its place, where the rule's own do not fit.
    """
    exchanges = sorted(requests, key=lambda seen: seen.n)
    numbers = [seen.n for seen in exchanges]
    at_ms, how_bad = exchanges[-1].at_ms, severity or rule.severity
    because, place = quote
    return Finding(
        *(rule, numbers, says, at_ms, how_bad, group),
        last=numbers[-1],
        because=because,
        place=place,
    )


class Recent(dict[_K, _V]):
    """What was last known of things; of so many at most, so that a long run stays small."""

    MOST = 2048

    def keep(self, key: _K, value: _V) -> None:
        """Remember a thing, the longest known making room."""
        if key not in self and len(self) >= self.MOST:
            del self[next(iter(self))]
        self[key] = value
