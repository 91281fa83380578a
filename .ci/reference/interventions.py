"""The page of interventions."""

from __future__ import annotations

from hosting_emulator.faults.interventions import describe_interventions
from reference.markdown import block, docstring, join
from reference.triggers import command_line, definition_of, fields_table

INTRODUCTION = """\
An intervention changes a world from outside the contract. `hosting-emulator intervene NAME
FIELD=VALUE` makes one in a running emulator. A scenario's timeline writes the same intervention as
`{at: 5m, NAME: {FIELD: VALUE}}`, and Python as `hosting_emulator.intervene("NAME", FIELD=VALUE)`.
An impossible intervention is refused with the reason, and changes nothing.

Name an operation by its id, or by the project whose claim it holds. In a world with only one
project or organization, `project` and `organization` may be left out. With `all`, an intervention
applies to every unfinished operation of the `project` or of the world, to every unused ticket of
the `user`, or to every active key of the `user` or the `organization`. Those to which it cannot
apply are skipped, and counted in the response."""


def render() -> str:
    """Return the page without its title."""
    return join(
        INTRODUCTION, *(_section(row.name, row.example) for row in describe_interventions())
    )


def _section(name: str, example: dict[str, object]) -> str:
    definition = definition_of("Intervention", name)
    return join(
        f"## {name}",
        docstring(definition["description"]),
        fields_table(definition, "field"),
        block(command_line("intervene", name, example), "bash"),
    )
