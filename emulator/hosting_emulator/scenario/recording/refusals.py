"""The exception raised for a session that cannot be expressed as a scenario."""

from __future__ import annotations


class NotRecordable(ValueError):
    """Raised if a session cannot be recorded as a scenario.

    The message says why and, if possible, what to do about it.
    """
