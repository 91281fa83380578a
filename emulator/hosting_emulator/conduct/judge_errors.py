"""Collects the errors that judges raise. The errors are included in reports, but clients never see
them.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_log = logging.getLogger("hosting_emulator.conduct")
#: The maximum number of errors whose text is stored. Further errors are only counted.
MOST_ERRORS = 10
_LONGEST_TEXT = 500


class JudgeErrors:
    """Counts the errors from judges, and stores the texts of the first `MOST_ERRORS`."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self.count = 0

    def add(self, error: Exception, judge: str) -> None:
        """Record an error from a judge.

        The first `MOST_ERRORS` errors are also logged with their tracebacks.
        """
        self.count += 1
        if self.count > MOST_ERRORS:
            return
        text = f"{judge} failed: {type(error).__name__}: {error}"
        self._texts.append(text[:_LONGEST_TEXT])
        _log.error("%s failed while it judged a client", judge, exc_info=error)

    def texts(self) -> list[str]:
        """Return the stored texts. If there were further errors, the last item says how many."""
        more = self.count - len(self._texts)
        if not more:
            return [*self._texts]
        errors = "error" if more == 1 else "errors"
        return [*self._texts, f"{more:,} more {errors} from judges"]

    @contextmanager
    def recorded(self, judge: str) -> Iterator[None]:
        """Record an error that the `with` block raises, instead of propagating it."""
        try:
            yield
        except Exception as error:
            self.add(error, judge)
