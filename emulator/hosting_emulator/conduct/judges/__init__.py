"""The judges of conduct: each observes what clients do, and finds what its rules forbid."""

from __future__ import annotations

from hosting_emulator.conduct.judge import ConductJudge
from hosting_emulator.conduct.judges.continuity import UnfinishedLists, UnfinishedOperations
from hosting_emulator.conduct.judges.idempotency import (
    KeyChanged,
    KeyOutlivesIntent,
    KeyReused,
    KeyValues,
    SentTwice,
)
from hosting_emulator.conduct.judges.polling import AfterEnd, PolledTooEarly
from hosting_emulator.conduct.judges.request_content import Cursors, Redemptions, RequestParts
from hosting_emulator.conduct.judges.retries import NotRetryable, RetriedTooSoon
from hosting_emulator.conduct.judges.secrets import MisplacedSecrets, Tokens

#: Every judge. Each of them observes an exchange in this order.
JUDGES: tuple[type[ConductJudge], ...] = (
    KeyChanged,
    KeyReused,
    KeyOutlivesIntent,
    SentTwice,
    KeyValues,
    NotRetryable,
    RetriedTooSoon,
    PolledTooEarly,
    AfterEnd,
    UnfinishedOperations,
    UnfinishedLists,
    Redemptions,
    Tokens,
    MisplacedSecrets,
    Cursors,
    RequestParts,
)
