"""Commands whose options may stand in the settings file: an option, then its variable, then the file.

What an option says many times is a list or a mapping there.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import environ
from typing import Any

import click

from hosting_emulator.settings_file import as_text, read_settings_file
from hosting_emulator_cli.groups import Failure, load

#: What the file calls by a noun, and the option calls by what it does.
_NOUNS = {"assumptions": "assume", "origins": "allow-origin", "hosts": "allow-host"}
#: What is meant for one start only.
_ONCE = ("from", "help", "json", "quiet", "ready-file", "replace", "salvage")
#: What an emulator around a command takes: what its world is. Its address is its own.
_WORLD = ("scenario", "seed", "clock", "at", "assume", "vary", "only", "as")
_START = "hosting_emulator_cli.commands.start:start"
#: What has no place beside a state or scenario that is typed.
_INSTEAD = {"--from": ("scenario", "clock", "at", "assume"), "--scenario": ("at",)}


class SettingsCommand(click.Command):
    """`start`, whose options may stand in the file; or a command that takes of it what its world is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, variables and the file. Raises Failure for what the file has wrong."""
        try:
            name, found = read_settings_file()
        except ValueError as error:
            raise Failure(str(error)) from error
        typed = {word.partition("=")[0] for word in args[: [*args, "--"].index("--")]}
        if self.name == "start":  # whose options are variables too
            typed |= {
                flag for flag in _INSTEAD if f"HOSTING_EMULATOR_{flag[2:].upper()}" in environ
            }
        left_out = {key for flag, keys in _INSTEAD.items() if flag in typed for key in keys}
        ctx.default_map = self._defaults(name, found, left_out)
        ctx.obj = name
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            param = error.param.name if error.param else None
            if param and ctx.get_parameter_source(param) is click.core.ParameterSource.DEFAULT_MAP:
                raise Failure(f"{name}: {error.format_message()}") from error
            raise

    def _defaults(self, name: str, found: Mapping[str, Any], left_out: set[str]) -> dict[str, Any]:
        start = self if self.name == "start" or not found else load(_START)
        options = {max(option.opts, key=len).lstrip("-"): option.name for option in start.params}
        own = {option.name for option in self.params}
        nouns = {verb: noun for noun, verb in _NOUNS.items()}
        keys = {nouns.get(option, option): option for option in options if option not in _ONCE}
        defaults: dict[str, Any] = {}
        for key, value in found.items():
            option = keys.get(key.replace("_", "-"))
            if option is None:
                from hosting_emulator.contract.words import nearest

                hint = nearest(key, keys) or f"; there are {', '.join(keys)}"
                raise Failure(f"{name}: there is no setting {key!r}{hint}")
            taken = option not in left_out and (self is start or option in _WORLD)
            if value is not None and taken and options[option] in own:
                defaults[str(options[option])] = _as_typed(value)
        return defaults


def _as_typed(value: Any) -> Any:
    """Return a value as it would be typed, several as a list."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return [f"{key}={as_text(item)}" for key, item in value.items()]
    return [as_text(item) for item in value] if isinstance(value, list) else as_text(value)
