"""Which exchanges of the request log are meant: all that is given must fit."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from hosting_emulator.engine.redacting import Redactor
from hosting_emulator.engine.request_log import NOBODY, Entry, project_of, unknown

#: Stands for "no call": a path that no call has.
NONE = "none"


@dataclass(frozen=True, slots=True)
class Wanted:
    """Filters; what is None lets everything through.

    `status` and `status_class` (4 for 4xx) are of the answer; `who` (or NOBODY: without a token that
    is known) and `project` are ids;
    `since_ms` and `until_ms` (not included) are world time; `text` is looked for in what the log
    shows, whatever its case; `after` leaves out the exchanges up to that number.
    """

    call: str | None = None
    status: int | None = None
    status_class: int | None = None
    who: str | None = None
    project: str | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    text: str | None = None
    after: int | None = None

    @property
    def everything(self) -> bool:
        """Tell whether nothing is left out."""
        return all(getattr(self, field.name) is None for field in dataclasses.fields(self))

    def fits(self, entry: Entry) -> bool:
        """Tell whether an exchange is one of those meant."""
        return (
            (self.after is None or entry.n > self.after)
            and (self.status is None or entry.status == self.status)
            and (self.status_class is None or entry.status // 100 == self.status_class)
            and (self.call is None or (entry.call or NONE) == self.call)
            and (self.who is None or _who(entry) == self.who)
            and (self.since_ms is None or entry.at_ms >= self.since_ms)
            and (self.until_ms is None or entry.at_ms < self.until_ms)
            and (self.project is None or project_of(entry) == self.project)
            and (self.text is None or _has(entry, self.text.lower()))
        )


def _who(entry: Entry) -> str | None:
    if entry.principal is None:
        return NOBODY if unknown(entry) else None
    return entry.principal.person_id


def _has(entry: Entry, text: str) -> bool:
    """Look for a text: first in what was kept, then, for it may stand in a secret, in what is shown."""
    plain = [entry.method, entry.path, entry.query, entry.call or "", entry.code or "", *entry.why]
    bodies = [body.decode("utf-8", "replace") for body in (entry.body, entry.answer)]
    redactor = Redactor(entry.world.assumptions.key_prefix)
    return any(
        text in found.lower() and text in redactor.text(found).lower() for found in plain + bodies
    )
