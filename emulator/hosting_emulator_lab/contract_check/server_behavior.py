"""The server's behavior where the contract is silent: assumptions, words of open sets, and notes."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from typing import Any

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.value_checks import is_integer
from hosting_emulator.contract.value_texts import quoted_value

_TIMESTAMP_FORMS = {
    "milliseconds": re.compile(r".*:\d\d\.\d{3}Z"),
    "microseconds": re.compile(r".*:\d\d\.\d{6}Z"),
    "offset": re.compile(r".*:\d\d\.\d{3}\+00:00"),
}
#: The name of each open set in a report, by the field of a response.
_OPEN_SETS = {
    "progress.phase": "progress.phase",
    "reconciliation.state": "reconciliation.state",
    "error.code": "error.code",
    "items[].status": "Deployment.status",
}


class ServerBehavior:
    """Collects what the server does where the contract is silent."""

    def __init__(self) -> None:
        #: The observed values of assumptions, by name.
        self.values: dict[str, Any] = {}
        #: Sentences for the reader about behavior that no assumption covers.
        self.notes: list[str] = []
        #: The observed values of open sets, by the name of the set.
        self.words: dict[str, set[str]] = {}
        self._statuses_by_code: dict[str, set[int]] = {}
        self._timestamp_forms: set[str] = set()

    def record(self, assumption: str, value: Any) -> None:
        """Record the observed value of an assumption. A later observation replaces an earlier one."""
        self.values[assumption] = value

    def note(self, text: str) -> None:
        """Add a note for the reader, unless it was added before."""
        if text not in self.notes:
            self.notes.append(text)

    def record_status(self, code: str, status: int) -> None:
        """Record the status of a problem with a code of the contract."""
        self._statuses_by_code.setdefault(code, set()).add(status)

    def record_word(self, field_name: str, word: str) -> None:
        """Record the value of a field. The report lists only open sets."""
        if field_name in _OPEN_SETS:
            self.words.setdefault(_OPEN_SETS[field_name], set()).add(word)

    def record_timestamp(self, text: str) -> None:
        """Record the form of a timestamp."""
        for form, pattern in _TIMESTAMP_FORMS.items():
            if pattern.fullmatch(text):
                self._timestamp_forms.add(form)
                return
        self._timestamp_forms.add("other")

    def record_audience(self, token: str) -> int | None:
        """Record the audience of an access JWT.

        Return the time at which the token was issued, in milliseconds since 1970, or None if the
        token does not contain it.
        """
        try:
            payload = token.split(".")[1]
            claims = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
            audience = claims.get("aud")
            issued_at_s = claims.get("iat")
        except (IndexError, ValueError, AttributeError):
            return None
        if isinstance(audience, str):
            self.record("token_audience", audience)
        if is_integer(issued_at_s):
            return int(issued_at_s) * 1000
        return None

    def observed_assumptions(self) -> dict[str, Any]:
        """Return the observed values of assumptions, as a scenario states them.

        A value that no assumption can express becomes a note.
        """
        observed = dict(self.values)
        if "other" in self._timestamp_forms or len(self._timestamp_forms) > 1:
            self.note(
                "timestamps have more than one format, or one that this emulator cannot write"
            )
        elif self._timestamp_forms:
            observed["timestamp_form"] = next(iter(self._timestamp_forms))
        observed["problem_statuses"] = self._changed_statuses()
        expressible: dict[str, Any] = {}
        for name in DEFAULTS.__struct_fields__:
            if name not in observed:
                continue
            try:
                Assumptions().changed({name: observed[name]})
            except ValueError:
                self.note(
                    f"{name} is {quoted_value(observed[name])}, which no assumption can express"
                )
            else:
                expressible[name] = observed[name]
        return expressible

    def _changed_statuses(self) -> dict[str, int]:
        """Return the statuses that differ from ours, by code, where the contract leaves the status open."""
        return {
            code: min(statuses)
            for code, statuses in sorted(self._statuses_by_code.items())
            if PROBLEMS[code].status not in statuses and "status" not in PROBLEMS[code].specified
        }
