"""The evidence of a check: which responses keep or break a sentence, and the verdict that follows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.value_checks import brief
from hosting_emulator_lab.contract_check.clauses import CALL_CLAUSES, CLAUSES
from hosting_emulator_lab.contract_check.response import ServerResponse

#: The key of a sentence, or the keys of several sentences.
Keys: TypeAlias = str | tuple[str, ...]
#: A response, or a text that describes an observation of several responses.
ObservedFact: TypeAlias = ServerResponse | str
#: What a check can say about a sentence.
SentenceVerdict = Literal["holds", "differs", "undecided", "skipped", "unseen"]

#: The maximum number of observations that a report shows for each sentence. A server that makes a
#: mistake usually makes it in many responses.
MAX_OBSERVATIONS = 3

#: For fields whose values the contract leaves open except for one word: this word, by the field of
#: a response. A sentence that names the word holds only if a response contained it.
NAMED_WORDS = {
    "items[].status": "queued",
    "progress.phase": "queued",
    "reconciliation.state": "required",
    "error.code": "operation_failed",
    "database.state": "init",
    "data_mode": "shared",
}

#: The reasons why sentences that only rare responses show were skipped, by the key of the sentence.
_RARE_RESPONSES = {
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


@dataclass(frozen=True, slots=True)
class DifferingResponse:
    """The parts of a response that `causes` needs. The body is not kept, because it may be large."""

    number: int
    call_id: str
    purpose: str
    status: int
    code: str | None
    broken: str


@dataclass(frozen=True, slots=True)
class ContractDifference:
    """An observation that breaks sentences of the contract.

    `keys` are the keys of the sentences. `observation` is a short description of a response, or of
    several responses. In the second case, `response` is None. `fault` describes what is wrong, or
    is empty if the response as a whole is wrong. If a field is missing or has a wrong value,
    `field` is its name with its resource, such as `Deployment.status`.
    """

    keys: tuple[str, ...]
    observation: str
    fault: str
    field: str
    response: DifferingResponse | None

    def __str__(self) -> str:
        """The observation with its fault, as a report shows it."""
        if self.fault:
            return f"{self.observation}: {self.fault}"
        return self.observation


@dataclass(slots=True)
class _SentenceEvidence:
    """The observations about one sentence, as texts.

    `refusals` pairs each refusal with the key of its call's sentence. `calls` are the keys of the
    sentences of the calls whose responses keep the sentence, apart from refusals. `untried` are the
    reasons why a part of the sentence could not be tried.
    """

    holds: list[str] = dataclasses.field(default_factory=list)
    differs: list[str] = dataclasses.field(default_factory=list)
    skips: list[str] = dataclasses.field(default_factory=list)
    undecided: list[str] = dataclasses.field(default_factory=list)
    refusals: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    calls: set[str] = dataclasses.field(default_factory=set)
    untried: list[str] = dataclasses.field(default_factory=list)


class Evidence:
    """Collects observations about sentences, and derives the verdict on each sentence.

    A single difference outweighs all other observations. An undecided response outweighs responses
    that keep the sentence, and these outweigh the reasons why the sentence was skipped.
    """

    def __init__(self) -> None:
        self._sentences = {key: _SentenceEvidence() for key in CLAUSES}
        #: The observed values of the fields in NAMED_WORDS, by sentence and field.
        self._seen_words: dict[tuple[str, str], set[str]] = {}
        #: All differences, in the order in which they were observed.
        self.differences: list[ContractDifference] = []
        #: The keys of the sentences with the addresses of the calls for which a correct request
        #: succeeded.
        self.working_calls: set[str] = set()

    def holds(self, keys: Keys, observed: ObservedFact) -> None:
        """Record that a response keeps these sentences of the contract."""
        for key in _each(keys):
            _add(self._sentences[key].holds, observed)
            if not isinstance(observed, str) and observed.call_id:
                self._sentences[key].calls.add(CALL_CLAUSES[observed.call_id].call)

    def differs(
        self, keys: Keys, observed: ObservedFact, fault: str = "", *, field: str = ""
    ) -> None:
        """Record that a response breaks these sentences of the contract, and what is wrong with it.

        If a field is missing or has a wrong value, `field` is its name with its resource.
        """
        difference = ContractDifference(
            _each(keys), str(observed), fault, field, _differing_response(observed)
        )
        self.differences.append(difference)
        for key in difference.keys:
            _add(self._sentences[key].differs, str(difference))

    def skips(self, keys: Keys, reason: ObservedFact) -> None:
        """Record why the check could not try these sentences."""
        for key in _each(keys):
            _add(self._sentences[key].skips, reason)

    def skips_part(self, keys: Keys, reason: ObservedFact) -> None:
        """Record why the check could not try a part of these sentences, so that they cannot hold."""
        for key in _each(keys):
            _add(self._sentences[key].untried, reason)

    def cannot_decide(self, keys: Keys, reason: ObservedFact) -> None:
        """Record why a response does not show whether the server keeps these sentences."""
        for key in _each(keys):
            _add(self._sentences[key].undecided, reason)

    def judge(
        self,
        keys: Keys,
        is_right: bool | None,
        observed: ObservedFact,
        fault: str,
        *,
        call: str = "",
    ) -> bool | None:
        """Record that a response keeps sentences, or that it breaks them because of `fault`.

        Return `is_right`.

        None means that there was nothing to compare, so nothing is recorded.

        `call` is the key of the sentence with a call's address, and is set if the response is a
        refusal. A refusal proves the sentences only if a correct request to the call succeeds,
        because a server without the call refuses every request.
        """
        if is_right is False:
            self.differs(keys, observed, fault)
        elif is_right and call:
            for key in _each(keys):
                self._sentences[key].refusals.append((call, str(observed)))
        elif is_right:
            self.holds(keys, observed)
        return is_right

    def see_word(self, key: str, field_name: str, word: str) -> None:
        """Record the value of a field for which the contract names only one word."""
        self._seen_words.setdefault((key, field_name), set()).add(word)

    def verdict(self, key: str, unseen: str) -> tuple[SentenceVerdict, list[str]]:
        """Return the verdict on a sentence, with the observations or the reason on which it is based.

        `unseen` is the reason why the sentence cannot be observed from outside, if there is one.
        """
        evidence = self._sentences[key]
        if evidence.differs:
            return "differs", evidence.differs
        if unseen:
            return "unseen", [unseen]
        undecided = [*evidence.undecided, *self._missing_words(key)]
        if undecided:
            return "undecided", undecided[:MAX_OBSERVATIONS]
        proofs = [*evidence.holds, *self._proving_refusals(evidence)]
        untried = [
            *evidence.untried,
            *self._missing_calls(key, evidence),
            *self._missing_sentences(key),
        ]
        if proofs and untried:
            return "skipped", untried[:1]
        if proofs:
            return "holds", proofs[:1]
        return "skipped", [next(self._skip_reasons(key, evidence))]

    def _proving_refusals(self, evidence: _SentenceEvidence) -> list[str]:
        return [text for call, text in evidence.refusals if call in self.working_calls]

    def _missing_calls(self, key: str, evidence: _SentenceEvidence) -> Iterator[str]:
        """Say which of the calls that a sentence is about have not shown it, if there are any."""
        proven_calls = evidence.calls | {
            call for call, _ in evidence.refusals if call in self.working_calls
        }
        numbers: list[str] = []
        reasons: list[str] = []
        for call_id in CLAUSES[key].calls:
            call = CALL_CLAUSES[call_id].call
            if call not in proven_calls:
                numbers.append(CALLS[call_id].section.rpartition(" ")[2])
                reasons += self._sentences[call].skips + self._sentences[call].differs
        if not numbers:
            return
        noun = "operation" if len(numbers) == 1 else "operations"
        text = f"no response of {noun} {', '.join(numbers)} showed it"
        if reasons:
            text += f" ({reasons[0]})"
        yield text

    def _missing_sentences(self, key: str) -> Iterator[str]:
        """Yield the reason why a sentence that this one needs does not hold, for each of them."""
        for sentence in CLAUSES[key].needs:
            verdict, reasons = self.verdict(sentence, "")
            if verdict != "holds":
                yield reasons[0]

    def _skip_reasons(self, key: str, evidence: _SentenceEvidence) -> Iterator[str]:
        yield from evidence.skips
        yield from evidence.untried
        for call, refusal in evidence.refusals:
            call_evidence = self._sentences[call]
            text = f"{refusal}: refused, but no correct request succeeded"
            reasons = call_evidence.skips + call_evidence.differs
            if reasons:
                text += f" ({reasons[0]})"
            yield text
        yield _RARE_RESPONSES.get(key, "no response showed it")

    def _missing_words(self, key: str) -> Iterator[str]:
        """Yield a reason for each word that the sentence names and that no response contained."""
        for (sentence_key, field_name), words in self._seen_words.items():
            named_word = NAMED_WORDS[field_name]
            if sentence_key == key and named_word not in words:
                values = ", ".join(brief(word) for word in sorted(words))
                yield f"{field_name} was {values}; the contract's {named_word!r} was not seen"


def _each(keys: Keys) -> tuple[str, ...]:
    if isinstance(keys, str):
        return (keys,)
    return keys


def _differing_response(observed: ObservedFact) -> DifferingResponse | None:
    if isinstance(observed, str):
        return None
    return DifferingResponse(
        number=observed.number,
        call_id=observed.call_id,
        purpose=observed.purpose or observed.title,
        status=observed.status,
        code=observed.code,
        broken=observed.broken,
    )


def _add(observations: list[str], observed: ObservedFact) -> None:
    if len(observations) == MAX_OBSERVATIONS:
        return
    text = str(observed)
    if text not in observations:
        observations.append(text)
