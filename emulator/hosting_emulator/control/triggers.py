"""The endpoint that lists a world's triggers: its faults, outcomes and timeline entries."""

from __future__ import annotations

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.triggers import triggers_of
from hosting_emulator.messages import Trigger


def list_triggers(engine: Engine) -> list[Trigger]:
    """List a world's faults, outcomes and timeline entries, with their conditions and counts."""
    engine.run_due()
    engine.protect()
    return triggers_of(engine)
