"""The scenario that a request names. It is read elsewhere, so that a start does not load scenarios."""

from __future__ import annotations

from hosting_emulator.http.endpoint import Body


class Chosen(Body):
    """A scenario: by its name in the library, or as text (`file` is shown in errors)."""

    name: str | None = None
    text: str | None = None
    file: str = "scenario.yaml"
