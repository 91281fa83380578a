"""Each message and each advice of an operation is a sentence, in every state of the operation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.checked_world import CheckedCalls

#: How an operation ends, and the reconciliation states on its way.
OUTCOMES: list[dict[str, Any]] = [
    {},
    {"fail": {}},
    {"fail": {"phase": "deploying"}},
    {"cancel": {}},
    {"stick": {"for": "5m"}},
    {"reconcile": {"then": "continue"}},
    {"reconcile": {"then": "exhaust"}},
]
SECONDS = 600


def texts_in(document: Any) -> Iterator[str]:
    """Yield all messages and advice in a response."""
    if isinstance(document, dict):
        for name, value in document.items():
            if name in ("message", "suggested_action"):
                yield value
            else:
                yield from texts_in(value)


@pytest.mark.parametrize("call", ["apply_domains", "initialize"])
@pytest.mark.parametrize("outcome", OUTCOMES, ids=str)
def test_each_text_of_an_operation_is_a_sentence(
    world: CheckedCalls, call: str, outcome: dict[str, Any]
) -> None:
    if outcome:
        world.add_outcome(**outcome)
    operation = getattr(world, call)().json
    texts: set[str] = set()

    for _ in range(SECONDS):
        texts |= set(texts_in(operation))
        if operation["state"] in ("succeeded", "failed", "cancelled"):
            break
        world.advance("1s")
        operation = world.poll(operation["id"]).json

    assert operation["state"] in ("succeeded", "failed", "cancelled")
    assert texts
    assert [text for text in texts if not re.fullmatch(r"[A-Z].*[.]", text)] == []
