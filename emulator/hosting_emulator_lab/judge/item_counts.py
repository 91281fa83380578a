"""Finds a client that counts deployments twice, or too few of them, after a failure within a list.

A client that starts a list again must forget the items that it has already collected, and a client
that cannot read a page must not report the items before it as the whole list. The requests of a
careful client and of a careless client are the same, so only a printed number can show the difference.
It counts if it is the number of all received items, in this run as in both clean runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from hosting_emulator_lab.judge.paging import LIST_CALL
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd

_NUMBER = re.compile(r"\d+")


def repeated_items_text(end: RunEnd, observation: Observation, clean: CleanRun) -> str:
    """Describe the printed number that counts items twice, or return an empty string if there is none.

    The requests must have their responses.
    """
    usual_items = clean.observation.received_items
    items = observation.received_items
    if len(items) <= len(usual_items) or len(_ids(items)) != len(_ids(usual_items)):
        return ""
    changed_count = _changed_count(end, observation, clean)
    if not changed_count:
        return ""
    return f"{changed_count}: it received some items again, and counts them again"


def missing_items_text(end: RunEnd, observation: Observation, clean: CleanRun) -> str:
    """Describe the printed number of items that lacks those of a failed page.

    Return an empty string if there is none, or if the client prints a line with other words than
    in the clean run, because it may say that items are missing. The requests must have their
    responses.
    """
    if not observation.is_last_refused:
        return ""
    if end.prints_new_words(clean.end):
        return ""
    items = observation.received_items
    if not items or len(items) >= len(clean.observation.received_items):
        return ""
    changed_count = _changed_count(end, observation, clean)
    if not changed_count:
        return ""
    return f"{changed_count}: it did not receive the other items, and no word says so"


def _changed_count(end: RunEnd, observation: Observation, clean: CleanRun) -> str:
    """Describe the printed number of received items that differs from the clean runs'."""
    usual_items = clean.observation.received_items
    items = observation.received_items
    pairs = _count_pairs(usual_items, items) - _request_pairs(clean.observation, observation)
    clean_lines = [behavior.lines or () for behavior in clean.behaviors]
    for line, numbers, usual_numbers in _changed_lines(clean_lines, end.printed_lines or ()):
        for number, usual_number in zip(numbers, usual_numbers, strict=True):
            if (usual_number, number) in pairs:
                return f"it prints {line!r}, with {number} instead of {usual_number}"
    return ""


def _ids(items: Sequence[Mapping[str, object]]) -> set[object]:
    return {item.get("id") for item in items}


def _count_pairs(
    usual_items: Sequence[Mapping[str, object]], items: Sequence[Mapping[str, object]]
) -> set[tuple[int, int]]:
    """Return the numbers of items in the clean run and in this run: of all items, and by status."""
    pairs = {(len(usual_items), len(items))}
    usual_counts = Counter(str(item.get("status")) for item in usual_items)
    counts = Counter(str(item.get("status")) for item in items)
    for status, usual_count in usual_counts.items():
        if counts[status] != usual_count:
            pairs.add((usual_count, counts[status]))
    return pairs


def _request_pairs(usual: Observation, observation: Observation) -> set[tuple[int, int]]:
    """Return the numbers of requests in the clean run and in this run, which a client may print."""
    usual_pages = sum(request.call == LIST_CALL for request in usual.requests)
    pages = sum(request.call == LIST_CALL for request in observation.requests)
    return {
        (usual.request_count, observation.request_count),
        (usual_pages, pages),
        (usual_pages, pages + 1),
    }


def _changed_lines(
    clean_lines: Sequence[Sequence[str]], lines: Sequence[str]
) -> Iterator[tuple[str, list[int], list[int]]]:
    """Yield each line that the clean runs print with other numbers, with its numbers and the usual ones.

    A line counts only if every run prints one line that is the same apart from numbers, and if it is
    the same in all clean runs.
    """
    usual_by_text = [_lines_by_text(usual) for usual in clean_lines]
    for text, own_lines in _lines_by_text(lines).items():
        usual_lines = {tuple(by_text.get(text, ())) for by_text in usual_by_text}
        if len(own_lines) != 1 or len(usual_lines) != 1:
            continue
        [usual] = usual_lines
        if len(usual) == 1 and usual[0] != own_lines[0]:
            yield own_lines[0], _numbers(own_lines[0]), _numbers(usual[0])


def _lines_by_text(lines: Sequence[str]) -> dict[str, list[str]]:
    """Return lines by their text without numbers."""
    by_text: dict[str, list[str]] = {}
    for line in lines:
        by_text.setdefault(_NUMBER.sub("#", line), []).append(line)
    return by_text


def _numbers(line: str) -> list[int]:
    return [int(number) for number in _NUMBER.findall(line)]
