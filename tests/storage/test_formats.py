"""Each format number has the digest of the stored types, so no number stands for two formats."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from hosting_emulator.contract.json_schema import schema_components
from hosting_emulator.storage.export import export_state
from hosting_emulator.storage.format import FORMAT
from hosting_emulator.storage.rows import StoredCommit
from tests.support.in_process import fresh_world
from tests.support.worlds_on_disk import table_kinds

FORMATS = Path(__file__).with_name("formats.json")
ADVICE = (
    "What is stored has changed. Raise FORMAT in storage/format.py to a number that formats.json "
    "does not have, and run `python -m tests.storage.test_formats`, which adds its digest."
)
#: Parts of a schema that only people read.
_WORDS = ("description", "title", "examples")


def _without_words(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {name: _without_words(part) for name, part in schema.items() if name not in _WORDS}
    return [_without_words(part) for part in schema] if isinstance(schema, list) else schema


def digest() -> str:
    """Return the digest of the types of everything that is stored."""
    kinds = [StoredCommit, *table_kinds().values()]
    _, components = schema_components(kinds, ref_template="#/{name}")
    shape = {
        "tables": [[name, kind.__name__] for name, kind in table_kinds().items()],
        "records": _without_words(msgspec.to_builtins(components)),
        "export": sorted(export_state(fresh_world(), with_seed=True)),
    }
    return sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]


def recorded_digests() -> dict[str, str]:
    """Return the digests by format number."""
    digests: dict[str, str] = json.loads(FORMATS.read_text())
    return digests


def test_the_format_number_belongs_to_the_digest_of_the_stored_types() -> None:
    assert recorded_digests().get(str(FORMAT)) == digest(), ADVICE


def test_each_format_has_its_own_digest_and_the_newest_is_in_use() -> None:
    formats = recorded_digests()

    assert len(set(formats.values())) == len(formats)
    assert max(map(int, formats)) == FORMAT
    assert sorted(map(int, formats)) == list(range(1, FORMAT + 1))


if __name__ == "__main__":
    formats = recorded_digests()
    if formats.setdefault(str(FORMAT), digest()) != digest():
        raise SystemExit(ADVICE)
    FORMATS.write_text(json.dumps(formats, indent=1) + "\n")
