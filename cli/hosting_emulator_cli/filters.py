"""Filters: which requests of the log a command is about, as options."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_FILTERS = (
    ("call", "NAME", "Only this call; `none`: paths that no call has."),
    ("status", "STATUS", "Only this status (404), or this class (4xx)."),
    ("who", "WHO", "Only this person, by alias or id; `nobody`: without a known token."),
    ("project", "PROJECT", "Only this project, by alias or id."),
    ("since", "TIME", "Only from then on: a moment of world time, or so long ago (5m)."),
    ("until", "TIME", "Only before then: a moment of world time, or so long ago."),
    ("text", "TEXT", "Only what has this text in its path, bodies or reasons."),
)


def with_filters(command: F) -> F:
    """Give a command `filters`, which requests it is about, as the client takes them."""

    @functools.wraps(command)
    def call(*args: Any, **options: Any) -> Any:
        filters = {name: options.pop(name) for name, _, _ in _FILTERS}
        return command(*args, filters=filters, **options)

    found: Callable[..., Any] = call
    for name, metavar, words in reversed(_FILTERS):
        found = click.option(f"--{name}", metavar=metavar, help=words)(found)
    return found  # type: ignore[return-value]
