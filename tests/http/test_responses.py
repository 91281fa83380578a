"""Responses to clients that have disconnected, and headers that would break a response."""

from __future__ import annotations

import asyncio
import gzip
import json as json_module
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp.test_utils import make_mocked_request

from hosting_emulator.http import request_body, responses
from hosting_emulator.http.ready_responses import FaultyResponse, ReadyResponse
from hosting_emulator.http.responses import html, json, json_list
from hosting_emulator.http.time_slices import LongJob

PATIENCE_S = 30
GONE: Any = SimpleNamespace(transport=None)


def reply(*headers: tuple[str, str]) -> Any:
    return SimpleNamespace(status=200, content_type="", body=b"", headers=headers)


@pytest.mark.parametrize("value", ["a\rb", "a\nb", "a\r\nX-Other: b"])
async def test_a_header_with_a_line_break_is_not_sent(value: str):
    response = ReadyResponse(reply(("X-Name", value)), 0)

    with pytest.raises(ValueError, match="the X-Name header contains a line break"):
        await response.prepare(make_mocked_request("GET", "/"))


async def test_no_fault_acts_on_a_client_that_has_disconnected():
    def act(*_: object) -> None:
        raise AssertionError("the fault acted")

    effect: Any = SimpleNamespace(send=act, delivers_response=False)
    response = FaultyResponse(reply(), 0, effect, act)  # type: ignore[arg-type]
    response._request = GONE

    await response.write_eof()
    response.reset()


async def test_a_list_is_not_encoded_for_a_client_that_has_disconnected():
    items = iter([1, 2, 3])

    with pytest.raises(ConnectionResetError):
        await json_list(GONE, {"items": []}, "items", items)

    assert list(items) == [2, 3]


async def test_other_jobs_run_while_a_client_reads_a_long_list_slowly(
    monkeypatch: pytest.MonkeyPatch,
):
    """The client reads nothing before another job has run."""
    pieces: list[bytes] = []

    class SlowReader:
        async def prepare(self, _: object) -> None:
            """Send no head."""

        async def write(self, piece: bytes) -> None:
            async with LongJob():
                pieces.append(piece)

        async def write_eof(self, piece: bytes = b"") -> None:
            pieces.append(piece)

    monkeypatch.setattr(responses, "stream", lambda *_, **__: SlowReader())
    items = ["x" * 40_000] * 3
    request: Any = SimpleNamespace(transport=object())

    await asyncio.wait_for(json_list(request, {"items": []}, "items", items), PATIENCE_S)

    assert json_module.loads(b"".join(pieces)) == {"items": items}


@pytest.mark.parametrize("coding", ["br", "zstd", "compress", "gzip, gzip", "br,x-private"])
def test_a_body_in_a_coding_that_cannot_be_decoded_is_refused(coding: str):
    with pytest.raises(ValueError, match=coding):
        request_body._unpack(b"body", coding, 100)


def test_x_gzip_is_another_name_for_gzip():
    assert request_body._unpack(gzip.compress(b"body"), "x-gzip", 100) == b"body"


def test_a_body_in_an_unknown_coding_is_taken_as_it_is():
    assert request_body._unpack(b"body", "x-private", 100) == b"body"


def test_a_path_that_is_not_valid_unicode_can_be_in_a_response():
    path = "/lat\udce9in"

    assert json({"path": path}).body == b'{"path":"/lat\\udce9in"}'
    assert html(path, "").body == b"/lat?in"
