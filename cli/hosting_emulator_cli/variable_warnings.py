"""Warns about environment variables with our prefix that nothing reads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from hosting_emulator.variables import unknown_variable_text, unknown_variables


def warn_of_unknown_variables(options: Mapping[str, Any]) -> None:
    """Print a warning on stderr for each variable that nothing reads.

    If a command's `options` request a log in JSON, each warning is a line of this log, so that a
    program can read all of stderr. With `--log-level error`, this log contains no warnings.
    """
    texts = [unknown_variable_text(name) for name in unknown_variables(os.environ)]
    if options.get("log_format") != "json":
        for text in texts:
            click.echo(f"Warning: {text}", err=True)
    elif options["log_level"] != "error":
        for text in texts:
            click.echo(_log_line(text), err=True)


def _log_line(text: str) -> str:
    """Return a warning as a line of the emulator's log in JSON."""
    # Import lazily, because only the commands with a log need these modules.
    from logging import WARNING, LogRecord

    from hosting_emulator.logs import JsonLines

    record = LogRecord("hosting_emulator", WARNING, "", 0, text, None, None)
    return JsonLines().format(record)
