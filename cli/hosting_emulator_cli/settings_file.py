"""The file beside an app that says how `start` begins there, so that it needs no options.

That is `hosting-emulator.yaml`, or the table `[tool.hosting-emulator]` of `pyproject.toml`, in the folder
where the command is typed. Its keys are the options' names; what an option says many times is a list or a
mapping. An option comes first, then its variable, then the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from hosting_emulator_cli.files import read_yaml_data
from hosting_emulator_cli.groups import Failure

_YAML, _TOML, _TABLE = Path("hosting-emulator.yaml"), Path("pyproject.toml"), "hosting-emulator"
#: What the file calls by a noun, and the option calls by what it does.
_NOUNS = {"assumptions": "assume", "origins": "allow-origin", "hosts": "allow-host"}
#: What is meant for one start only.
_ONCE = ("from", "help", "json", "quiet", "ready-file", "replace", "salvage")


def read_settings_file() -> tuple[str, Mapping[str, Any]]:
    """Return the name of the file that is here, and what it says; else nothing. Raises Failure."""
    found: Any = None
    name = str(_YAML)
    try:
        if _YAML.is_file():
            found = read_yaml_data(_YAML.read_text("utf-8"), name)
        elif _TOML.is_file() and f"[tool.{_TABLE}" in (text := _TOML.read_text("utf-8")):
            import tomllib

            name = f"{_TOML} [tool.{_TABLE}]"
            found = tomllib.loads(text).get("tool", {}).get(_TABLE, {})
        else:
            return "", {}
    except OSError as error:
        raise Failure(f"cannot read {name}: {error.strerror}") from error
    except ValueError as error:  # no UTF-8, no TOML
        raise Failure(f"{name}: {error}") from error
    if not isinstance(found, Mapping):
        raise Failure(f"{name} contains no settings: write them like `port: 4711`")
    return name, found


class SettingsCommand(click.Command):
    """A command whose options may stand in the file."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line, variables and the file. Raises Failure for what the file has wrong."""
        name, found = read_settings_file()
        ctx.default_map = self._defaults(name, found)
        ctx.obj = name
        try:
            return super().parse_args(ctx, args)
        except click.BadParameter as error:
            param = error.param.name if error.param else None
            if param and ctx.get_parameter_source(param) is click.core.ParameterSource.DEFAULT_MAP:
                raise Failure(f"{name}: {error.format_message()}") from error
            raise

    def _defaults(self, name: str, found: Mapping[str, Any]) -> dict[str, Any]:
        options = {max(option.opts, key=len).lstrip("-"): option.name for option in self.params}
        nouns = {verb: noun for noun, verb in _NOUNS.items()}
        keys = {nouns.get(option, option): option for option in options if option not in _ONCE}
        defaults: dict[str, Any] = {}
        for key, value in found.items():
            option = keys.get(key.replace("_", "-"))
            if option is None:
                from hosting_emulator.contract.words import nearest

                hint = nearest(key, keys) or f"; there are {', '.join(keys)}"
                raise Failure(f"{name}: there is no setting {key!r}{hint}")
            if value is not None:
                defaults[str(options[option])] = _as_typed(value)
        return defaults


def _as_typed(value: Any) -> Any:
    """Return a value as it would be typed, several as a list."""
    if isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return [f"{key}={_as_text(item)}" for key, item in value.items()]
    return [_as_text(item) for item in value] if isinstance(value, list) else _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, datetime):  # TOML has them
        return value.isoformat().replace("+00:00", "Z")
    return value if isinstance(value, str) else json.dumps(value)


def port_of_file() -> int:
    """Return the port that the file says; 0 where it says none that can be known beforehand."""
    with suppress(Failure, ValueError, TypeError):
        return int(read_settings_file()[1].get("port", 0))
    return 0
