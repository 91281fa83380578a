"""Estimates how many workers share the same credentials, and downgrades findings to notes if there
are several.
"""

from __future__ import annotations

from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.conduct.findings import Finding
from hosting_emulator.conduct.recent import Recent

#: The maximum number of open connections to remember for the same credentials.
MOST_WORKERS = 64
#: The maximum number of findings, for the same credentials, that can still be downgraded to notes.
_MOST_DOUBTFUL = 100


class Workers:
    """Counts the workers that share credentials and a pool of connections.

    Workers that share a connection pool take turns using its connections. The next request on a
    connection may therefore come from a worker that has not seen the previous response. A pool is
    detected when two requests are in progress at once, or when a connection is used again after
    another connection was used. When a pool is detected, findings that are valid only for a single
    worker are downgraded to notes.

    With `notices_crossing`, a new connection that is opened just after a request on another open
    connection also indicates a pool. The pool then counts as detected as soon as any connection
    with the same credentials is used again.
    """

    def __init__(self, *, notices_crossing: bool = False) -> None:
        self._notices_crossing = notices_crossing
        self._uses: Recent[bytes, list[ConnectionUse]] = Recent()
        self._last: Recent[bytes, ExchangeView] = Recent()
        self._counts: Recent[bytes, int] = Recent()
        self._doubtful: Recent[bytes, list[Finding]] = Recent()
        #: The credentials that were used in two requests at about the same time, on two open
        #: connections.
        self._crossed: Recent[bytes, None] = Recent()

    def count(self, exchange: ExchangeView) -> int:
        """Record an exchange, and return an estimate of how many workers share its credentials."""
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

        The finding is downgraded to a note if a pool is detected later for the same credentials.
        """
        doubtful = self._doubtful.get(exchange.credentials)
        if doubtful is None:
            doubtful = self._doubtful.keep(exchange.credentials, [])
        if len(doubtful) < _MOST_DOUBTFUL:
            doubtful.append(finding)
        return finding


def _was_over(use: ConnectionUse, exchange: ExchangeView) -> bool:
    """Return whether a connection had already been closed when a request arrived on a different
    connection.
    """
    passage = exchange.entry.passage
    if passage is not None:
        return 0 < use.connection.ended < passage.arrival
    return exchange.connection_use.connection.follows(use.connection)
