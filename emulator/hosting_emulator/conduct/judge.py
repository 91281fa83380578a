"""The base class of all conduct judges."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.conduct.exchange_view import ExchangeView
from hosting_emulator.conduct.findings import Finding


class ConductJudge:
    """Observes the exchanges of one world in the order of their responses.

    A judge stores whatever its rules need to know about earlier exchanges.
    """

    def observe(self, exchange: ExchangeView) -> Iterable[Finding]:
        """Observe the next exchange and return the findings that result from it."""
        return ()

    def after_rewind(self) -> ConductJudge:
        """Return the judge that continues after the world is rewound.

        By default, this is a new judge without any stored data.
        """
        return type(self)()

    def end(self) -> Iterable[Finding]:
        """Return the findings that hold if the client has finished.

        This method must not change the judge, because the client may still send requests.
        """
        return ()
