"""The scenario that a request names. `scenario_worlds.py` reads it, which takes long to import."""

from __future__ import annotations

from hosting_emulator.http.endpoint import Body


class Chosen(Body):
    """A scenario: by its name in the library, or as text (`file` is shown in errors)."""

    name: str | None = None
    text: str | None = None
    file: str = "scenario.yaml"
