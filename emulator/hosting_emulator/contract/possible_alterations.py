"""Checks whether an alteration can act on any response to a call, before there has been a request."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import msgspec

from hosting_emulator.contract.allowed_changes import SentResponse
from hosting_emulator.contract.alterations import (
    Alteration,
    Altered,
    Unaltered,
    alter_response,
)
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import problem_codes
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.json_text import read_pointer, write_pointer
from hosting_emulator.contract.sample_responses import (
    sample_problem,
    sample_success,
)
from hosting_emulator.contract.suggestions import nearest

#: The similarity, from 0 to 1, above which one name is probably a misspelling of another. Two names
#: of six letters that differ in one letter have a similarity of 0.83.
_NEARLY_THE_SAME = 0.82


def impossible_reason(
    alteration: Alteration,
    specs: Iterable[CallSpec],
    assumptions: Assumptions,
    *,
    code: str | None = None,
) -> str | None:
    """Return why an alteration cannot act on any response.

    Return None if it can.

    If `code` is given, only problems with that code are considered.
    """
    tried: list[tuple[SentResponse, Unaltered]] = []
    can_act = False
    for spec in specs:
        if _may_exist(alteration, spec):
            return None
        for sample, other in _samples(spec, assumptions, code):
            result = alter_response(alteration, spec, sample, _draw, is_sample=True)
            if isinstance(result, Unaltered) and result.is_same:
                result = alter_response(alteration, spec, other, _draw, is_sample=True)
            if isinstance(result, Unaltered):
                tried.append((sample, result))
                continue
            can_act = True
            complaint = _misspelled(alteration, result)
            if complaint is not None or alteration.breaking or alteration.set is None:
                return complaint
    if can_act or not tried:
        return None
    _, nearest_result = min(tried, key=lambda pair: _distance(alteration, *pair))
    if nearest_result.forbidden is not None:
        return nearest_result.reason
    hint = _nearest_pointer(alteration, [sample for sample, _ in tried])
    return f"the alteration could never act: {nearest_result.reason}{hint}"


def _distance(alteration: Alteration, sample: SentResponse, result: Unaltered) -> tuple[bool, bool]:
    """Return a sort key for a sample. The sample with the lowest key is the best fit for the
    alteration.
    """
    status = alteration.status
    is_other_class = status is not None and (status >= 400) != (sample.status >= 400)
    return is_other_class, result.forbidden is None


def _misspelled(alteration: Alteration, altered: Altered) -> str | None:
    """Return a complaint if the name of an added member resembles that of a field, and otherwise
    None.
    """
    if alteration.breaking or alteration.set is None:
        return None
    document = msgspec.json.decode(altered.response.body)
    for change in altered.changes:
        if change.before is not None or _pointer_to(alteration, change.part) is None:
            continue
        siblings = document
        *tokens, name = read_pointer(change.part)
        for token in tokens:
            siblings = siblings[int(token) if isinstance(siblings, list) else token]
        names = [other for other in siblings if other != name]
        match = _similar_name(name, names)
        if match is not None:
            field = write_pointer([*tokens, match])
            return (
                f"the response has no {change.part}; did you mean {field}? To add "
                f"{change.part} anyway, set `breaking: true`."
            )
    return None


def _similar_name(name: str, names: Sequence[str]) -> str | None:
    """Return the name of which `name` is probably a misspelling, or None if there is none in `names`."""
    for other in names:
        if len(name) > 2 and sorted(name) == sorted(other):
            return other
    matches = get_close_matches(name, names, n=1, cutoff=_NEARLY_THE_SAME)
    return matches[0] if matches else None


def _pointer_to(alteration: Alteration, part: str) -> str | None:
    """Return the alteration's pointer to `part`, or None if none of its pointers refers to that part."""
    part_tokens = read_pointer(part) if part.startswith("/") else ()
    for pointer in alteration.pointers:
        tokens = read_pointer(pointer)
        if len(tokens) == len(part_tokens) and all(
            token in ("*", part_token)
            for token, part_token in zip(tokens, part_tokens, strict=True)
        ):
            return pointer
    return None


def _samples(
    spec: CallSpec, assumptions: Assumptions, code: str | None
) -> Iterator[tuple[SentResponse, SentResponse]]:
    """Yield pairs of sample responses to a call. The two responses in a pair have different values."""
    codes = problem_codes(spec, assumptions) if code is None else [code]
    if code is None:
        yield sample_success(spec, assumptions), sample_success(spec, assumptions, 1)
    for problem in codes:
        yield (
            sample_problem(spec, problem, assumptions),
            sample_problem(spec, problem, assumptions, 1),
        )


def _may_exist(alteration: Alteration, spec: CallSpec) -> bool:
    """Return whether a pointer refers to a member of `result`, for which the contract does not name
    any members.
    """
    return spec.response == "Operation" and any(
        pointer.startswith("/result/") for pointer in alteration.pointers
    )


def _nearest_pointer(alteration: Alteration, samples: Sequence[SentResponse]) -> str:
    if not alteration.pointers:
        return ""
    return _nearest_pointer_to(alteration.pointers[0], samples)


def _nearest_pointer_to(pointer: str, samples: Iterable[SentResponse]) -> str:
    """Return a hint that names the most similar pointer in the samples, or an empty string if there
    is none.

    If `pointer` names all items of a list with `*`, the hint does so, too.
    """
    item = "*" if "*" in pointer.split("/") else "0"
    pointers = {
        other
        for sample in samples
        for other in _pointers(msgspec.json.decode(sample.body), (), item)
        if other != pointer
    }
    return nearest(pointer, sorted(pointers))


def _pointers(value: Any, tokens: tuple[str, ...], item_token: str) -> Iterator[str]:
    """Yield the pointers to all parts of a sample.

    Only the first item of each list is included, and `item_token` stands for it.
    """
    if tokens:
        yield write_pointer(tokens)
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _pointers(member, (*tokens, name), item_token)
    elif isinstance(value, list):
        for item in value[:1]:
            yield from _pointers(item, (*tokens, item_token), item_token)


def _draw(bound: int) -> int:
    return 0
