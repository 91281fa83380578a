"""The base class of all conduct judges."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding


class ConductJudge:
    """Observes the exchanges of one world in the order of their responses.

    A judge remembers whatever data its rules need.
    """

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        """Observe the next exchange, and return the findings that the exchange causes."""
        return ()

    def after_rewind(self) -> ConductJudge:
        """Return the judge that continues after the world is rewound.

        By default, the result is a new judge that remembers nothing.
        """
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Return the findings that apply if the client has finished.

        This method must not change the judge, because the client may still send requests.
        """
        return ()
