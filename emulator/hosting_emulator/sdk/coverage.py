"""Describes which parts of the contract clients have exercised, as data and as short text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap
from typing import Final

from msgspec import to_builtins

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.call_table import problem_codes
from hosting_emulator.contract.calls import CALLS, GET_OPERATION
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.messages import ContractCoverage, JsonObject
from hosting_emulator.sdk.text import count_text

#: The states in which an operation can end (contract, section Operation.state).
_ENDS: Final = ("succeeded", "failed", "cancelled")
#: The names used in texts for the different kinds of callers.
_ROLE_NAMES: Final = {
    "owner": "owner",
    "maintainer": "maintainer",
    "reader": "reader",
    "api_key": "API key",
}
_WIDTH = 100
_LABEL_WIDTH = 16


class CoverageParts:
    """The parts of the contract, divided into exercised and missing parts.

    All names are in contract order. A call counts as exercised if it has had a success response.
    `missing_own_codes` are the missing codes that the exercised calls can return even without a
    fault. `missing_statuses` are the error statuses listed in the contract that no response has had
    yet, such as `set_project_powered_by_flag 401`. `replayed_calls` are the calls that have had a
    replayed response.
    """

    def __init__(self, coverage: ContractCoverage) -> None:
        calls = coverage.calls
        successful = {
            name
            for name, call in calls.items()
            if any(200 <= int(status) < 300 for status in call.statuses)
        }
        codes = {code for call in calls.values() for code in call.codes}
        roles = {role for call in calls.values() for role in call.roles}
        replayed = {name for name, call in calls.items() if call.replays}
        keyed = [name for name, spec in CALLS.items() if spec.idempotent]
        self.calls, self.missing_calls = _divide(CALLS, successful)
        self.codes, self.missing_codes = _divide(PROBLEMS, codes)
        self.missing_own_codes = _own_codes(self.calls, codes)
        self.ends, self.missing_ends = _divide(_ENDS, coverage.operation_ends)
        self.roles, self.missing_roles = _divide(_ROLE_NAMES, roles)
        self.replayed_calls, self.missing_replays = _divide(keyed, replayed)
        self.statuses = sorted({status for call in calls.values() for status in call.statuses})
        self.missing_statuses = [
            f"{name} {status}"
            for name, spec in CALLS.items()
            for status in spec.listed_statuses
            if name not in calls or str(status) not in calls[name].statuses
        ]


def coverage_lines(coverage: ContractCoverage, *, width: int = _WIDTH) -> list[str]:
    """Describe what was exercised and what is missing, in lines of at most `width` characters."""
    indent = " " * (_LABEL_WIDTH + 2)
    lines = []
    for label, text in coverage_rows(coverage):
        wrapped = wrap(text, width - len(indent), break_long_words=False, break_on_hyphens=False)
        lines.append(f"{label:<{_LABEL_WIDTH}}  {wrapped[0]}")
        lines += [f"{indent}{line}" for line in wrapped[1:]]
    return lines


def coverage_rows(coverage: ContractCoverage) -> list[tuple[str, str]]:
    """Return the name of each aspect of the contract, with a short text about it."""
    parts = CoverageParts(coverage)
    polls = coverage.calls.get(GET_OPERATION.call_id)
    calls = _text(f"{len(parts.calls)} of {len(CALLS)}", parts.calls, parts.missing_calls)
    if polls is not None:
        calls += f"; operations polled: {count_text(polls.responses, 'response')}"
    codes = f"{len(parts.codes)} of {len(PROBLEMS)}"
    codes = _text(codes, parts.codes, parts.missing_own_codes, missing_label="also possible here")
    pages = count_text(coverage.pages, "page")
    if coverage.pages:
        pages += f" of deployments, {coverage.following_pages} requested with a cursor"
    replays = (
        f"{len(parts.replayed_calls)} of {len(parts.replayed_calls + parts.missing_replays)} calls"
    )
    return [
        ("calls", calls),
        ("statuses", ", ".join(parts.statuses) or "none"),
        ("problem codes", codes),
        ("operation ends", _text("", parts.ends, parts.missing_ends)),
        ("roles", _text("", _role_names(parts.roles), _role_names(parts.missing_roles))),
        ("pages", pages),
        ("replays", _text(replays, parts.replayed_calls, parts.missing_replays)),
    ]


def coverage_document(coverage: ContractCoverage) -> JsonObject:
    """Convert a coverage to a JSON document that includes the missing parts of the contract."""
    parts = CoverageParts(coverage)
    document: JsonObject = to_builtins(coverage)
    document["missing"] = {
        "calls": parts.missing_calls,
        "statuses": parts.missing_statuses,
        "problem_codes": parts.missing_codes,
        "operation_ends": parts.missing_ends,
        "roles": parts.missing_roles,
        "replays": parts.missing_replays,
        "pages": [] if coverage.following_pages else ["following_pages"],
    }
    return document


def read_coverage(document: object) -> ContractCoverage:
    """Read the coverage from a JSON document. Raises ValueError if the document contains none."""
    return convert(document, ContractCoverage)


def _divide(names: Iterable[str], exercised: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the exercised and the missing names, both in the order of `names`."""
    exercised_names = set(exercised)
    ordered = list(names)
    return (
        [name for name in ordered if name in exercised_names],
        [name for name in ordered if name not in exercised_names],
    )


def _own_codes(calls: Iterable[str], exercised: Iterable[str]) -> list[str]:
    """Return the codes that these calls can return even without a fault, except the exercised ones."""
    assumptions = Assumptions()
    own = {code for call in calls for code in problem_codes(CALLS[call], assumptions)}
    return [code for code in PROBLEMS if code in own - set(exercised)]


def _role_names(roles: Sequence[str]) -> list[str]:
    return [_ROLE_NAMES[role] for role in roles]


def _text(
    count: str, exercised: Sequence[str], missing: Sequence[str], *, missing_label: str = "missing"
) -> str:
    """Return text such as `1 of 3: succeeded; missing: failed, cancelled`."""
    text = count
    if exercised:
        names = ", ".join(exercised)
        text = f"{count}: {names}" if count else names
    if not text:
        text = "none"
    if missing:
        text = f"{text}; {missing_label}: {', '.join(missing)}"
    return text
