"""The contract clause by clause, and what a check says of each: a ledger of evidence and verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.words import read_sections

Outcome = Literal["holds", "differs", "skipped", "cannot be seen from outside"]

#: So many differences of one clause are told; a server that gets it wrong does so each time.
MOST = 3


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
_UNMET = {key: why for keys, why in _WHY_UNMET.items() for key in keys.split()}


class Ledger:
    """Takes evidence. A single difference outweighs everything else; what holds outweighs a skip.

    `keys` are those of one or more clauses, between spaces.
    """

    def __init__(self) -> None:
        #: What was seen, in words, by key and by the name of the method that took it.
        self._evidence = {
            key: {"holds": list[str](), "differs": list[str](), "skips": list[str]()}
            for key in CLAUSES
        }
        #: What bears a clause out if a call works, by key: the call's clause, and what was seen.
        self._refusals: dict[str, list[tuple[str, str]]] = {key: [] for key in CLAUSES}
        #: The clauses of the calls that succeed where they are asked rightly.
        self.working: set[str] = set()

    def _note(self, how: str, keys: str, seen: object) -> None:
        text = str(seen)
        for key in keys.split():
            found = self._evidence[key][how]
            if len(found) < MOST and text not in found:
                found.append(text)

    def holds(self, keys: str, seen: object) -> None:
        """Note that an answer bears clauses out."""
        self._note("holds", keys, seen)

    def differs(self, keys: str, seen: object, wrong: str = "") -> None:
        """Note that an answer says otherwise: which answer, and what was `wrong` in it."""
        self._note("differs", keys, f"{seen}: {wrong}" if wrong else seen)

    def skips(self, keys: str, why: object) -> None:
        """Note why clauses could not be looked at."""
        self._note("skips", keys, why)

    def judge(
        self, keys: str, right: bool | None, seen: object, wrong: str, *, call: str = ""
    ) -> bool | None:
        """Note that clauses hold, or differ for what is `wrong`; None: there was nothing to compare.

        With `call`, the clause of one, what bears them out is that it refused. It does so only where
        the call works: a server that knows no such call refuses whatever it is asked.
        """
        if right is False:
            self.differs(keys, seen, wrong)
        elif right and call:
            for key in keys.split():
                self._refusals[key].append((call, str(seen)))
        elif right:
            self.holds(keys, seen)
        return right

    def verdict(self, clause: Clause) -> tuple[Outcome, list[str]]:
        """Return what became of a clause, and what was seen or why nothing was."""
        found, refusals = self._evidence[clause.key], self._refusals[clause.key]
        if found["differs"]:
            return "differs", found["differs"]
        if clause.unseen:
            return "cannot be seen from outside", [clause.unseen]
        shown = found["holds"] + [seen for call, seen in refusals if call in self.working]
        if shown:
            return "holds", shown[:1]
        why = [*found["skips"]]
        for call, seen in refusals:
            reasons = self._evidence[call]["skips"] + self._evidence[call]["differs"]
            tail = f" ({reasons[0]})" if reasons else ""
            why.append(f"{seen}: refused, but the right request was not seen to succeed{tail}")
        why.append(_UNMET.get(clause.key, "no answer showed anything of it"))
        return "skipped", why[:1]
