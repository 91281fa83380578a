"""What was found of each sentence: the evidence, and the verdict that follows from it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from hosting_emulator.contract_check.sentences import SENTENCES, Sentence

Outcome = Literal["holds", "differs", "skipped", "cannot be seen from outside"]

#: So many differences of one sentence are told; a server that gets it wrong does so each time.
MOST = 3
#: Why nothing was seen of a sentence that only some answers can show.
_UNMET = {
    "operation.blocking_operation_id": "no operation that was started waited on another",
    "states.blocking": "no operation that was started waited on another",
    "operation.deployment_id": "no operation that was started created a deployment",
    "operation.result": "no operation that was started had a result",
    "operation.error": "no operation that was started failed",
    "error-object": "no operation that was started failed",
    "operation.reconciliation": "no operation that was started was being reconciled",
    "reconciliation-object": "no operation that was started was being reconciled",
    "problem.detail": "no problem had this field",
    "problem.instance": "no problem had this field",
    "problem.retry_after_seconds": "no problem had this field: the server limited nothing",
    "limit.retry-after": "no problem had this field: the server limited nothing",
    "deployment.artifact_digest": "no deployment had this field",
    "deployment.url": "no deployment had this field",
    "limit.zone": "no DNS zone is authorized",
    "compute.placement": "neither environment has a database",
}


@dataclass(slots=True)
class _Found:
    holds: list[str] = field(default_factory=list)
    #: What bears it out if a call works: the call's sentence, and what was seen.
    refusals: list[tuple[str, str]] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A sentence, what became of it, and what was seen or why nothing was."""

    sentence: Sentence
    outcome: Outcome
    said: tuple[str, ...]


class Ledger:
    """Takes evidence. A single difference outweighs everything else; what holds outweighs a skip."""

    def __init__(self) -> None:
        self._found = {key: _Found() for key in SENTENCES}
        self._works: set[str] = set()

    def holds(self, keys: str, seen: str) -> None:
        """Note for each of the sentences (keys, between spaces) that an answer bears it out."""
        self._note(keys, "holds", seen)

    def works(self, call: str) -> None:
        """Note that a call, named by its sentence, succeeds where it is asked rightly."""
        self._works.add(call)

    def refusal(self, keys: str, call: str, seen: str) -> None:
        """Note that a call refused what it must refuse.

        This bears sentences out only where the call works: a server that knows no such call refuses
        whatever it is asked.
        """
        for key in keys.split():
            self._found[key].refusals.append((call, seen))

    def differs(self, keys: str, seen: str) -> None:
        """Note that an answer says otherwise. `seen` says which answer, and what was wrong in it."""
        self._note(keys, "differs", seen)

    def skips(self, keys: str, why: str) -> None:
        """Note why sentences could not be looked at."""
        self._note(keys, "skipped", why)

    def judge(self, keys: str, right: bool, seen: str, wrong: str) -> bool:
        """Note that sentences hold (as `seen` shows), or else differ: `seen`, and what is `wrong`."""
        if right:
            self.holds(keys, seen)
        else:
            self.differs(keys, f"{seen}: {wrong}")
        return right

    def verdicts(self) -> list[Verdict]:
        """Return a verdict on every sentence, in the contract's order."""
        return [self._verdict(SENTENCES[key], found) for key, found in self._found.items()]

    def _note(self, keys: str, kind: Literal["holds", "differs", "skipped"], said: str) -> None:
        for key in keys.split():
            found: list[str] = getattr(self._found[key], kind)
            if len(found) < MOST and said not in found:
                found.append(said)

    def _verdict(self, sentence: Sentence, found: _Found) -> Verdict:
        if found.differs:
            return Verdict(sentence, "differs", tuple(found.differs))
        if sentence.unseen:
            return Verdict(sentence, "cannot be seen from outside", (sentence.unseen,))
        shown = found.holds + [seen for call, seen in found.refusals if call in self._works]
        if shown:
            return Verdict(sentence, "holds", tuple(shown[:1]))
        why = (
            found.skipped[:1]
            or self._refused_only(found)
            or [_UNMET.get(sentence.key, "no answer showed anything of it")]
        )
        return Verdict(sentence, "skipped", tuple(why))

    def _refused_only(self, found: _Found) -> list[str]:
        """Say why refusals alone show nothing, and what would show more."""
        if not found.refusals:
            return []
        call, seen = found.refusals[0]
        why = self._found[call].skipped[:1] or self._found[call].differs[:1]
        tail = f" ({why[0]})" if why else ""
        return [f"{seen}: refused, but the right request was not seen to succeed{tail}"]
