"""Estimates how many workers share credentials, and turns findings into notes if several do."""

from __future__ import annotations

from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.recent import Recent

#: The maximum number of open connections to remember for the same credentials.
MOST_WORKERS = 64
#: The maximum number of findings, for the same credentials, that can still become notes.
_MOST_DOUBTFUL = 100


class Workers:
    """Counts the workers that share credentials and a pool of connections.

    Workers that share a connection pool take turns using its connections. The next request on a connection
    may therefore come from a worker that has not seen the previous response. A pool is detected when two
    requests are in progress at once, or when a connection is used again after another connection was used.
    Findings that hold only for a single worker become notes when a pool is detected.

    With `notices_crossing`, opening a new connection just after a request on another open connection also
    indicates a pool. The pool is detected as soon as a connection with the same credentials is used again.
    """

    def __init__(self, *, notices_crossing: bool = False) -> None:
        self._notices_crossing = notices_crossing
        self._uses: Recent[bytes, list[ConnectionUse]] = Recent()
        self._last: Recent[bytes, ExchangeView] = Recent()
        self._counts: Recent[bytes, int] = Recent()
        self._doubtful: Recent[bytes, list[Finding]] = Recent()
        #: The credentials that two requests used at about the same time, on two open connections.
        self._crossed: Recent[bytes, None] = Recent()

    def count(self, exchange: ExchangeView) -> int:
        """Record an exchange, and estimate how many workers share its credentials."""
        credentials = exchange.credentials
        last = self._last.get(credentials)
        self._last.keep(credentials, exchange)
        open_uses = self._note_use(exchange)
        if self._shows_pool(exchange, last):
            count = max(len(open_uses), 2, self._counts.get(credentials, 1))
            self._counts.keep(credentials, count)
            for finding in self._doubtful.pop(credentials, []):
                finding.severity = "note"
        return self._counts.get(credentials, 1)

    def _note_use(self, exchange: ExchangeView) -> list[ConnectionUse]:
        """Record the use of a connection.

        Returns the connections with the same credentials that may still be open. The connection of this
        exchange comes last.
        """
        current = exchange.connection_use
        uses = [
            use
            for use in self._uses.get(exchange.credentials, [])
            if use is not current and not _was_over(use, exchange)
        ]
        open_uses = [*uses, current][-MOST_WORKERS:]
        return self._uses.keep(exchange.credentials, open_uses)

    def _shows_pool(self, exchange: ExchangeView, last: ExchangeView | None) -> bool:
        is_reused = exchange.ordinal > 1
        if self._notices_crossing and last is not None and not is_reused and exchange.crossed(last):
            self._crossed.keep(exchange.credentials, None)
        # A single worker that reuses its connection never opens a second connection at the same time.
        if is_reused and exchange.credentials in self._crossed:
            return True
        if last is None or last.connection_use is exchange.connection_use:
            return False
        return is_reused or exchange.overlaps(last)

    def doubt(self, exchange: ExchangeView, finding: Finding) -> Finding:
        """Remember a finding, and return it.

        The finding becomes a note if a pool is later detected for the credentials of this exchange.
        """
        doubtful = self._doubtful.get(exchange.credentials)
        if doubtful is None:
            doubtful = self._doubtful.keep(exchange.credentials, [])
        if len(doubtful) < _MOST_DOUBTFUL:
            doubtful.append(finding)
        return finding


def _was_over(use: ConnectionUse, exchange: ExchangeView) -> bool:
    """Return whether a connection had ended when a request arrived on a different connection."""
    passage = exchange.entry.passage
    if passage is not None:
        return 0 < use.connection.ended < passage.arrival
    return exchange.connection_use.connection.follows(use.connection)
