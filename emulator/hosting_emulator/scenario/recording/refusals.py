"""The exception for a session that a scenario cannot express."""

from __future__ import annotations


class NotRecordable(ValueError):
    """A session cannot be recorded as a scenario.

    The message gives the reason and, if there is a remedy, what to do.
    """
