"""Every sentence of the contract by its key, and the sentences about the responses of each call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS, CALLS, CallSpec
from hosting_emulator.contract.fields import resource_name
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator_lab.contract_check.contract_sentences import SECTIONS, Quote


class Clause(NamedTuple):
    """A sentence of the contract, with the section that contains it.

    `unseen` is the reason why no check from outside can tell whether a server keeps the sentence,
    or an empty string if a check can tell. `calls` are the calls that must all show the sentence, and
    `needs` are the keys of the sentences that must all hold.
    """

    key: str
    section: str
    text: str
    unseen: str = ""
    calls: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


class CallClauses(NamedTuple):
    """The keys of two sentences about a call: its address, and its successful response."""

    call: str
    response: str


def _read_clauses() -> Iterator[Clause]:
    listed_resources: set[str] = set()
    quotes: set[str] = set()
    for section in SECTIONS:
        for sentence in section.sentences:
            if isinstance(sentence, Quote):
                quotes.add(sentence.text)
                yield Clause(
                    sentence.key,
                    section.title,
                    sentence.text,
                    sentence.unseen,
                    sentence.calls,
                    sentence.needs,
                )
            else:
                name = resource_name(sentence.declaration)
                listed_resources.add(name)
                yield from _field_clauses(name, section.title)
    # Add the sentences of resources and calls that no section lists, such as a new resource.
    for name in RESOURCES:
        if name not in listed_resources:
            yield from _field_clauses(name, name)
    for spec in CALLS.values():
        if _address(spec) not in quotes:
            yield Clause(f"{spec.call_id}.call", spec.section, _address(spec))
            yield Clause(f"{spec.call_id}.response", spec.section, f"Response: {spec.response}.")


def _field_clauses(resource: str, section: str) -> Iterator[Clause]:
    for key, text in RESOURCES[resource].sentences.items():
        yield Clause(key, section, text)


def _address(spec: CallSpec) -> str:
    return f"{spec.method} {spec.path}"


#: Every sentence by its key, in the order of the contract.
CLAUSES = {clause.key: clause for clause in _read_clauses()}


def _clauses_of_call(spec: CallSpec) -> CallClauses:
    """Return the sentences about a call. `durable` stands for parts that the contract does not state."""
    call = "durable"
    for clause in CLAUSES.values():
        if clause.text == _address(spec):
            call = clause.key
    names = [call.replace(".call", f".{word}") for word in ("response", "accepted", "200")]
    response = next((name for name in names if name in CLAUSES), "durable")
    return CallClauses(call, response)


#: The sentences about the address and the response of each call, by the call.
CALL_CLAUSES: dict[str, CallClauses] = {
    call_id: _clauses_of_call(spec) for call_id, spec in ALL_CALLS.items()
}


def clause_of_call(call_id: str, name: str) -> str:
    """Return the key of a sentence about a call, such as `flag.owner-only` for `owner-only`.

    There may be no such sentence: compare the key with CLAUSES.
    """
    return CALL_CLAUSES[call_id].call.replace(".call", f".{name}")
