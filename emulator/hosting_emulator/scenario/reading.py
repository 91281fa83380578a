"""Reading a scenario file: its shape first, with the place, the field and the nearest known word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from hosting_emulator.contract.words import nearest, words_of
from hosting_emulator.scenario import document as d
from hosting_emulator.scenario.located import Located, Path

_PARTS = [kind for kind in vars(d).values() if isinstance(kind, type) and issubclass(kind, d.Part)]
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]*)`")
_TYPE = re.compile(r"Expected `([^`]*)`, got `")
_MISSING = re.compile(r"Object missing required field `([^`]*)`")


@dataclass(frozen=True, slots=True)
class Scenario:
    """A scenario whose shape is right: its parts, its text and where everything stood."""

    part: d.ScenarioPart
    located: Located
    text: str

    @property
    def name(self) -> str:
        """The scenario's name."""
        return self.part.name


def read_scenario(text: str, file: str) -> Scenario:
    """Read a scenario. Raises ScenarioError."""
    # Imported here: only a process that reads a scenario needs YAML.
    from hosting_emulator.scenario.yaml_text import read_yaml

    located = read_yaml(text, file)
    if not isinstance(located.data, dict):
        raise located.error((), "a scenario is a mapping with name, description and more")
    try:
        part = msgspec.convert(located.data, d.ScenarioPart)
    except msgspec.ValidationError as error:
        raise _explained(located, str(error)) from None
    for number, step in enumerate(part.story):
        _check_step(located, ("story", number), step)
    for number, planned in enumerate(part.timeline):
        _check_planned(located, ("timeline", number), planned)
    return Scenario(part, located, text)


def _explained(located: Located, message: str) -> Exception:
    reason, _, where = message.partition(" - at `$")
    path = _path(located, where, reason)
    if found := _UNKNOWN.search(reason):
        field = found.group(1)
        known = _fields_at(path)
        hint = nearest(field, known) or f"; there are {', '.join(known)}"
        return located.error((*path, field), f"unknown field {field!r}{hint}", key=True)
    if found := _MISSING.search(reason):
        return located.error(path, f"the field {found.group(1)!r} is missing here")
    fields = [part for part in path if isinstance(part, str)]
    field = fields[-1] if fields else "the scenario"
    value = located.at(path)
    if "Invalid enum value" in reason:
        words = _words(field) or _words(fields[-2])
        hint = nearest(str(value), words) or f"; it is one of {', '.join(words)}"
        return located.error(path, f"{field} cannot be {_shown(value)}{hint}")
    if found := _TYPE.search(reason):
        kinds = [kind for kind in found.group(1).split(" | ") if kind != "null"]
        right = " or ".join(_KINDS.get(kind, kind) for kind in kinds)
        hint = "; put it in quotes" if kinds == ["str"] and isinstance(value, int | float) else ""
        return located.error(path, f"{field} must be {right}, not {_shown(value)}{hint}")
    reason = reason[0].lower() + reason[1:].replace("`", "")
    reason = reason.replace("expected str matching regex", "it must match")
    return located.error(path, f"{field} cannot be {_shown(value)}: {reason}")


#: What msgspec calls the kinds of values, in the words of people who write YAML.
_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    return repr(value) if len(str(value)) <= 60 else repr(str(value)[:60]) + "…"


def _path(located: Located, where: str, reason: str) -> Path:
    """Read msgspec's path. It leaves out the keys of mappings with free keys: look for the value."""
    found: tuple[str | int, ...] = ()
    for name, number in re.findall(r"\.([A-Za-z_]+)|\[(\d+|\.\.\.)\]", where.rstrip("`")):
        if number == "...":
            inside = located.at(found)
            found = (*found, next((n for n, v in inside.items() if _is_wrong(v, reason)), ""))
        else:
            found = (*found, int(number) if number else name)
    return found if _stands(located, found) else found[:-1]


def _is_wrong(value: Any, reason: str) -> bool:
    """Tell whether a reason can be about this value."""
    if "Invalid enum value" in reason:
        return reason.endswith(f"'{value}'")
    return not isinstance(value, str)


def _stands(located: Located, path: Path) -> bool:
    try:
        located.at(path)
    except LookupError:
        return False
    return True


_SECTIONS: dict[str, type[d.Part]] = {
    "": d.ScenarioPart,
    "clock": d.ClockPart,
    "vary": d.VaryPart,
    "world": d.WorldPart,
    "organizations": d.OrganizationPart,
    "people": d.PersonPart,
    "projects": d.ProjectPart,
    "database": d.DatabasePart,
    "timeline": d.PlannedPart,
    "story": d.StepPart,
    "expect": d.ExpectPart,
}


def _fields_at(path: Path) -> list[str]:
    names = [part for part in path if isinstance(part, str)]
    section = _SECTIONS.get(names[-1] if names else "", d.ScenarioPart)
    return [field.encode_name for field in msgspec.structs.fields(section)]


def _words(field: str) -> list[str]:
    """Return the words that a field of this name may take, in whatever part it stands."""
    return next((words for part in _PARTS if (words := words_of(part, field))), [])


def _check_step(located: Located, path: Path, step: d.StepPart) -> None:
    given = [name for name in d.ACTIONS if getattr(step, name) is not None]
    if len(given) != 1 and not (not given and step.note):
        found = " and ".join(given) if given else "none"
        raise located.error(
            path, f"a step does exactly one of {', '.join(d.ACTIONS)}; here is {found}"
        )
    for name in located.at(path):
        actions = d.BELONGS.get(name)
        if actions is not None and not set(given) & set(actions):
            message = (
                f"{name} belongs to {' or '.join(actions)}, not to {' '.join(given) or 'note'}"
            )
            raise located.error((*path, name), message, key=True)


def _check_planned(located: Located, path: Path, planned: d.PlannedPart) -> None:
    if (planned.at is None) == (planned.after_calls is None):
        raise located.error(path, "an entry of the timeline has either at or after_calls")
    if (planned.fault is None) == (planned.intervene is None):
        raise located.error(path, "an entry of the timeline has either fault or intervene")
