"""Checks the settings file with a pydantic model that has the same types and bounds as `Settings`.

Importing this module loads pydantic, which takes 90 ms, so it is imported only if there is a
settings file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import msgspec
from pydantic import BaseModel, BeforeValidator, Field, ValidationError, create_model

from hosting_emulator.contract.suggestions import unknown
from hosting_emulator.settings import EPHEMERAL, Setting, Settings
from hosting_emulator.settings_file import SettingsFile

#: The maximum number of characters of a value to show in a message.
_SHOWN_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class _Rule:
    """A setting, and the type that pydantic checks it against."""

    setting: Setting
    type: Any


def judge(file: SettingsFile) -> SettingsFile:
    """Check a settings file, and return it with its values in the form of option values.

    If a value is invalid, raises ValueError with its position, the key and what was expected. Text
    values become strings, lists of strings or mappings to strings. Settings without a value are
    omitted.
    """
    for key in file.values:
        if key not in RULES:
            raise ValueError(f"{file.position_of(key)}: {unknown('setting', key, RULES)}")
    values = {key: value for key, value in file.values.items() if value is not None}
    try:
        model = _MODEL.model_validate(values)
    except ValidationError as error:
        key = str(error.errors()[0]["loc"][0])
        raise ValueError(_refusal(file, key, values[key])) from None
    return replace(file, values=model.model_dump(exclude_unset=True, by_alias=True))


def _refusal(file: SettingsFile, key: str, value: Any) -> str:
    setting = RULES[key].setting
    message = f"{file.position_of(key)}: {key} must be {setting.expected}"
    if setting.is_secret:
        return message
    text = json.dumps(value, default=str, ensure_ascii=False)
    if len(text) > _SHOWN_CHARACTERS:
        text = f"{text[:_SHOWN_CHARACTERS]}…"
    return f"{message}; it is {text}"


def _text(value: Any) -> str:
    """Return a single value in the form in which a user would type it. Raises ValueError for a list
    or a mapping.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, list | Mapping):
        raise ValueError("several values")
    if isinstance(value, datetime):
        # Both YAML and TOML have timestamps. A timestamp without an offset is in UTC.
        moment = value.replace(tzinfo=value.tzinfo or UTC).isoformat()
        return moment.replace("+00:00", "Z")
    # JSON has neither dates nor times of day, so they become strings, such as `2026-01-01`. A
    # setting that accepts any text, such as `seed`, accepts these strings too.
    return json.dumps(value, default=str).strip('"')


def _text_or_json(value: Any) -> str:
    """Return an assumption's value in the form in which a user would type it."""
    if isinstance(value, list | Mapping):
        return json.dumps(value, default=str)
    return _text(value)


def _number(value: Any) -> Any:
    # Refuse booleans here, because pydantic would accept true as 1.
    if isinstance(value, bool):
        raise ValueError("a boolean")
    return value


def _list(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        raise ValueError("a mapping")
    if not isinstance(value, list):
        return [value]
    return value


_Number = Annotated[int, BeforeValidator(_number)]
_Text = Annotated[str, BeforeValidator(_text)]
_Texts = Annotated[list[_Text], BeforeValidator(_list)]
_Assumptions = dict[_Text, Annotated[str, BeforeValidator(_text_or_json)]]


def _type_of(hint: Any) -> Any:
    """Return the type that pydantic checks for a field in `Settings` with this type hint."""
    origin = get_origin(hint)
    if origin is Annotated:
        base, *metadata = get_args(hint)
        checked = _type_of(base)
        for meta in metadata:
            if isinstance(meta, msgspec.Meta):
                checked = Annotated[checked, Field(ge=meta.ge, le=meta.le)]
        return checked
    if origin is UnionType:
        [alternative] = [part for part in get_args(hint) if part is not NoneType]
        return _type_of(alternative)
    if origin is tuple:
        return _Texts
    if origin is Mapping:
        return _Assumptions
    if hint in (str, Path):
        return _Text
    if hint is int:
        return _Number
    return hint


def _rules() -> dict[str, _Rule]:
    """Return all settings by key: the fields of `Settings` in their order, and then `ephemeral`."""
    rules: dict[str, _Rule] = {}
    for hint in get_type_hints(Settings, include_extras=True).values():
        for meta in getattr(hint, "__metadata__", ()):
            if isinstance(meta, Setting):
                rules[meta.key] = _Rule(meta, _type_of(hint))
    rules[EPHEMERAL.key] = _Rule(EPHEMERAL, bool)
    return rules


#: All settings by key.
RULES = _rules()
_FIELDS: dict[str, Any] = {
    key.replace("-", "_"): (rule.type, Field(default=None, alias=key))
    for key, rule in RULES.items()
}
_MODEL: type[BaseModel] = create_model("SettingsModel", **_FIELDS)
