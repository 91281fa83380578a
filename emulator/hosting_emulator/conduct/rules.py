"""What a rule is, who judges by it, and what is found."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from hosting_emulator.conduct.exchange import ExchangeView
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.contract.words import read_sections

Severity = Literal["error", "warning", "note"]
#: From the least to the worst.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")

_K = TypeVar("_K")
_V = TypeVar("_V")


@dataclass(frozen=True, slots=True)
class ConductRule:
    """One thing that a client must not do, or had better not; `rules.md` holds them all.

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

    def view(self) -> dict[str, str]:
        """Return the rule as the control API shows it."""
        return asdict(self)


@dataclass(slots=True)
class Finding:
    """A rule that was broken: by which requests, in one sentence with the particulars.

    `requests` are numbers of the request log, oldest first; `at_ms` is world time. Findings of one
    rule with the same `group` are one finding of more requests. `severity` is the rule's unless this
    one is milder.
    """

    rule: ConductRule
    severity: Severity
    says: str
    requests: list[int]
    at_ms: int
    because: str
    place: str
    group: Hashable = None
    #: Requests beyond those that are listed, and the number of the last of all.
    more: int = 0
    last: int = 0
    #: What came later shows that it was none.
    withdrawn: bool = False

    def view(self) -> dict[str, Any]:
        """Return the finding as the control API shows it."""
        return {
            "rule": self.rule.id,
            "severity": self.severity,
            "title": self.rule.title,
            "says": self.says,
            "requests": self.requests,
            "more_requests": self.more,
            "at": format_timestamp(self.at_ms),
            "because": self.because,
            "place": self.place,
            "matters": self.rule.matters,
            "instead": self.rule.instead,
        }


#: All rules by their ids, in the order in which documents list them.
RULES = {
    id_: ConductRule(id_, **dict(items))  # type: ignore[arg-type]  # its severity is a text
    for id_, items in read_sections(Path(__file__).with_name("rules.md"))
}


def finding(
    rule_id: str,
    says: str,
    *exchanges: ExchangeView,
    group: Hashable = None,
    severity: Severity | None = None,
    quote: tuple[str, str] | None = None,
) -> Finding:
    """Return a finding about some exchanges; world time is that of the last.

    `quote` is the sentence and its place, where the rule's own do not fit.
    """
    rule = RULES[rule_id]
    numbers = sorted(exchange.n for exchange in exchanges)
    last = max(exchanges, key=lambda exchange: exchange.n)
    because, place = quote or (rule.because, rule.place)
    how_bad = severity or rule.severity
    return Finding(
        *(rule, how_bad, says, numbers, last.at_ms, because, place, group), last=numbers[-1]
    )


class ConductJudge:
    """Sees every exchange of one world in order, and remembers what its rules need."""

    def see(self, now: ExchangeView) -> Iterable[Finding]:
        """Look at the next exchange."""
        return ()

    def after_return(self) -> ConductJudge:
        """Return who judges on once the world was put back: one that knows nothing of before."""
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Say what can only be said once the client is done. Changes nothing: it may go on."""
        return ()


class Recent(dict[_K, _V]):
    """What was last known of things; of so many at most, so that a long run stays small."""

    MOST = 2048

    def keep(self, key: _K, value: _V) -> None:
        """Remember a thing, the longest known making room."""
        if key not in self and len(self) >= self.MOST:
            del self[next(iter(self))]
        self[key] = value
