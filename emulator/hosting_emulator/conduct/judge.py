"""The base class of all judges of conduct."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding


class ConductJudge:
    """Observes all exchanges of one world in order, and remembers the data that its rules need."""

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        """Observe the next exchange, and return the findings that it causes."""
        return ()

    def after_rewind(self) -> ConductJudge:
        """Return the judge that continues after a rewind of the world. By default it has no memory."""
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Return the findings that depend on the client being done.

        The judge does not change, because the client may still continue.
        """
        return ()
