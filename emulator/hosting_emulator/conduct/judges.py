"""The table of rules: who judges, in the order in which documents list them."""

from __future__ import annotations

from hosting_emulator.conduct.asking import (
    KeyNotListed,
    MadeUpCursor,
    SessionNeeded,
    UnreadField,
)
from hosting_emulator.conduct.following import Following, Paging
from hosting_emulator.conduct.leaking import Leaking
from hosting_emulator.conduct.polling import AfterEnd, TooEarly
from hosting_emulator.conduct.repeating import KeyReused, MissingKey, NewKey
from hosting_emulator.conduct.retrying import NotRetryable, RetryAfter
from hosting_emulator.conduct.rule import Judge, Rule
from hosting_emulator.conduct.tickets import Tickets

JUDGES: tuple[type[Judge], ...] = (
    *(MissingKey, NewKey, KeyReused, NotRetryable, RetryAfter, TooEarly, AfterEnd),
    *(Following, Paging, Tickets, SessionNeeded, Leaking, MadeUpCursor, KeyNotListed, UnreadField),
)
#: All rules by their ids, in order.
RULES: dict[str, Rule] = {rule.id: rule for judge in JUDGES for rule in judge.rules}
