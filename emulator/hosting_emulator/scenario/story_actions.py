"""Carries out the actions of a story's steps.

The `story` module decides when a step runs and whether it passes. To add an action, write a method,
add it to `_ACTIONS`, and add an entry to `step_keys`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec
from msgspec.structs import replace

from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.assumption_table import warnings_of
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.criteria.mismatches import Mismatch
from hosting_emulator.engine.engine import Engine
from hosting_emulator.scenario.arrival import Arrival, PageHandler
from hosting_emulator.scenario.comparison import compare_response, compare_value
from hosting_emulator.scenario.document import StepPart
from hosting_emulator.scenario.expectations import ResponseTypes
from hosting_emulator.scenario.log_step import count_requests
from hosting_emulator.scenario.manual_changes import ManualChanges
from hosting_emulator.scenario.new_tokens import new_token_hint
from hosting_emulator.scenario.slices import Slices, run_slices
from hosting_emulator.scenario.source import Location
from hosting_emulator.scenario.step_requests import StepRequests
from hosting_emulator.scenario.variables import Variables
from hosting_emulator.world.tables import ORGANIZATIONS

#: Fields in which variables are not replaced before the step runs.
_UNFILLED_FIELDS = {
    "note",
    "call",
    "together",
    "log",
    "use",
    "expect",
    "save",
    "collect",
    "pause",
    "with_",
}
_FILLED_FIELDS = [name for name in StepPart.__struct_fields__ if name not in _UNFILLED_FIELDS]

NO_ARRIVAL = Arrival(Reply(0, b"", headers=()))


@dataclass(slots=True)
class Attempt:
    """An attempt to carry out a step, with the resulting responses and differences."""

    location: Location
    #: The most recent response, whose values the step can compare and save.
    response: Arrival = NO_ARRIVAL
    #: All responses received in this attempt, in order.
    arrivals: list[Arrival] = field(default_factory=list)
    #: The differences that the action itself found.
    mismatches: list[Mismatch] = field(default_factory=list)
    #: For a `log` step, descriptions of the requests that come closest to matching the filters.
    nearest: list[str] = field(default_factory=list)


def describe_arrival(arrival: Arrival) -> str:
    """Describe how a request ended: with a response, with a lost response, or because the client gave up."""
    if arrival.gave_up:
        return "the client gave up before the response was sent"
    if arrival.lost:
        return f"the response was lost ({arrival.lost})"
    return f"status {arrival.reply.status}"


class StoryActions:
    """Carries out the actions of a story's steps.

    Without a `page_handler`, the steps cannot request pages.
    """

    def __init__(
        self,
        engine: Engine,
        variables: Variables,
        types: ResponseTypes,
        page_handler: PageHandler | None,
    ) -> None:
        self._engine = engine
        self._variables = variables
        self._types = types
        self.requests = StepRequests(engine, variables, page_handler)
        self.changes = ManualChanges(engine)
        self._digest = sha256()
        #: Warnings about assumptions that contradicted the contract at any point in the story. The
        #: keys are the warnings, in order.
        self.warnings: dict[str, None] = {}
        self._note_warnings()

    @property
    def digest(self) -> str:
        """The SHA-256 digest, in hexadecimal, of the statuses and bodies of all responses up to now."""
        return self._digest.hexdigest()

    def run(self, action: str, step: StepPart, attempt: Attempt) -> Slices[str]:
        """Carry out a step, and return a description of the result.

        Raises ValueError if the step cannot be carried out.
        """
        result = _ACTIONS[action](self, self._with_values(step), attempt)
        if isinstance(result, str):
            return result
        message = yield from result
        return message

    def _with_values(self, step: StepPart) -> StepPart:
        """Return a copy of a step with its variables replaced by their values."""
        values = {name: getattr(step, name) for name in _FILLED_FIELDS}
        filled = {name: self._variables.fill(value) for name, value in values.items() if value}
        return replace(step, **filled)

    # --- Requests -------------------------------------------------------------------------------

    def _send(self, step: StepPart, attempt: Attempt) -> str:
        (arrival,) = run_slices(self.requests.send([step]))
        return self._note_arrival(attempt, arrival)

    def _together(self, step: StepPart, attempt: Attempt) -> Slices[str]:
        steps = []
        entry_indexes = []
        for entry_index, request in enumerate(step.together or ()):
            for _ in range(request.times):
                steps.append(self._with_values(request))
                entry_indexes.append(entry_index)
                yield
        arrivals = yield from self.requests.send(steps)
        messages = []
        for index, (request, arrival) in enumerate(zip(steps, arrivals, strict=True)):
            yield
            messages.append(self._note_arrival(attempt, arrival))
            differences = compare_response(request, arrival, self._variables, self._types)
            if differences:
                messages[-1] += new_token_hint(request, arrival, self._variables)
            else:
                differences = self._variables.save(request.save, arrival)
            self._variables.collect(request, arrival, self._types)
            path = ("together", entry_indexes[index])
            attempt.mismatches += [
                difference.below(f"together[{index}]", path) for difference in differences
            ]
        return ", ".join(messages)

    def _note_arrival(self, attempt: Attempt, arrival: Arrival) -> str:
        """Record a response, and return a description of it."""
        attempt.response = arrival
        attempt.arrivals.append(arrival)
        reply = arrival.reply
        self._digest.update(b"%d %b\n" % (reply.status, reply.body))
        message = describe_arrival(arrival)
        if arrival.late_ms:
            return f"{message}, {format_duration(arrival.late_ms)} late"
        return message

    # --- Credentials ----------------------------------------------------------------------------

    def _sign_in(self, step: StepPart, attempt: Attempt) -> str:
        token = self.requests.mint(str(step.sign_in), step)
        lifetime_s = self._engine.token_lifetime_s
        document = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime_s}
        attempt.response = _document_arrival(200, document)
        return f"{step.sign_in} has an access token that is valid for {lifetime_s} seconds"

    def _api_key(self, step: StepPart, attempt: Attempt) -> str:
        user, organization_id = self.requests.user_and_organization(str(step.api_key), step)
        organization = self._engine.world.get(ORGANIZATIONS, organization_id or "")
        if organization is None:
            raise ValueError(f"{user.alias} has no organization, so no API key can be created")
        body = step.body or {}
        name = str(body.get("name", "made by hand"))
        created = self._engine.make_key(user, organization, name, body.get("permissions"))
        attempt.response = _document_arrival(201, created)
        return f"{user.alias} has an API key for {organization.alias}"

    # --- Manual changes -------------------------------------------------------------------------

    def _advance(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.advance(str(step.advance))

    def _to(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.move_to(str(step.to))

    def _until(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.move_until_ended(str(step.until))

    def _intervene(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.intervene({"intervene": step.intervene}, attempt.location)

    def _fault(self, step: StepPart, attempt: Attempt) -> str:
        return self._arm({"fault": step.fault}, attempt)

    def _outcome(self, step: StepPart, attempt: Attempt) -> str:
        return self._arm({"outcome": step.outcome}, attempt)

    def _arm(self, manual_change: dict[str, Any], attempt: Attempt) -> str:
        id_ = self.changes.arm(manual_change, attempt.location)
        attempt.response = _document_arrival(0, {"id": id_})
        return f"{id_} armed"

    def _remove_fault(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.remove({"remove_fault": step.remove_fault})

    def _remove_outcome(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.remove({"remove_outcome": step.remove_outcome})

    def _clear_faults(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.clear({"clear_faults": step.clear_faults})

    def _clear_outcomes(self, step: StepPart, attempt: Attempt) -> str:
        return self.changes.clear({"clear_outcomes": step.clear_outcomes})

    def _assume(self, step: StepPart, attempt: Attempt) -> str:
        message = self.changes.assume({"assume": step.assume})
        self._note_warnings()
        return message

    def _note_warnings(self) -> None:
        self.warnings |= dict.fromkeys(warnings_of(self._engine.world.assumptions))

    # --- Checks ---------------------------------------------------------------------------------

    def _check(self, step: StepPart, attempt: Attempt) -> str:
        for name, expected in (step.check or {}).items():
            actual = self._variables.value_of(name)
            kind = self._variables.type_of(name)
            differences = compare_value(kind, expected, actual, name)
            attempt.mismatches += [difference.within("check", name) for difference in differences]
        return ""

    def _log(self, step: StepPart, attempt: Attempt) -> Slices[str]:
        expected = self._variables.fill(msgspec.to_builtins(step.log))
        result = yield from count_requests(self._engine, expected)
        attempt.mismatches += [difference.within("log") for difference in result.mismatches]
        attempt.nearest = result.nearest
        return result.message

    def _note(self, step: StepPart, attempt: Attempt) -> str:
        return ""


def _document_arrival(status: int, document: Any) -> Arrival:
    """Wrap a document in a response, so that a step can compare and save its values."""
    return Arrival(Reply(status, msgspec.json.encode(document), headers=()))


_Action: TypeAlias = Callable[[StoryActions, StepPart, Attempt], str | Slices[str]]
#: The method for each action. `use` has none, because the story replaces each `use` step with the
#: steps of the part.
_ACTIONS: dict[str, _Action] = {
    "call": StoryActions._send,
    "poll": StoryActions._send,
    "redeem": StoryActions._send,
    "request": StoryActions._send,
    "together": StoryActions._together,
    "sign_in": StoryActions._sign_in,
    "api_key": StoryActions._api_key,
    "advance": StoryActions._advance,
    "to": StoryActions._to,
    "until": StoryActions._until,
    "intervene": StoryActions._intervene,
    "fault": StoryActions._fault,
    "outcome": StoryActions._outcome,
    "remove_fault": StoryActions._remove_fault,
    "remove_outcome": StoryActions._remove_outcome,
    "clear_faults": StoryActions._clear_faults,
    "clear_outcomes": StoryActions._clear_outcomes,
    "assume": StoryActions._assume,
    "check": StoryActions._check,
    "log": StoryActions._log,
    "note": StoryActions._note,
}
