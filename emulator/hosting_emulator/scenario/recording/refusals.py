"""The refusal of a session that no scenario can express."""

from __future__ import annotations


class NotRecordable(ValueError):
    """A session cannot be written as a scenario. The message says why, and what to do if that is known."""
