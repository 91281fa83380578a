"""A mistake in the emulator itself: the client gets a response, and the log contains the reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest
from aiohttp.test_utils import TestClient

from hosting_emulator.control import dispatch
from tests.support.emulator_in_loop import EmulatorServer


async def test_an_endpoint_that_crashes_gets_a_problem_and_a_traceback_in_the_log(
    aiohttp_client: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    client: TestClient[Any, Any] = await aiohttp_client(EmulatorServer())

    async def crash(*_: object) -> NoReturn:
        raise ZeroDivisionError("division by zero")

    with monkeypatch.context() as crashing:
        crashing.setattr(dispatch, "handle", crash)
        response = await client.get("/_emulator/info")
        problem = await response.json()

    assert (response.status, problem["code"]) == (503, "service_unavailable")
    assert problem["detail"] == "The service could not create a response."
    assert response.headers["Connection"] == "close"
    errors = [record for record in caplog.records if record.levelname == "ERROR"]
    assert errors[0].getMessage() == "a response could not be created"
    assert errors[0].exc_info is not None
    assert errors[0].exc_info[0] is ZeroDivisionError
    assert (await client.get("/_emulator/info")).status == 200
