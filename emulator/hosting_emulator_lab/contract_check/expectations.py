"""The expectations that several checks share: a request must succeed, or must be refused."""

from __future__ import annotations

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.contract_check.clauses import CALL_CLAUSES
from hosting_emulator_lab.contract_check.evidence import Evidence, Keys
from hosting_emulator_lab.contract_check.refusal_codes import (
    ACCESS_CODES,
    ACCESS_OR_INPUT_CODES,
    BUSY_CODES,
    describes_a_state,
)
from hosting_emulator_lab.contract_check.response import ServerResponse
from hosting_emulator_lab.contract_check.server_behavior import ServerBehavior

#: The roles that the contract names. For other calls, it does not show who may make them.
_STATED_ROLES = ("owner", "reader")
_OTHER_REASON = "the refusal has another reason"
#: The faults of responses to requests that should have had a different result.
SHOULD_SUCCEED = "it should have succeeded"
SHOULD_BE_REFUSED = "it should have been refused"
SHOULD_BE_A_4XX_PROBLEM = "it should have been refused with a 4xx problem"


class Expectations:
    """Compares responses with the results that their requests must have, and records the evidence."""

    def __init__(self, evidence: Evidence, behavior: ServerBehavior) -> None:
        self._evidence = evidence
        self._behavior = behavior
        #: Whether a call that only an owner may make has succeeded with the token for the owner.
        self._has_acted_as_owner = False

    def success(self, keys: Keys, response: ServerResponse) -> bool:
        """Return whether a correct request succeeded.

        Otherwise, record that the server breaks the sentences, or skip them.

        They are skipped if the service is unavailable, at a limit, or in a state in which it
        refuses the call, if the contract does not show who may make the call, and if only an owner
        may make it but no response has shown that the token is an owner's.
        """
        is_for_owner = ALL_CALLS[response.call_id].role == "owner"
        if response.ok:
            self._has_acted_as_owner = self._has_acted_as_owner or is_for_owner
            return True
        if response.status == 0 or describes_a_state(response.code):
            self._evidence.skips(keys, response)
        elif response.code == "forbidden" and not _has_stated_role(response):
            self._evidence.skips(
                keys,
                f"{response}: the contract does not say which role or permission it needs",
            )
        elif response.code == "forbidden" and is_for_owner and not self._has_acted_as_owner:
            self._evidence.skips(
                keys, f"{response}: cannot be judged: the token seems not to be an owner's"
            )
        else:
            self._evidence.differs(keys, response, SHOULD_SUCCEED)
        return False

    def refusal(self, keys: Keys, response: ServerResponse, code: str | None = None) -> bool | None:
        """Return whether the server refused a request that it must refuse, with `code` if it is set.

        Return None if the response does not show this.
        """
        if response.status == 0:
            self._evidence.skips(keys, response)
            return None
        if response.code in BUSY_CODES:
            self._evidence.cannot_decide(keys, f"{response}: {_OTHER_REASON}")
            return None
        # The contract shows the status of only two codes, so a code with a status of 500 or more
        # can be a refusal too.
        is_refused = response.refused or (response.status >= 500 and response.code in PROBLEMS)
        if is_refused and code is None and _has_other_reason(response, ACCESS_OR_INPUT_CODES):
            self._evidence.cannot_decide(keys, f"{response}: {_OTHER_REASON}")
            return None
        fault = SHOULD_BE_REFUSED
        if is_refused and code is not None:
            is_refused = response.code == code
            fault = f"its code should be {code}"
        elif not response.ok:
            fault = SHOULD_BE_A_4XX_PROBLEM
        call_key = CALL_CLAUSES[response.call_id].call
        return self._evidence.judge(keys, is_refused, response, fault, call=call_key)

    def refusal_with_code(
        self, keys: Keys, response: ServerResponse, code_keys: Keys, code: str
    ) -> None:
        """Judge whether a request was refused and, if so, whether the refusal has the right code."""
        expected_code = code if response.code == code else None
        if self.refusal(keys, response, expected_code):
            self.refusal(code_keys, response, code)

    def invalid_input(self, keys: Keys, response: ServerResponse) -> None:
        """Judge whether a request with invalid content was refused."""
        if response.code in ACCESS_CODES:
            self._evidence.skips(keys, f"{response}: this token may not use the call at all")
        elif response.refused and _has_other_reason(response, frozenset(["invalid_request"])):
            self._evidence.cannot_decide(keys, f"{response}: {_OTHER_REASON}")
        else:
            self.refusal(keys, response)

    def not_found(self, response: ServerResponse) -> None:
        """Judge the response for a resource that does not exist or that the caller may not see."""
        if response.code in ACCESS_CODES - {"forbidden"} | {"invalid_request"}:
            self._evidence.skips(
                "condition.missing", f"{response}: the refusal says nothing about the resource"
            )
        else:
            self.refusal("condition.missing", response, "resource_not_found")

    def ignored_or_refused(self, assumption: str, response: ServerResponse) -> None:
        """Record whether the server ignores or refuses an input that a call does not have."""
        if response.ok:
            self._behavior.record(assumption, "ignored")
        elif response.is_invalid_input:
            self._behavior.record(assumption, "refused")


def _has_stated_role(response: ServerResponse) -> bool:
    return ALL_CALLS[response.call_id].role in _STATED_ROLES


def _has_other_reason(response: ServerResponse, reasons: frozenset[str]) -> bool:
    """Return whether a refusal has one of the contract's codes, but none of `reasons`."""
    return response.code in PROBLEMS and response.code not in reasons
