"""The rate limit: a number of requests in a window of world time, for each principal."""

from __future__ import annotations

from tests.support.exported_worlds import export_document, import_document
from tests.support.in_process import InProcess, fresh_world


def limited(rate_limit: str) -> InProcess:
    return InProcess(fresh_world(rate_limit=rate_limit))


def retry_after_seconds(api: InProcess) -> int:
    """Send a request that the limit refuses, and return how long the client must wait."""
    response = api.dns()
    assert (response.status, response.json["code"]) == (429, "rate_limited")
    return int(response.json["retry_after_seconds"])


def test_a_refused_request_says_when_the_window_ends():
    api = limited("3/10s")
    assert [api.dns().status for _ in range(3)] == [200, 200, 200]

    assert retry_after_seconds(api) == 10
    api.engine.move_by(9_001)
    assert retry_after_seconds(api) == 1
    api.engine.move_by(998)
    assert retry_after_seconds(api) == 1

    api.engine.move_by(1)
    assert api.dns().status == 200


def test_a_client_that_waits_for_retry_after_is_not_refused_again():
    api = limited("3/10s")
    assert [api.dns().status for _ in range(3)] == [200, 200, 200]
    api.engine.move_by(1_234)

    api.engine.move_by(retry_after_seconds(api) * 1_000)

    assert api.dns().status == 200


def test_each_principal_has_its_own_limit():
    api = limited("3/10s")
    assert [api.dns().status for _ in range(4)] == [200, 200, 200, 429]

    assert api.dns(user="reader").status == 200


def test_a_rate_limit_that_is_off_refuses_nothing():
    api = limited("off")

    assert {api.dns().status for _ in range(1_000)} == {200}


def test_the_longest_wait_is_a_day():
    api = limited("1/24h")
    assert api.dns().status == 200

    assert retry_after_seconds(api) == 86_400


def test_an_imported_world_continues_the_counts_of_the_exported_one():
    """The counts are part of the state of the world, so they outlive a restart."""
    api = limited("2/10s")
    assert [api.dns().status for _ in range(3)] == [200, 200, 429]

    copy = InProcess(import_document(export_document(api.world)))

    assert copy.dns().status == 429


def test_a_rewind_restores_the_counts_of_that_moment():
    api = limited("2/10s")
    beginning = api.engine.history[-1].world
    assert [api.dns().status for _ in range(3)] == [200, 200, 429]

    api.engine.replace_world(beginning)

    assert api.dns().status == 200
