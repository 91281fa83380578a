"""The request body that selects a scenario.

The `scenario_worlds` module reads the scenario. The two modules are separate so that starting the
emulator does not import the code that reads scenarios.
"""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.http.endpoint import Body
from hosting_emulator.messages.declaration import doc


class Chosen(Body):
    """A scenario, given by its name in the library or by its text.

    Error messages refer to the scenario file as `file`.
    """

    name: Annotated[
        str | None,
        doc("The name of a scenario in the library. Specify either `name` or `text`."),
    ] = None
    text: Annotated[
        str | None, doc("The YAML text of a scenario. Specify either `name` or `text`.")
    ] = None
    file: Annotated[str, doc("The name of the file in error messages about `text`.")] = (
        "scenario.yaml"
    )
