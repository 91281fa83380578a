"""Collects the errors that judges raise. They are reported with the findings and never reach a client."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("hosting_emulator.conduct")
#: The maximum number of errors to keep as text. Further errors are only counted.
MOST_ERRORS = 10
_LONGEST_TEXT = 500


class JudgeErrors:
    """The errors from judges: the first errors as text, and the total number."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.count = 0

    def add(self, error: Exception, judge: str) -> None:
        """Record an error from a judge. If it is one of the first errors, also log its traceback."""
        self.count += 1
        if self.count > MOST_ERRORS:
            return
        text = f"{judge} failed: {type(error).__name__}: {error}"
        self._texts.append(text[:_LONGEST_TEXT])
        _log.error("%s failed while it judged a client", judge, exc_info=error)

    def texts(self) -> list[str]:
        """Return the errors as text, and the number of further errors."""
        more = self.count - len(self._texts)
        if not more:
            return [*self._texts]
        return [*self._texts, f"{more:,} more errors of judges"]

    @contextmanager
    def recorded(self, judge: str) -> Iterator[None]:
        """Record an error from a judge instead of raising it."""
        try:
            yield
        except Exception as error:
            self.add(error, judge)
