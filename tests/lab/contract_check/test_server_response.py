"""A response of any service, and its body as JSON."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.contract_check.response import ServerResponse, http_date, same_value


@pytest.mark.parametrize(
    ("status", "is_ok", "is_refused", "code", "text"),
    [
        (0, False, False, None, "it: it broke"),
        (199, False, False, None, "it: 199"),
        (200, True, False, None, "it: 200"),
        (299, True, False, None, "it: 299"),
        (300, False, False, None, "it: 300"),
        (399, False, False, None, "it: 399"),
        (400, False, True, "teapot", "it: 400 teapot"),
        (499, False, True, "teapot", "it: 499 teapot"),
        (500, False, False, "teapot", "it: 500 teapot"),
    ],
)
def test_the_status_says_whether_a_response_is_a_success_or_a_refusal(
    status: int, is_ok: bool, is_refused: bool, code: str | None, text: str
) -> None:
    observed = ServerResponse("it", status, body=b'{"code": "teapot"}', broken="it broke")

    assert (observed.ok, observed.refused, observed.code) == (is_ok, is_refused, code)
    assert str(observed) == text


def test_a_response_of_another_type_has_no_such_field() -> None:
    observed = ServerResponse("it", body=b'{"text": "a", "number": 1, "object": {"b": 2}}')

    assert observed["text"] == observed.text("text") == "a"
    assert observed["absent"] is observed.text("number") is None
    assert observed.part("object") == {"b": 2}
    assert observed.part("text") == observed.part("absent") == {}
    assert ServerResponse("it", body=b"[1]").fields == ServerResponse("it").fields == {}
    assert ServerResponse("it", body=b"[1]").document == [1]


def test_the_names_of_headers_and_media_types_ignore_case() -> None:
    headers = (("content-type", " Text/HTML ; charset=utf-8"), ("X-A", "1"), ("x-a", "2"))
    observed = ServerResponse("it", headers=headers)

    assert observed.media_type == "text/html"
    assert (observed.header("x-A"), observed.header("X-B")) == ("1", None)
    assert ServerResponse("it").media_type == ""


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("Thu, 01 Jan 1970 00:00:02 GMT", 2_000),
        ("2", None),
        ("Thu, 99 Jan 1970 00:00:00 GMT", None),
        ("", None),
    ],
)
def test_the_date_of_a_header_is_read_in_milliseconds(text: str, at_ms: int | None) -> None:
    assert http_date(text) == at_ms


def test_values_are_only_compared_if_both_exist() -> None:
    assert same_value(1, 1) is True
    assert same_value(1, 2) is False
    assert same_value(None, 2) is same_value(1, None) is same_value(None, None) is None
