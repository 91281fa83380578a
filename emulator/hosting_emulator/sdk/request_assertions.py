"""Asserts that the number of matching requests is as expected, and explains failures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hosting_emulator.sdk.exchange_text import exchange_row, fold_rows
from hosting_emulator.sdk.recorded_requests import HeldRequests, RecordedRequest
from hosting_emulator.sdk.request_filters import ImpossibleFilter
from hosting_emulator.sdk.request_matching import RequestMatcher
from hosting_emulator.sdk.text import align, count_text

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

#: The maximum number of lines for requests. Only the newest requests are shown.
_ROWS = 20
_NEAREST = 3


@dataclass(frozen=True, slots=True)
class ExpectedCount:
    """The minimum and maximum number of requests. None means that there is no limit."""

    at_least: int | None
    at_most: int | None

    def text(self) -> str:
        """Return the expectation in words, for example `to be made twice`."""
        at_least = self.at_least
        at_most = self.at_most
        if at_most == 0:
            return "not to be made"
        if at_most is None:
            if at_least in (None, 1):
                return "to be made"
            return f"to be made at least {times_text(at_least)}"
        if at_least == at_most:
            return f"to be made {times_text(at_most)}"
        if at_least:
            return f"to be made {at_least} to {at_most} times"
        return f"to be made at most {times_text(at_most)}"


def expected_count(times: int | None, at_least: int | None, at_most: int | None) -> ExpectedCount:
    """Return the expected count for an assertion's arguments. By default, at least one request is
    expected.

    Raises TypeError if `times` is combined with another argument, or ImpossibleFilter if no number
    of requests can satisfy the arguments.
    """
    if times is not None:
        if at_least is not None or at_most is not None:
            raise TypeError("times is exact: do not give at_least or at_most with it")
        _check_count("times", times)
        return ExpectedCount(times, times)
    if at_least is None and at_most is None:
        return ExpectedCount(1, None)
    _check_count("at_least", at_least)
    _check_count("at_most", at_most)
    if at_least is not None and at_most is not None and at_least > at_most:
        raise ImpossibleFilter("at_least must not be greater than at_most")
    return ExpectedCount(at_least, at_most)


def check_made(
    held: HeldRequests,
    matcher: RequestMatcher,
    matching: Sequence[RecordedRequest],
    count: ExpectedCount,
    world_name: str,
    base_url: str,
) -> None:
    """Raise AssertionError unless the number of matching requests is as expected.

    If there is a maximum, AssertionError is also raised if the log no longer contains all requests
    that could match.
    """
    at_least = count.at_least
    at_most = count.at_most
    made = "never made"
    if matching:
        made = f"made {times_text(len(matching))}"
    expected = f"expected {matcher.text()} {count.text()}"
    is_too_few = at_least is not None and len(matching) < at_least
    is_too_many = at_most is not None and len(matching) > at_most
    if is_too_few or is_too_many:
        lines = [f"{expected}, but it was {made}"]
        if is_too_few:
            lines += _nearest_lines(matcher, held.requests)
        lines.append("")
        lines += _table(held, {request.n for request in matching}, world_name, base_url)
        raise AssertionError("\n".join(lines))
    if at_most is None:
        return
    if held.was_cleared:
        raise AssertionError(
            f"{expected}, but this can no longer be checked: the log was cleared, because the world was "
            f"reset or replaced after `requests.from_now()`\nsince then, the request was {made}\n"
            "call `requests.from_now()` after the reset"
        )
    if held.dropped:
        raise AssertionError(
            f"{expected}, but this can no longer be checked: the log keeps only the last "
            f"{count_text(len(held.requests), 'request')}, and has dropped "
            f"{count_text(held.dropped, 'older request')}\namong the last requests, it was {made}\n"
            "call `requests.from_now()` shortly before the requests that you count"
        )


def check_none_failed(held: HeldRequests) -> None:
    """Raise AssertionError if a request failed or if the log no longer contains all requests."""
    failed = [request for request in held.requests if request.failed]
    if not failed:
        if held.dropped or held.was_cleared:
            raise AssertionError(
                "expected every request to succeed, but this can no longer be checked: earlier requests "
                "were dropped from the log; call `requests.from_now()` later, or assert more often"
            )
        return
    total = len(held.requests)
    lines = [f"expected every request to succeed, but {len(failed)} of {total} did not", ""]
    rows = [[*exchange_row(request), " ".join(request.why)] for request in failed]
    folded_rows = fold_rows(rows)[-_ROWS:]
    if folded_rows[0].first:
        lines.append(f"  … {count_text(folded_rows[0].first, 'earlier request')} left out")
    aligned = align([row.cells[:-1] for row in folded_rows])
    for row, line in zip(folded_rows, aligned, strict=True):
        lines.append(line)
        lines += [f"      {sentence}" for sentence in failed[row.first].why]
    raise AssertionError("\n".join(lines))


def _table(held: HeldRequests, marked: set[int], world_name: str, base_url: str) -> list[str]:
    """Format the latest requests as lines of text. Requests whose numbers are in `marked` are
    marked with `>`.
    """
    if not held.requests:
        return [f"no request has reached this world; its base URL is {base_url}"]
    title = f"made in world {world_name}"
    if marked:
        title += "; > marks the counted requests"
    lines = [f"{title}:"]
    rows = []
    for request in held.requests:
        number, *cells = exchange_row(request)
        mark = ">" if request.n in marked else " "
        key = f"key {request.idempotency_key}" if request.idempotency_key else ""
        rows.append([f"  {mark}{number[1:]}", *cells, key])
    folded_rows = fold_rows(rows)[-_ROWS:]
    omitted = folded_rows[0].first + held.dropped
    if omitted:
        lines.append(f"    … {count_text(omitted, 'earlier request')} left out")
    return [*lines, *align([row.cells for row in folded_rows])]


def _nearest_lines(matcher: RequestMatcher, requests: Iterable[RecordedRequest]) -> list[str]:
    """Describe, in lines of text, how the closest requests differ from the filters."""
    ranked: list[tuple[int, RecordedRequest, list[str]]] = []
    for request in requests:
        mismatches = matcher.mismatches(request)
        is_other_call = "call" in mismatches
        # A request that matches none of the filters is not close, unless its path is unknown: it
        # may be a misspelled path of the expected call.
        is_near = len(mismatches) < len(matcher.values) or (is_other_call and request.call is None)
        if mismatches and is_near:
            ranked.append((len(mismatches) + is_other_call, request, mismatches))
    if not ranked:
        return []
    smallest = min(distance for distance, _, _ in ranked)
    nearest = [entry for entry in ranked if entry[0] == smallest]
    lines = ["", "nearest:"]
    for _, request, mismatches in nearest[-_NEAREST:]:
        differences = ", and ".join(matcher.difference(request, name) for name in mismatches)
        reason = ""
        if request.failed and request.why:
            reason = f" ({'; '.join(request.why)})"
        lines.append(f"  #{request.n} {differences}{reason}")
    return lines


def times_text(times: int | None) -> str:
    """Format a count: `once`, `twice`, `1,000 times`."""
    return {1: "once", 2: "twice"}.get(times or 0, f"{times:,} times")


def _check_count(name: str, count: object) -> None:
    """Raise ImpossibleFilter unless `count` is None or a whole number that is at least 0."""
    is_count = isinstance(count, int) and not isinstance(count, bool) and count >= 0
    if count is not None and not is_count:
        raise ImpossibleFilter(f"{name} must be a whole number, 0 or greater, not {count!r}")
