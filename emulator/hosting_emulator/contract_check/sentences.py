"""The contract sentence by sentence: what a check can say something about, and what it never can.

Each is quoted as the contract writes it. What the contract itself calls "not shown" is no sentence
here: nothing can break it, and what is observed instead is an assumption (`observing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from hosting_emulator.contract_check.said import behaviour, endpoints, resources, rules

#: What a table of sentences holds: section, then (key, quote[, why it cannot be seen]).
Table = dict[str, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of the contract, or one row of a table of it.

    `unseen` says why nobody can see from outside whether it holds; it is empty where one can.
    """

    key: str
    section: str
    text: str
    unseen: str = ""


def _read(*tables: Table) -> MappingProxyType[str, Sentence]:
    found = {}
    for table in tables:
        for section, rows in table.items():
            for row in rows:
                assert row[0] not in found, f"two sentences are {row[0]}"
                found[row[0]] = Sentence(row[0], section, row[1], *row[2:])
    return MappingProxyType(found)


#: Every sentence by its key, in the contract's order.
SENTENCES = _read(resources.SAID, behaviour.SAID, endpoints.SAID, rules.SAID)
