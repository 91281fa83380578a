"""A finding: a rule that a client broke, and the requests that broke it."""

from __future__ import annotations

from collections.abc import Hashable

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.rules import MESSAGES, RULES
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.messages import ConductFinding, Severity

#: The severities, from the least to the most severe.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


class Finding:
    """A rule that a client broke, the requests that broke it, and a message with the details.

    Findings of the same rule with the same `group` are merged into a single finding. `last` is the
    number of the finding's last request. A finding that is not `sure` has the severity `note`. A
    finding that later requests refute is `withdrawn`. `quote`, a sentence and its source, replaces
    the rule's own quote. `message` replaces the message that is built from the rule's template.
    `words` are the values for the template's placeholders, except `first`, `last` and `waited`.
    """

    def __init__(
        self,
        rule_id: str,
        *exchanges: ExchangeView,
        group: Hashable = None,
        sure: bool = True,
        quote: tuple[str, str] | None = None,
        message: str = "",
        **words: object,
    ) -> None:
        rule = RULES[rule_id]
        first = exchanges[0]
        last = exchanges[-1]
        if not message:
            particulars = {"first": first, "last": last, "waited": last.shown_wait(first), **words}
            message = MESSAGES[rule_id].format_map(particulars)
        latest = max(exchanges, key=lambda exchange: exchange.n)
        self.rule = rule_id
        self.severity: Severity = rule.severity if sure else "note"
        self.message = message
        self.quote = quote or (rule.because, rule.place)
        self.requests = sorted(exchange.n for exchange in exchanges)
        self.more_requests = 0
        self.at = format_timestamp(latest.at_ms)
        self.group = group
        self.last = self.requests[-1]
        self.withdrawn = False

    def as_message(self) -> ConductFinding:
        """Return the finding as a message of the control API."""
        rule = RULES[self.rule]
        sentence, place = self.quote
        return ConductFinding(
            rule=self.rule,
            severity=self.severity,
            title=rule.title,
            message=self.message,
            requests=list(self.requests),
            more_requests=self.more_requests,
            at=self.at,
            because=sentence,
            place=place,
            matters=rule.matters,
            instead=rule.instead,
        )
