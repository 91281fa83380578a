"""Finds out where a parameter's value is set: command line, variable, settings file or default."""

from __future__ import annotations

import click
from click.core import ParameterSource


def source(name: str) -> ParameterSource | None:
    """Return the source of a parameter's value, or None if the command has no such parameter."""
    return click.get_current_context().get_parameter_source(name)


def is_default(name: str) -> bool:
    """Return whether a parameter has its default value because it is not set anywhere."""
    return source(name) is ParameterSource.DEFAULT


def is_typed(*names: str) -> bool:
    """Return whether the command line sets one of these parameters.

    Values from variables and files do not count.
    """
    return any(source(name) is ParameterSource.COMMANDLINE for name in names)


def origin_of(ctx: click.Context, param: click.Parameter) -> str | None:
    """Return the variable or file in which a parameter is set, or None if there is none."""
    parameter_source = ctx.get_parameter_source(str(param.name))
    if parameter_source is ParameterSource.ENVIRONMENT:
        return f"the variable {param.envvar}"
    if parameter_source is ParameterSource.DEFAULT_MAP:
        return str(ctx.obj)
    return None
