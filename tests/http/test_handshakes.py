"""Faults at the TLS handshake act only if their counts can be stored."""

from __future__ import annotations

from typing import Any, NoReturn

import pytest

from hosting_emulator.http.handshakes import certificate_problem
from tests.support.in_process import InProcess


def test_a_fault_whose_count_cannot_be_stored_does_not_act(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    api = InProcess()
    worlds: Any = [api.engine]
    api.add_fault(bad_certificate={"reason": "expired"})
    assert certificate_problem(worlds, "localhost") == "expired"

    def fail(_: object) -> NoReturn:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(api.engine.keeper, "append", fail)

    assert certificate_problem(worlds, "localhost") is None
    [message] = caplog.messages
    assert message.startswith("a fault at the TLS handshake did not act: ")
    assert "No space left on device" in message
