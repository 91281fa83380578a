"""Reads settings and settings files for the commands that start their own emulator.

An option takes precedence over its environment variable, which takes precedence over the settings
file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import Failure, failing, load
from hosting_emulator_cli.parameter_sources import is_default, is_typed, origin_of

if TYPE_CHECKING:
    from hosting_emulator.settings import Settings

#: The options that describe a world. Commands other than `start` read only these options from the
#: settings file.
_WORLD_OPTIONS = ("scenario", "seed", "clock", "at", "assume", "vary", "vary-only", "user")
#: For each of these command-line options, the options that it replaces in the settings file.
_REPLACED_OPTIONS = {"--import": ("scenario", "clock", "at", "assume"), "--scenario": ("at",)}
#: The key under which a Click context's `meta` holds the original arguments.
TYPED = "hosting_emulator_cli.typed"


def settings_of(*, assume: Sequence[tuple[str, str]], **options: Any) -> Settings:
    """Return the settings for an emulator.

    `options` contains the other settings by name, and `assume` contains the assumptions.
    """
    if not is_default("seed") and options["state"] is not None:
        options["state_seed"] = options["seed"]
    # A variable or a file applies to each start, so later starts must keep the existing world.
    sources = [name for name in ("scenario", "state") if options[name]]
    options["only_new"] = bool(sources) and not is_typed(*sources)
    from hosting_emulator.settings import Settings
    from hosting_emulator_scenarios import FOLDER

    return Settings(assumptions=dict(assume), library=FOLDER, **options)


@contextmanager
def start_errors_named() -> Iterator[None]:
    """Convert a StartError to a Failure that names the variable or file that contains the setting."""
    from hosting_emulator.settings import StartError

    try:
        yield
    except StartError as error:
        text = str(error)
        # A command in the message may contain a value that has nothing to do with the mistake.
        text_without_commands = re.sub(r"`[^`]*`", "", text)
        ctx = click.get_current_context()
        for param in ctx.command.params:
            origin = origin_of(ctx, param)
            words = _words_of(ctx.params[str(param.name)])
            names_option = any(re.match(rf"{option}(?![\w-])", text) for option in param.opts)
            names_value = any(_names(text_without_commands, word) for word in words)
            if origin is not None and (names_option or names_value):
                raise Failure(f"{origin}: {text}") from error
        raise Failure(text) from error


def _names(text: str, word: str) -> bool:
    """Return whether a message contains a value, and not only as a part of a longer word."""
    return bool(word) and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _words_of(value: Any) -> list[str]:
    """Return words from a parameter's value that appear in error messages about this value.

    For a pair such as NAME=VALUE, the word is the name.
    """
    if not isinstance(value, tuple):
        return [str(value)]
    words = []
    for item in value:
        word = item
        if isinstance(item, tuple):
            word = item[0]
        words.append(str(word))
    return words


def _option_name(param: click.Parameter) -> str:
    """Return an option's key in the settings file: its long name without the leading hyphens."""
    return max(param.opts, key=len).lstrip("-")


class SettingsCommand(HelpCommand):
    """A command that also reads options from the settings file.

    `start` reads all of its options from the settings file. Other commands read only the options
    that describe a world.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the command line, environment variables and the settings file.

        Raises Failure for an error in a variable or in the settings file.
        """
        from hosting_emulator.settings_file import read_settings_file

        with failing(ValueError):
            file = read_settings_file()
            if file.values:
                # Import the model lazily, because loading pydantic takes 90 ms.
                from hosting_emulator.settings_model import judge

                file = judge(file)
        ctx.meta[TYPED] = [*args]
        ctx.default_map = self._defaults(file.values, self._replaced_options(args))
        ctx.obj = file.name
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            origin = None
            if error.param is not None:
                origin = origin_of(ctx, error.param)
                if origin == file.name:
                    origin = file.position_of(_option_name(error.param))
            if origin is None:
                raise
            raise Failure(f"{origin}: {error.format_message()}") from error

    def _replaced_options(self, args: Sequence[str]) -> set[str]:
        """Return the names of the options in the settings file that an option or a variable
        replaces.
        """
        own_args = args[: [*args, "--"].index("--")]
        flags = {arg.partition("=")[0] for arg in own_args}
        if self.name == "start":  # only `start` also reads these options from variables
            for flag in _REPLACED_OPTIONS:
                if f"HOSTING_EMULATOR_{flag[2:].upper()}" in os.environ:
                    flags.add(flag)
        return {name for flag in flags for name in _REPLACED_OPTIONS.get(flag, ())}

    def _defaults(self, file_settings: Mapping[str, Any], replaced: set[str]) -> dict[str, Any]:
        """Return the values in the settings file by parameter name, as a user would type them."""
        if not file_settings:
            return {}
        is_start = self.name == "start"
        start: click.Command = self
        if not is_start:
            start = load("hosting_emulator_cli.commands.start:start")
        options = {_option_name(option): option for option in start.params}
        own_parameters = {option.name for option in self.params}
        defaults: dict[str, Any] = {}
        for name, value in file_settings.items():
            param = options[name]
            is_used = is_start or name in _WORLD_OPTIONS
            if not is_used or name in replaced:
                continue
            if param.name not in own_parameters:
                continue
            defaults[str(param.name)] = _typed_words(value)
        return defaults


def _typed_words(value: Any) -> Any:
    """Return a value from the settings file as a user would type it."""
    if isinstance(value, Mapping):
        return [f"{name}={text}" for name, text in value.items()]
    if isinstance(value, bool | list):
        return value
    return str(value)
