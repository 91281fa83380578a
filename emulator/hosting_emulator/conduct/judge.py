"""The base of all judges of conduct."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding


class ConductJudge:
    """Observes every exchange of one world in order, and remembers what its rules need."""

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        """Observe the next exchange, and return what it shows."""
        return ()

    def after_rewind(self) -> ConductJudge:
        """Return the judge that continues after the world was rewound: a new one without memory."""
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Return what can only be said once the client is done.

        It changes nothing, because the client may go on after all.
        """
        return ()
