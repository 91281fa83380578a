"""Each format number has the shape of the stored types, so no number stands for two formats."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.storage.export import export_state
from hosting_emulator.storage.format import FORMAT
from hosting_emulator.storage.rows import StoredCommit
from tests.support.in_process import fresh_world
from tests.support.worlds_on_disk import table_kinds

FORMATS = Path(__file__).with_name("formats.json")
SHAPE = Path(__file__).with_name("stored_shape.json")
CHANGED = (
    "What is stored has changed, and files of this format can no longer be read. Raise FORMAT in "
    "storage/format.py to a number that formats.json does not have, and run "
    "`python -m tests.storage.test_formats`, which records its shape."
)
EXTENDED = (
    "Optional members were added to what is stored. Files of this format can still be read, so FORMAT "
    "stays: run `python -m tests.storage.test_formats`, which records the members."
)
#: Parts of a schema that only people read.
_WORDS = ("description", "title", "examples")


def _without_words(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {name: _without_words(part) for name, part in schema.items() if name not in _WORDS}
    return [_without_words(part) for part in schema] if isinstance(schema, list) else schema


def shape() -> dict[str, Any]:
    """Return the types of everything that is stored, as plain JSON."""
    kinds = [StoredCommit, *table_kinds().values()]
    _, components = schema_components(kinds, ref_template="#/{name}")
    stored: dict[str, Any] = msgspec.to_builtins(
        {
            "tables": [[name, kind.__name__] for name, kind in table_kinds().items()],
            "records": _without_words(msgspec.to_builtins(components)),
            "export": sorted(export_state(fresh_world(), with_seed=True)),
        }
    )
    return stored


def digest_of(stored: dict[str, Any]) -> str:
    return sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()[:16]


def only_adds_optional_members(former: dict[str, Any], present: dict[str, Any]) -> bool:
    """Tell whether everything that was stored in the former shape can be read in the present one."""
    if any(former[part] != present[part] for part in ("tables", "export")):
        return False
    for name, old in former["records"].items():
        new = present["records"].get(name, {})
        old_members = old.get("properties", {})
        new_members = new.get("properties", {})
        added = new_members.keys() - old_members.keys()
        kept_members = {member: new_members[member] for member in new_members.keys() - added}
        if added & {*new.get("required", [])} or kept_members != old_members:
            return False
        if {**new, "properties": {}} != {**old, "properties": {}}:
            return False
    return True


def recorded_digests() -> dict[str, str]:
    """Return the digest that each format had when it was new, by its number."""
    digests: dict[str, str] = json.loads(FORMATS.read_text())
    return digests


def recorded_shape() -> tuple[int, dict[str, Any]]:
    """Return the number of the recorded format, and its shape."""
    recorded = json.loads(SHAPE.read_text())
    return recorded["format"], recorded["shape"]


def test_the_format_number_belongs_to_the_shape_of_what_is_stored() -> None:
    number, recorded = recorded_shape()
    present = shape()

    advice = EXTENDED if only_adds_optional_members(recorded, present) else CHANGED
    assert number == FORMAT, CHANGED
    assert recorded == present, advice


def test_an_optional_member_leaves_stored_files_readable() -> None:
    _, recorded = recorded_shape()
    extended = deepcopy(recorded)
    extended["records"]["Deployment"]["properties"]["region"] = {"type": "string", "default": "eu"}

    assert only_adds_optional_members(recorded, extended)


@pytest.mark.parametrize(
    "change",
    [
        lambda deployment: deployment["required"].append("region"),
        lambda deployment: deployment["properties"].pop("status"),
        lambda deployment: deployment["properties"]["status"].update(type="integer"),
        lambda deployment: deployment.update(additionalProperties=True),
    ],
    ids=["a required member", "a removed member", "another type", "other members"],
)
def test_any_other_change_of_a_record_needs_another_format(
    change: Callable[[dict[str, Any]], object],
) -> None:
    _, recorded = recorded_shape()
    changed = deepcopy(recorded)
    changed["records"]["Deployment"]["properties"]["region"] = {"type": "string"}

    change(changed["records"]["Deployment"])

    assert not only_adds_optional_members(recorded, changed)


def test_each_format_has_its_own_digest_and_the_newest_is_in_use() -> None:
    formats = recorded_digests()

    assert len(set(formats.values())) == len(formats)
    assert max(map(int, formats)) == FORMAT
    assert sorted(map(int, formats)) == list(range(1, FORMAT + 1))


def record() -> None:
    """Record the shape of what is stored. Ends with advice if the number stands for another."""
    present = shape()
    formats = recorded_digests()
    if str(FORMAT) in formats and SHAPE.exists():
        number, recorded = recorded_shape()
        if number != FORMAT or not only_adds_optional_members(recorded, present):
            raise SystemExit(CHANGED)
    formats.setdefault(str(FORMAT), digest_of(present))
    FORMATS.write_text(json.dumps(formats, indent=1) + "\n")
    text = json.dumps({"format": FORMAT, "shape": present}, indent=1, sort_keys=True)
    SHAPE.write_text(text + "\n")


if __name__ == "__main__":
    record()
