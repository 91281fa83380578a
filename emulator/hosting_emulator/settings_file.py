"""The file beside an app that holds its settings, so that commands and tests need no options there.

That is `hosting-emulator.yaml`, or the table `[tool.hosting-emulator]` of `pyproject.toml`. Its keys are
the names of the options of `start`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hosting_emulator.contract.suggestions import unknown

#: What may be set: the options of `start` but those for one start only; of many values, their noun.
KEYS = (
    *("host", "port", "tls-port", "data-dir", "ephemeral", "durability", "scenario", "seed"),
    *("clock", "at", "assumptions", "vary", "only", "user", "watch", "public-url", "hosts"),
    *("origins", "control-token", "log-format", "log-level", "log-requests"),
)
_YAML, _TOML, _TABLE = "hosting-emulator.yaml", "pyproject.toml", "hosting-emulator"


def read_settings_file(folder: Path = Path()) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the file in a folder, or "", and its settings. Raises ValueError in one line."""
    name = _YAML if (folder / _YAML).is_file() else _TOML
    try:
        if name == _TOML and not (folder / _TOML).is_file():
            return "", {}
        content = (folder / name).read_bytes()
        if name == _YAML:
            found = _of_yaml(content.decode("utf-8-sig"))
        elif f"[tool.{_TABLE}".encode() in content:
            import tomllib

            name = f"{_TOML} [tool.{_TABLE}]"
            found = tomllib.loads(content.decode("utf-8-sig")).get("tool", {}).get(_TABLE, {})
        else:
            return "", {}
    except OSError as error:
        raise ValueError(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: not UTF-8 text") from None
    except ValueError as error:  # no TOML, no YAML
        raise ValueError(f"{name}:{error}" if name == _YAML else f"{name}: {error}") from None
    if not isinstance(found, Mapping):
        raise ValueError(f"{name} contains no settings: write them like `port: 4711`")
    said = {str(key).replace("_", "-"): value for key, value in found.items()}
    for key in (key for key in said if key not in KEYS):
        raise ValueError(f"{name}: {unknown('setting', key, KEYS)}")
    return name, said


def _of_yaml(text: str) -> Any:
    # Imported here: only where there is such a file.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.line + 1}:{mark.column + 1}: " if mark else " "
        raise ValueError(f"{place}this is not YAML: {error.problem or error.context}") from None
    except YAMLError as error:
        raise ValueError(f" this is not YAML: {str(error).splitlines()[0]}") from None


def as_text(value: Any) -> str:
    """Return a value as it would be typed."""
    if isinstance(value, datetime):  # both formats have them; one without an offset is UTC
        moment = value.replace(tzinfo=value.tzinfo or UTC).isoformat()
        return moment.replace("+00:00", "Z")
    # A date alone, or a time of TOML, is no JSON: as text it is refused where it is read.
    return value if isinstance(value, str) else json.dumps(value, default=str).strip('"')


def port_of_file() -> int:
    """Return the port that the file here says; 0 where it says none that can be known beforehand."""
    try:
        return int(read_settings_file()[1].get("port", 0))
    except (ValueError, TypeError):
        return 0
