"""The observed behavior of a run, as read from an observation of its worlds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from hosting_emulator.messages import ConductFinding, ContractCoverage
from hosting_emulator_lab.judge.client_requests import NumberedRequest, ObservedExchange
from hosting_emulator_lab.judge.exchange_counts import FastAttempts
from hosting_emulator_lab.judge.paging import LIST_CALL
from hosting_emulator_lab.judge.world_summary import StateRows


class TooManyRequests(Exception):
    """A run has more requests than a log stores. The message contains a remedy."""


class JudgeFailed(Exception):
    """The emulator could not judge a run, so the run proves nothing."""


@dataclass(frozen=True)
class Observation:
    """The observed behavior of a run, and the state after it.

    `exchanges` are all exchanges of the run, and `requests` are those that a fault can meet.

    `hit` means that the fault met a request. `late` means that the fault still delays the response
    to a request although the client has ended. `codes` are the codes of the problems in responses.

    `conduct` are the distinct conduct findings, and `conduct_errors` are those of severity error.

    `request_count` is the number of all requests. `refusals_in_a_row` is the number of refused
    requests to the point's call since the last request to it that succeeded. `is_last_refused`
    means that the last such request never succeeded in this run.

    `requested_keys` is the number of API keys that the client requested, and `key_values` is the
    number of keys whose value it received. `lost_keys` is the number of keys for which a replayed
    response showed that the value is lost.

    `null_urls` are URLs in which a word such as `null` stands for a name or an id.

    `failed_operations` are the rows of operations that failed. If the point is about operations and
    the client polled one, the rows include failures after the client's end.

    `fast_attempts` are the numbers of attempts at each request with hardly a pause between them. They
    are empty if the clock skips.

    `world_time_s` is the longest world time between the first and the last request of a chapter, in
    seconds, without the time that a skip clock moves by itself.

    `coverage` is the part of the contract that the run exercised. `sent` contains the texts of all
    requests, with their bodies, or is empty for a run at a point.
    """

    exchanges: tuple[ObservedExchange, ...]
    requests: tuple[NumberedRequest, ...]
    state: StateRows
    codes: frozenset[str]
    hit: bool
    late: bool
    conduct: tuple[str, ...]
    conduct_errors: tuple[str, ...]
    request_count: int
    refusals_in_a_row: int
    is_last_refused: bool
    key_values: int
    requested_keys: int
    lost_keys: int
    null_urls: frozenset[str]
    failed_operations: Counter[str]
    world_time_s: float
    fast_attempts: tuple[FastAttempts, ...]
    coverage: ContractCoverage
    sent: tuple[str, ...]

    @property
    def poll_count(self) -> int:
        """The number of polls of operations that the log stores."""
        return sum(request.call == "get_operation" for request in self.requests)

    @cached_property
    def received_items(self) -> list[Mapping[str, object]]:
        """The items of all pages of deployments that the client received.

        They are collected once, because each trial compares its items with those of the clean run.
        The requests must have their responses.
        """
        items: list[Mapping[str, object]] = []
        for request in self.requests:
            is_page = request.call == LIST_CALL and request.succeeded
            if is_page and request.exchange.is_received and isinstance(request.response, dict):
                page = request.response.get("items")
                if isinstance(page, list):
                    items += [item for item in page if isinstance(item, dict)]
        return items


def finding_texts(findings: Iterable[ConductFinding]) -> tuple[str, ...]:
    """Return the distinct rules in findings, with their titles."""
    return tuple(dict.fromkeys(f"{finding.rule}: {finding.title}" for finding in findings))


def error_texts(findings: Iterable[ConductFinding]) -> tuple[str, ...]:
    """Return the distinct rules in findings of severity error, with their titles."""
    return finding_texts(finding for finding in findings if finding.severity == "error")
