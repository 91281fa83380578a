"""A hint for steps that expect a token to be refused but send a new token."""

from __future__ import annotations

from msgspec import UNSET

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.criteria.mismatches import compare
from hosting_emulator.criteria.response_types import EXPECTED
from hosting_emulator.scenario.arrival import Arrival
from hosting_emulator.scenario.document import StepPart
from hosting_emulator.scenario.step_keys import is_page
from hosting_emulator.scenario.variables import Variables

NEW_TOKEN_HINT = (
    "this step sends a new token: to send an earlier token, create it with sign_in and set token"
)
#: The problem codes for tokens that have expired or whose session has ended.
_CODES_OF_KEPT_TOKENS = ("unauthenticated", "interactive_login_required")


def new_token_hint(step: StepPart, arrival: Arrival, variables: Variables) -> str:
    """Return the hint, preceded by a semicolon, or an empty string if the hint does not apply.

    It applies if the step expects the problem that an old token causes, but the request has a new
    token and succeeds.
    """
    if not _signs_in(step) or arrival.lost or arrival.gave_up:
        return ""
    if arrival.reply.status >= 400 or not _expects_old_token(step, variables):
        return ""
    return f"; {NEW_TOKEN_HINT}"


def _signs_in(step: StepPart) -> bool:
    """Return whether a step creates a new access token for its request."""
    names = {name.lower() for name in step.headers}
    if step.token is not None or step.user == NOBODY or "authorization" in names:
        return False
    if step.request is not None and is_page(step.request.partition(" ")[2]):
        return False
    return step.user is not None or step.redeem is None


def _expects_old_token(step: StepPart, variables: Variables) -> bool:
    """Return whether a step expects status 401 or a problem code that an old token causes."""
    if step.expect is None:
        return False
    code = step.expect.code
    if code is not UNSET and code is not None:
        expected = variables.fill(code)
        return any(_allows("code", expected, value) for value in _CODES_OF_KEPT_TOKENS)
    if step.expect.status is UNSET:
        return False
    expected = variables.fill(step.expect.status)
    # A status class such as 4xx also matches 404, so it does not imply that an old token is
    # expected.
    return _allows("status", expected, 401) and not _allows("status", expected, 404)


def _allows(word: str, expected: object, value: object) -> bool:
    return not compare(EXPECTED[word], expected, value, word)
