"""Assumptions as a server answers them: what was observed where the contract is silent."""

from __future__ import annotations

import json
import re
from base64 import urlsafe_b64decode
from typing import Any

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract_check.http import Answer

_FORMS = {
    "milliseconds": re.compile(r".*:\d\d\.\d{3}Z"),
    "microseconds": re.compile(r".*:\d\d\.\d{6}Z"),
    "offset": re.compile(r".*:\d\d\.\d{3}\+00:00"),
}
#: Open sets whose words a report lists, by the field of an answer.
_OPEN_SETS = {name: name for name in ("progress.phase", "reconciliation.state", "error.code")}
_OPEN_SETS["items[].status"] = "Deployment.status"


class Observations:
    """What was observed, by the name of the assumption; and words that the contract leaves open."""

    def __init__(self, world: str = "") -> None:
        self.values: dict[str, Any] = {}
        self.notes: list[str] = []
        self.words: dict[str, set[str]] = {}
        self._world = world
        self._statuses: dict[str, set[int]] = {}
        self._empty: set[str] = set()
        self._forms: set[str] = set()

    # --- While asking ------------------------------------------------------------------------

    def see(self, name: str, value: Any) -> None:
        """Note the value of an assumption."""
        self.values[name] = value

    def note(self, text: str) -> None:
        """Note something for the reader that no assumption has a place for."""
        if text not in self.notes:
            self.notes.append(text)

    def success(self, spec: CallSpec, answer: Answer) -> None:
        """Note the status of a success, where an assumption decides it and replays have no other."""
        if isinstance(spec.success, str) and spec.replayed is None:
            self.see(spec.success, answer.status)

    def problem(self, answer: Answer) -> None:
        """Note the status that a code comes with."""
        code = answer.code
        if code is not None and code in PROBLEMS and answer.status not in (405, 413, 415):
            self._statuses.setdefault(code, set()).add(answer.status)

    def word(self, field: str, value: Any) -> None:
        """Note a field's value, if a report lists its words."""
        if field in _OPEN_SETS and isinstance(value, str):
            self.words.setdefault(_OPEN_SETS[field], set()).add(value)

    def empty(self, is_null: bool, name: str) -> None:
        """Note how an optional field without a value is written."""
        if name != "next_cursor":
            self._empty.add("null" if is_null else "absent")

    def timestamp(self, text: str) -> None:
        """Note how a timestamp is spelled."""
        forms = (name for name, form in _FORMS.items() if form.fullmatch(text))
        self._forms.add(next(forms, "other"))

    def token(self, token: str) -> None:
        """Note the audience that an access JWT was issued for."""
        try:
            part = token.split(".")[1]
            audience = json.loads(urlsafe_b64decode(part + "=" * (-len(part) % 4))).get("aud")
        except (IndexError, ValueError, AttributeError):
            return
        if isinstance(audience, str):
            self.see("token_audience", audience)

    def zone(self, origin: str) -> None:
        """Note the zone of a dev origin. This emulator's worlds put their own name before it."""
        zone = origin.removeprefix("https://").partition(":")[0].partition(".")[2]
        self.see("dev_zone", zone.removeprefix(f"{self._world}.") if self._world else zone)

    # --- At the end --------------------------------------------------------------------------

    def settled(self) -> dict[str, Any]:
        """Return every assumption that was observed, as a scenario would write it.

        One that no assumption can express is left out, with a note.
        """
        found = dict(self.values)
        if self._empty:
            found["empty_fields"] = "null" if "null" in self._empty else "absent"
        if "other" in self._forms or len(self._forms) > 1:
            self.note("timestamps are spelled in more than one way, or in one we do not write")
        elif self._forms:
            found["timestamp_form"] = next(iter(self._forms))
        found["problem_statuses"] = self._other_statuses()
        return {name: found[name] for name in DEFAULTS.__struct_fields__ if self._fits(name, found)}

    def _other_statuses(self) -> dict[str, int]:
        return {
            code: min(statuses)
            for code, statuses in sorted(self._statuses.items())
            if PROBLEMS[code].status not in statuses and "status" not in PROBLEMS[code].specified
        }

    def _fits(self, name: str, found: dict[str, Any]) -> bool:
        if name not in found:
            return False
        try:
            Assumptions().changed({name: found[name]})
        except ValueError:
            self.note(f"{name} is {found[name]!r}, which no assumption can express")
            return False
        return True
