"""The contract clause by clause: each with its key, and those that each call is judged by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.words import read_sections


class Clause(NamedTuple):
    """One sentence of the contract, or one row of a table of it.

    `unseen` says why nobody can see from outside whether it holds; it is empty where one can.
    """

    key: str
    section: str
    text: str
    unseen: str = ""


def _read_clauses() -> Iterator[Clause]:
    for section, items in read_sections(Path(__file__).with_name("clauses.md")):
        for key, quote in items:
            if key.startswith("@"):
                for field_key, text in RESOURCES[key[1:]].clauses.items():
                    yield Clause(field_key, section, text)
            else:
                text, _, unseen = quote.partition(" (unseen: ")
                yield Clause(key, section, text, unseen.removesuffix(")"))


#: Every clause by its key, in the contract's order.
CLAUSES = {clause.key: clause for clause in _read_clauses()}


def _clauses_of_calls() -> Iterator[tuple[str, tuple[str, str]]]:
    addresses = {clause.text: clause.key for clause in CLAUSES.values()}
    for spec in ALL_CALLS.values():
        call = addresses.get(f"{spec.method} {spec.path}", "durable")
        answers = (call.replace(".call", f".{word}") for word in ("response", "accepted", "200"))
        yield spec.call_id, (call, next((key for key in answers if key in CLAUSES), "durable"))


#: The clause of each call's address, and that of what it answers.
CALL_CLAUSES = dict(_clauses_of_calls())

#: Why nothing was seen of clauses that only some answers can show.
_WHY_UNMET = {
    "operation.blocking_operation_id states.blocking": (
        "no operation that was started waited on another"
    ),
    "operation.deployment_id": "no operation that was started created a deployment",
    "operation.result": "no operation that was started had a result",
    "operation.error error-object": "no operation that was started failed",
    "operation.reconciliation reconciliation-object": (
        "no operation that was started was being reconciled"
    ),
    "problem.detail problem.instance": "no problem had this field",
    "problem.retry_after_seconds limit.retry-after": (
        "no problem had this field: the server limited nothing"
    ),
    "deployment.artifact_digest deployment.url": "no deployment had this field",
    "limit.zone": "no DNS zone is authorized",
    "compute.placement": "neither environment has a database",
}
UNMET = {key: why for keys, why in _WHY_UNMET.items() for key in keys.split()}
