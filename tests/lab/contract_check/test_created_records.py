"""The report lists what the check created or changed on the server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.created_records import CreatedRecords
from hosting_emulator_lab.contract_check.response import ServerResponse

_KEYS_WERE_CREATED = "user API keys were created, valid for 90 days"


def response(document: Any, status: int = 201) -> ServerResponse:
    body = json.dumps(document).encode()
    return ServerResponse("POST", status, body=body, call_id="create_user_api_key")


@pytest.mark.parametrize(
    ("documents", "line"),
    [
        ([{"id": "a"}, {"id": "b"}, {"id": "a"}], f"{_KEYS_WERE_CREATED}: a, b"),
        ([{"ticket_id": "t"}], f"{_KEYS_WERE_CREATED}: t"),
        ([{"id": 7}], f"{_KEYS_WERE_CREATED}: 7"),
        ([{"key": {"id": "a", "name": "n"}, "id": "b"}], f"{_KEYS_WERE_CREATED}: n (a)"),
        ([{"key": {"name": "n"}, "id": "b"}], f"{_KEYS_WERE_CREATED}: n (b)"),
        ([{"key": {"id": "a"}}], f"{_KEYS_WERE_CREATED}: a"),
        ([{"key": {"name": "n"}}], _KEYS_WERE_CREATED),
        ([{}, {"id": None}, {"id": ""}, []], _KEYS_WERE_CREATED),
    ],
)
def test_a_record_is_listed_by_its_name_and_id(documents: list[Any], line: str) -> None:
    created = CreatedRecords()

    for document in documents:
        created.add(response(document), None)

    assert created.lines() == [line]


def test_the_ids_of_a_call_are_those_that_it_created() -> None:
    created = CreatedRecords()
    created.add(response({"id": "a"}), "k")
    created.add(response({"id": "b"}, status=400), "l")
    created.add(response({"id": "c"}, status=302), "m")

    assert created.ids_of("create_user_api_key") == ["a"]
    assert created.ids_of("create_dev_access_ticket") == []
    assert created.lines() == [f"{_KEYS_WERE_CREATED}: a"]


def test_a_lost_response_that_a_retry_with_the_same_key_recovers_is_not_listed() -> None:
    created = CreatedRecords()
    for key in ("a", "b"):
        created.add(ServerResponse(f"POST {key}", call_id="create_user_api_key"), key)

    created.add(ServerResponse("POST", 201, call_id="create_user_api_key"), "a")

    assert [line.partition("; ")[2] for line in created.lines()] == [
        "",
        "the response to POST b was lost",
    ]


@pytest.mark.parametrize("status", [502, 504, 500])
def test_a_change_is_listed_as_possible_after_a_proxy_reports_an_error(status: int) -> None:
    created = CreatedRecords()
    page = ServerResponse(
        "POST a", status, body=b"<h1>Bad Gateway</h1>", call_id="create_user_api_key"
    )
    created.add(page, "a")
    created.add(response({"code": "internal_error"}, status=500), "b")

    [line] = created.lines()

    assert line == (
        f"possibly: {_KEYS_WERE_CREATED}; the response to POST a was {status} without a problem code"
    )
    created.add(response({"id": "k"}), "a")
    assert created.lines() == [f"{_KEYS_WERE_CREATED}: k"]


def test_a_lost_response_does_not_matter_after_the_change_was_undone() -> None:
    created = CreatedRecords()
    created.add(ServerResponse("PUT", call_id="set_project_powered_by_flag"), "a")
    created.add(ServerResponse("PUT", 200, call_id="set_project_powered_by_flag"), "b")

    created.mark_undone("set_project_powered_by_flag")

    assert created.lines() == ["the project's flag was switched, and switched back"]
