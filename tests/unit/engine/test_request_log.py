"""The request log: the last exchanges with their reasons, and no secrets."""

import json

from hosting_emulator.engine.request_log import CAPACITY
from tests.in_process import InProcess


def test_says_who_asked_what_and_why_it_was_answered_so():
    api = InProcess()
    api.set_flag(True, who="reader")

    (entry,) = api.engine.log.view(1)

    assert (entry["n"], entry["method"], entry["status"]) == (1, "PUT", 403)
    assert (entry["call"], entry["code"]) == ("set_project_powered_by_flag", "forbidden")
    assert entry["principal"] == api.world.indexes["person:reader"]
    assert entry["why"] == ["the call needs the role owner, the caller has reader"]


def test_tells_what_the_caller_may_not_know():
    api = InProcess()
    answer = api.dns(who="outsider")

    (entry,) = api.engine.log.view(1)

    assert "outside the caller's scope" in entry["why"][0]
    assert "outside the caller's scope" not in answer.json["detail"]


def test_names_a_replay():
    api = InProcess()
    for _ in range(2):
        api.set_flag(True, key="again")

    assert "replay" in api.engine.log.view(1)[0]["why"][0]


def test_is_a_ring_newest_first():
    api = InProcess()
    for _ in range(CAPACITY + 10):
        api.send("GET", "/nowhere")

    entries = api.engine.log.view(10_000)

    assert [entry["n"] for entry in entries] == list(range(CAPACITY + 10, 10, -1))
    assert [entry["n"] for entry in api.engine.log.view(2)] == [CAPACITY + 10, CAPACITY + 9]


def test_holds_no_secrets():
    api = InProcess()
    key = api.create_key().json["value"]
    ticket = api.ticket().json["redeem_url"].rpartition("=")[2]
    api.dns(token=key)
    api.dns(token=key[:-1])
    api.set_flag(True, key="the-idempotency-key")

    text = json.dumps(api.engine.log.view(100))

    for secret in (key, key[:-1], ticket, api.token("owner"), "the-idempotency-key"):
        assert secret not in text


def test_writes_any_path_as_json():
    api = InProcess()

    api.send("GET", "/v1/\udce9\x00")

    json.dumps(api.engine.log.view(1)[0]).encode()
