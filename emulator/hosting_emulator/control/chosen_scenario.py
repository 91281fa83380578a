"""The request body that names a scenario.

The `scenario_worlds` module reads the scenario. The two modules are separate so that a start of the
emulator does not import the code that reads scenarios.
"""

from __future__ import annotations

from hosting_emulator.http.endpoint import Body


class Chosen(Body):
    """A scenario, given by its name in the library or by its text.

    Error messages use `file` as the name of the scenario file.
    """

    name: str | None = None
    text: str | None = None
    file: str = "scenario.yaml"
