"""The request body that selects a scenario.

The `scenario_worlds` module reads the scenario. The two modules are separate so that starting the
emulator does not import the code that reads scenarios.
"""

from __future__ import annotations

from hosting_emulator.http.endpoint import Body


class Chosen(Body):
    """A scenario, given by its name in the library or by its text.

    Error messages refer to the scenario file as `file`.
    """

    name: str | None = None
    text: str | None = None
    file: str = "scenario.yaml"
