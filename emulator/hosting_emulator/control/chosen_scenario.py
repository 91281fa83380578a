"""The scenario that a request names.

Another module reads it, so that a start does not load scenarios.
"""

from __future__ import annotations

from hosting_emulator.http.endpoint import Body


class Chosen(Body):
    """A scenario: its name in the library, or its text. `file` is the file name in errors."""

    name: str | None = None
    text: str | None = None
    file: str = "scenario.yaml"
