"""The causes of differences. One mistake in a server often breaks many sentences in many responses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hosting_emulator_lab.contract_check.clauses import CLAUSES
from hosting_emulator_lab.contract_check.evidence import (
    MAX_OBSERVATIONS,
    ContractDifference,
    DifferingResponse,
)
from hosting_emulator_lab.contract_check.expectations import (
    SHOULD_BE_A_4XX_PROBLEM,
    SHOULD_BE_REFUSED,
    SHOULD_SUCCEED,
)

#: The parts of a fault's text that vary between responses with the same mistake: quoted values,
#: numbers, and the path of a field inside the document.
_VARYING_PARTS = re.compile(r"'[^']*'|\"[^\"]*\"|-?\b\d[\d.e+]*\b|\b\w+(?:\[\])?\.(?=\w)")
#: Faults that are the same mistake in any field, because the contract defines the type.
_TYPE_FAULTS = ("is not a Ulid", "is not a timestamp")
_MISSING = "is missing"
#: Faults of a request that must be refused.
_ACCEPTANCE_FAULTS = (SHOULD_BE_REFUSED, SHOULD_BE_A_4XX_PROBLEM)


@dataclass(frozen=True, slots=True)
class ServerCause:
    """A mistake in the server, as far as responses show it.

    `fault` says what is wrong. `keys` are the sentences that the server breaks because of it, in
    the order of the contract. `calls` are the calls whose responses show it, and are empty if only
    a comparison of responses or a lost connection shows it. `count` is the number of responses and
    comparisons, and `examples` are some of them, each with a different fault or a different kind of
    request.
    """

    fault: str
    keys: tuple[str, ...]
    calls: tuple[str, ...]
    count: int
    examples: tuple[str, ...]


class _Group:
    """Differences that seem to have one cause."""

    def __init__(self, difference: ContractDifference) -> None:
        self.differences = [difference]
        self.keys = set(difference.keys)
        #: The fields whose values are wrong.
        self.fields = {difference.field} - {""}
        #: Differences with a common signature belong to the same group.
        self.signatures = _signatures_of(difference)
        #: The numbers of the responses, or the texts of other observations.
        self.responses: set[int | str] = {difference.observation}
        if difference.response is not None:
            self.responses = {difference.response.number}

    def add(self, other: _Group) -> None:
        """Add the differences of another group to this group."""
        self.differences += other.differences
        self.keys |= other.keys
        self.fields |= other.fields
        self.signatures |= other.signatures
        self.responses |= other.responses

    def explains(self, other: _Group) -> bool:
        """Return whether the mistake of this group explains the differences of another group.

        It does if both groups are about accepted requests that must be refused, and the other group
        breaks no further sentence. It also does if all responses of the other group have this
        mistake too, and both groups break a common sentence. Mistakes in the values of two fields
        are always different mistakes.
        """
        if self.is_about_acceptance() and other.is_about_acceptance():
            return other.keys <= self.keys
        if self.fields and other.fields and self.fields.isdisjoint(other.fields):
            return False
        return other.responses <= self.responses and not self.keys.isdisjoint(other.keys)

    def is_about_acceptance(self) -> bool:
        """Return whether all differences are accepted requests that the server must refuse."""
        return all(difference.fault in _ACCEPTANCE_FAULTS for difference in self.differences)


def causes_of(differences: Iterable[ContractDifference]) -> list[ServerCause]:
    """Return the causes of differences. The cause that breaks the most sentences comes first.

    Differences have one cause in each of these cases:

    - They have the same fault: the same mistake in a field, or the same unexpected status, in
      responses to any calls. A resource without several required fields has one fault.
    - They break the same sentences, and are not about the values of different fields.
    - One of them explains the other, as `_Group.explains` describes.

    These are guesses, because two mistakes about the same sentence count as one cause.
    """
    groups = _merge_explained(_group_by_signature(differences))
    causes = [_cause_of(group) for group in groups]
    return sorted(causes, key=lambda cause: (-len(cause.keys), _position(cause.keys[0])))


def _group_by_signature(differences: Iterable[ContractDifference]) -> list[_Group]:
    groups: list[_Group] = []
    for difference in differences:
        new_group = _Group(difference)
        relatives = [group for group in groups if group.signatures & new_group.signatures]
        if not relatives:
            groups.append(new_group)
            continue
        first, *others = relatives
        first.add(new_group)
        for group in others:
            first.add(group)
            groups.remove(group)
    return groups


def _merge_explained(groups: list[_Group]) -> list[_Group]:
    """Merge each group into the first other group that explains it."""
    remaining = list(groups)
    for group in groups:
        for other in remaining:
            if other is not group and other.explains(group):
                other.add(group)
                remaining.remove(group)
                break
    return remaining


def _signatures_of(difference: ContractDifference) -> set[object]:
    fault_signature = _fault_signature(difference)
    if not difference.field:
        return {fault_signature, difference.keys}
    if difference.fault.endswith((*_TYPE_FAULTS, _MISSING)):
        return {fault_signature}
    return {fault_signature, (difference.keys, difference.field)}


def _fault_signature(difference: ContractDifference) -> object:
    """Return a value that is the same for differences with the same fault."""
    fault = difference.fault
    response = difference.response
    if response is None:
        return ("observation", _generalize(fault or difference.observation))
    if not fault:
        return ("status", response.status, response.broken)
    if fault in (SHOULD_SUCCEED, SHOULD_BE_REFUSED, SHOULD_BE_A_4XX_PROBLEM):
        return _result_signature(response, fault)
    if difference.field and fault.endswith(_MISSING):
        resource = difference.field.partition(".")[0]
        return ("missing fields", resource)
    for type_fault in _TYPE_FAULTS:
        if fault.endswith(type_fault):
            return ("type", type_fault)
    return ("fault", _generalize(fault))


def _result_signature(response: DifferingResponse, fault: str) -> object:
    """Return the signature of a response to a request that should have had a different result.

    If a request was accepted, or refused as invalid, the mistake is about its content, which the
    purpose describes. Any other mistake is about the status.
    """
    if fault == SHOULD_BE_REFUSED or response.code == "invalid_request":
        return (fault, _generalize(response.purpose))
    return (fault, response.status, response.code)


def _generalize(text: str) -> str:
    return _VARYING_PARTS.sub("", text)


def _cause_of(group: _Group) -> ServerCause:
    calls: dict[str, None] = {}
    #: One difference for each fault. Further differences with the same fault would say nothing
    #: more.
    examples: dict[str, ContractDifference] = {}
    for difference in group.differences:
        if difference.response is not None and difference.response.call_id:
            calls[difference.response.call_id] = None
        examples.setdefault(_generalize(_topic_of(difference)), difference)
    return ServerCause(
        fault=_describe(group, list(examples.values())),
        keys=tuple(sorted(group.keys, key=_position)),
        calls=tuple(calls),
        count=len(group.responses),
        examples=tuple(str(example) for example in examples.values())[:MAX_OBSERVATIONS],
    )


def _topic_of(difference: ContractDifference) -> str:
    """Return what is wrong. For a request that must be refused, add the reason why."""
    fault = difference.fault or difference.observation
    if difference.fault in _ACCEPTANCE_FAULTS:
        return f"{fault}: {_purpose_of(difference)}"
    return fault


def _purpose_of(difference: ContractDifference) -> str:
    if difference.response is None:
        return difference.observation
    return difference.response.purpose


def _describe(group: _Group, examples: list[ContractDifference]) -> str:
    """Return a phrase about the fault that breaks the most sentences.

    If the group is about requests that must be refused, it lists these requests.
    """
    if group.is_about_acceptance():
        purposes = list(dict.fromkeys(_purpose_of(example) for example in examples))
        listed_purposes = "; ".join(purposes[:MAX_OBSERVATIONS])
        more_count = len(purposes) - MAX_OBSERVATIONS
        more = f"; and {more_count} more" if more_count > 0 else ""
        return f"{SHOULD_BE_REFUSED}: {listed_purposes}{more}"
    broadest = max(examples, key=lambda example: len(example.keys))
    other_count = len(examples) - 1
    if other_count == 0:
        return _topic_of(broadest)
    others = "1 other fault" if other_count == 1 else f"{other_count} other faults"
    return f"{_topic_of(broadest)}, and {others}"


_POSITIONS = {key: position for position, key in enumerate(CLAUSES)}


def _position(key: str) -> int:
    """Return the position of a sentence in the contract."""
    return _POSITIONS[key]
