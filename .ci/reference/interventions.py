"""The page of interventions."""

from __future__ import annotations

from hosting_emulator.faults.interventions import describe_interventions
from reference.markdown import block, docstring, join
from reference.triggers import command_line, definition_of, fields_table

INTRODUCTION = """\
An intervention changes a world from outside the contract. `hosting-emulator intervene NAME
FIELD=VALUE` carries out an intervention in a running emulator. In a scenario's timeline, the same
intervention is `{at: 5m, intervene: {NAME: {FIELD: VALUE}}}`, and in Python
`hosting_emulator.intervene("NAME", FIELD=VALUE)`. An impossible intervention is refused with the
reason, and changes nothing.

Identify an operation by its id, or by the project whose claim it holds. You can omit `project` in a
world with only one project, and `organization` in a world with only one organization. With `all`, an
intervention applies to every unfinished operation, unused ticket or active key in the world, or only to
those of the `project`, the `user` or the `organization`. It skips those to which it cannot apply, and
the message says how many were skipped."""


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
