"""Reads scenarios that are named on a command line: from the library, a file or stdin."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.files import read_bytes
from hosting_emulator_cli.main import Failure, failing, near

if TYPE_CHECKING:
    from hosting_emulator.sdk import ScenarioChoice


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


def read_world_file(path: str) -> dict[str, Any]:
    """Return the `world` in a scenario file, or the content of a file that contains only a world.

    The `extends` key is left out. Raises Failure if the file contains no world.
    """
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.yaml_text import read_yaml

    text, name = read_scenario_file(path)
    with failing(ScenarioError):
        world = read_yaml(text, name).data
    if isinstance(world, dict) and ("world" in world or "name" in world):
        world = world.get("world")
    if not isinstance(world, dict):
        raise Failure(f"{name} has no key `world`: define the world as in a scenario file")
    return {key: value for key, value in world.items() if key != "extends"}


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
