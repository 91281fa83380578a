"""The causes of differences: one mistake of a server often breaks many sentences in many responses."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from hosting_emulator_lab.contract_check.clauses import CLAUSES
from hosting_emulator_lab.contract_check.evidence import (
    MAX_OBSERVATIONS,
    ContractDifference,
)
from hosting_emulator_lab.contract_check.expectations import (
    SHOULD_BE_A_4XX_PROBLEM,
    SHOULD_BE_REFUSED,
    SHOULD_SUCCEED,
)
from hosting_emulator_lab.contract_check.response import ServerResponse

#: What varies between responses with the same mistake: quoted values, numbers, and the path of a
#: field inside the document.
_VARYING_PARTS = re.compile(r"'[^']*'|\"[^\"]*\"|-?\b\d[\d.e+]*\b|\b\w+(?:\[\])?\.(?=\w)")
#: Faults that are the same mistake in whatever field they are: they break a sentence about a type.
_TYPE_FAULTS = ("is not a Ulid", "is not a timestamp")


@dataclass(frozen=True, slots=True)
class Cause:
    """A mistake of the server, as far as responses show it.

    `fault` says what is wrong. `keys` are the sentences that differ because of it, in the order of
    the contract. `calls` are the calls whose responses show it; there are none if only a comparison
    of responses or a lost connection shows it. `count` is the number of responses and comparisons,
    and `examples` are some of them, each with another fault or another kind of request.
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
        #: Differences with a common signature belong to the same group.
        self.signatures = {_fault_signature(difference), difference.keys}
        #: The identities of the responses, because two responses may be equal.
        self.responses = {id(difference.observed)}

    def add(self, other: _Group) -> None:
        """Take over the differences of another group."""
        self.differences += other.differences
        self.keys |= other.keys
        self.signatures |= other.signatures
        self.responses |= other.responses

    def explains(self, other: _Group) -> bool:
        """Tell whether every response of another group has this mistake, in a common sentence."""
        return other.responses <= self.responses and not self.keys.isdisjoint(other.keys)


def causes_of(differences: Iterable[ContractDifference]) -> list[Cause]:
    """Return the causes of differences. The cause that breaks the most sentences comes first.

    Differences have one cause in each of these cases:

    - They have the same fault: the same mistake in a field, or the same unexpected status, in
      responses to any calls.
    - They break the same sentences.
    - All responses with one fault also have the other fault, and both break a common sentence.

    These are guesses: two mistakes of a server in the same sentence count as one cause.
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


def _fault_signature(difference: ContractDifference) -> object:
    """Return a value that is the same for differences with the same fault."""
    fault = difference.fault
    response = difference.observed
    if not isinstance(response, ServerResponse):
        return ("observation", _generalize(fault or str(response)))
    if not fault:
        return ("status", response.status, response.broken)
    if fault in (SHOULD_SUCCEED, SHOULD_BE_REFUSED, SHOULD_BE_A_4XX_PROBLEM):
        return _result_signature(response, fault)
    for type_fault in _TYPE_FAULTS:
        if fault.endswith(type_fault):
            return ("type", type_fault)
    return ("fault", _generalize(fault))


def _result_signature(response: ServerResponse, fault: str) -> object:
    """Return the signature of a response to a request that should have had another result.

    If a request was accepted, or refused as invalid, the mistake is about its content, which the
    purpose describes. Any other mistake is about the status.
    """
    if fault == SHOULD_BE_REFUSED or response.code == "invalid_request":
        return (fault, _generalize(response.purpose))
    return (fault, response.status, response.code)


def _generalize(text: str) -> str:
    return _VARYING_PARTS.sub("", text)


def _cause_of(group: _Group) -> Cause:
    calls: dict[str, None] = {}
    examples: dict[object, str] = {}
    for difference in group.differences:
        if isinstance(difference.observed, ServerResponse):
            calls[difference.observed.call_id] = None
        examples.setdefault(_fault_signature(difference), str(difference))
    broadest = max(group.differences, key=lambda difference: len(difference.keys))
    return Cause(
        fault=broadest.fault or str(broadest.observed),
        keys=tuple(sorted(group.keys, key=_position)),
        calls=tuple(calls),
        count=len(group.responses),
        examples=tuple(examples.values())[:MAX_OBSERVATIONS],
    )


_POSITIONS = {key: position for position, key in enumerate(CLAUSES)}


def _position(key: str) -> int:
    """Return the position of a sentence in the contract."""
    return _POSITIONS[key]
