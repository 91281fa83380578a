"""Reads scenarios that are named on a command line: from the library, a file or stdin."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from hosting_emulator_cli.files import read_bytes
from hosting_emulator_cli.main import Failure, failing, near

if TYPE_CHECKING:
    from hosting_emulator.scenario.source import KeyPath, Location
    from hosting_emulator.sdk import HostingEmulator, ScenarioChoice

#: The name of the intervention, with which the path of a field begins in some messages.
_ADD_PREFIX = re.compile(r"\badd\.(?=(?:organizations|users|projects|keys)\b)")
#: Patterns for messages about a document. In each of them, the path of a field is in another place.
_PATHS = (
    re.compile(r"(?:a world|(?P<path>\S+)) has no field '(?P<key>[^']*)'"),
    re.compile(r".* is missing in (?P<path>\S+)$"),
    re.compile(r"(?P<path>(?:organizations|users|projects|keys)(?:\.[^\s:.]+)*)"),
)


def choose_scenario(name: str) -> ScenarioChoice:
    """Return a scenario's library name or text in the format of the control API.

    Raises Failure if the scenario's file cannot be read.
    """
    if not is_scenario_file(name):
        return {"name": name}
    text, file = read_scenario_file(name)
    return {"text": text, "file": file}


def scenario_text(name: str) -> tuple[str, str]:
    """Return the text of a scenario in the library or a file, and a file name for error messages.

    Raises Failure if there is no such scenario, or if the file cannot be read.
    """
    if is_scenario_file(name):
        return read_scenario_file(name)
    return library_text(name), f"{name}.yaml"


def is_scenario_file(name: str) -> bool:
    """Return whether a name refers to a file instead of a scenario in the library.

    A name refers to a file if it is `-`, names an existing file, contains a slash, or has a YAML
    suffix.
    """
    path = Path(name)
    return name == "-" or "/" in name or path.suffix in (".yaml", ".yml") or path.is_file()


def read_scenario_file(path: str) -> tuple[str, str]:
    """Return a file's text, and the name of the file for error messages.

    The path `-` is stdin. Raises Failure if the file cannot be read or is not UTF-8.
    """
    content, name = read_bytes(path)
    try:
        return content.decode("utf-8-sig"), name
    except UnicodeDecodeError as error:
        raise Failure(f"{name}: not UTF-8 text") from error


def read_world_file(path: str) -> Location:
    """Return the location of the `world` in a scenario file, or of the whole content of a file that
    contains only a world. Its value is a mapping.

    Raises Failure if the file contains no world.
    """
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.source import Location
    from hosting_emulator.scenario.yaml_text import read_yaml

    text, name = read_scenario_file(path)
    with failing(ScenarioError):
        location = Location(read_yaml(text, name))
        document = location.value
        if isinstance(document, dict) and ("world" in document or "name" in document):
            document = document.get("world")
            location /= "world"
        if not isinstance(document, dict):
            raise location.error("there is no world here: define `world` as in a scenario file")
    return location


def add_records(world: HostingEmulator, location: Location) -> str:
    """Add the records in a world file to a world, and return a sentence about them.

    The key `extends` is ignored. If the emulator refuses the records, raises Failure with the line
    and the column of the mistake.
    """
    from hosting_emulator.sdk import ControlRefused

    records = {key: value for key, value in location.value.items() if key != "extends"}
    try:
        return world.intervene("add", **records)
    except ControlRefused as refusal:
        if refusal.title != "Intervention refused":
            raise
        message = _ADD_PREFIX.sub("", str(refusal)).replace("add has no", "a world has no", 1)
        error = location.below(_path_in(message)).error(message)
        raise Failure(str(error)) from refusal


def _path_in(message: str) -> KeyPath:
    """Return the path of the field that a message is about, or an empty path if it names none."""
    for pattern in _PATHS:
        match = pattern.match(message)
        if match is None:
            continue
        names = filter(None, [*(match["path"] or "").split("."), match.groupdict().get("key")])
        return tuple(int(name) if name.isdecimal() else name for name in names)
    return ()


def library_names() -> list[str]:
    """Return the sorted names of the scenarios in this installation's library."""
    from hosting_emulator_scenarios import FOLDER

    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def library_text(name: str) -> str:
    """Return the text of a scenario in the library.

    If there is no such scenario, raises Failure with a message that suggests a name.
    """
    from hosting_emulator_scenarios import FOLDER

    names = library_names()
    if name not in names:
        hint = near(name, names, "`hosting-emulator scenario list` lists all scenarios")
        raise Failure(f"the library has no scenario {name!r}{hint}")
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
