"""The conduct judges. Each judge observes clients and reports where they break one or more rules."""

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

#: All judges, in the order in which they observe an exchange.
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
