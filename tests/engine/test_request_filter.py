"""Filters of the request log: an entry must match all of them."""

import pytest

from hosting_emulator.contract.access import NOBODY
from hosting_emulator.engine.request_views import NO_CALL, RequestFilter
from tests.support.in_process import InProcess


@pytest.fixture(scope="module")
def api() -> InProcess:
    """A world after seven requests.

    They are: a read, a read outside the scope, a refused flag, an accepted operation, a poll a second
    later, an unknown path, and an unknown token.
    """
    api = InProcess()
    api.dns()
    api.dns(user="outsider")
    api.set_flag(True, user="reader", project="blog")
    operation = api.apply_domains(key="needle").json["id"]
    api.engine.move_by(1000)
    api.poll(operation)
    api.send("GET", "/nowhere?Needle=1")
    api.dns(token="x.y.z", project="docs")
    return api


def numbers(api: InProcess, chosen: RequestFilter) -> list[int]:
    return sorted(entry.n for entry in api.engine.log.newest(100) if chosen.matches(entry))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, [1, 2, 3, 4, 5, 6, 7]),
        ({"call": "get_dns_authorization"}, [1, 2, 7]),
        ({"call": NO_CALL}, [6]),
        ({"status": 403}, [3]),
        ({"status_class": 4}, [2, 3, 6, 7]),
        ({"status_class": 2}, [1, 4, 5]),
        ({"user": NOBODY}, [7]),
        ({"after": 4}, [5, 6, 7]),
        ({"text": "NEEDLE"}, [6]),
        ({"text": "get /v1/projects"}, [1, 2, 7]),
        ({"text": "nowhere?needle"}, [6]),
        ({"text": "enabled"}, [3]),
        ({"text": "apply_project_domains"}, [4]),
        ({"text": "unauthenticated"}, [7]),
        ({"text": "next_poll_after_seconds"}, [4, 5]),
        ({"text": "needs the owner role"}, [3]),
        ({"text": "nothing has this"}, []),
        ({"status_class": 4, "after": 2}, [3, 6, 7]),
    ],
)
def test_a_request_must_match_every_filter(api: InProcess, filters, expected: list[int]):
    assert numbers(api, RequestFilter(**filters)) == expected


def test_a_filter_names_a_user_by_id(api: InProcess):
    assert numbers(api, RequestFilter(user=str(api.world.indexes["user:reader"]))) == [3]


def test_a_filter_by_project_matches_its_paths_and_its_operations(api: InProcess):
    assert numbers(api, RequestFilter(project=api.project_id())) == [1, 2, 4, 5]
    assert numbers(api, RequestFilter(project=api.project_id("blog"))) == [3]


def test_a_filter_by_time_uses_world_time_and_excludes_the_end(api: InProcess):
    moment = api.engine.log.newest(1)[0].at_ms
    assert numbers(api, RequestFilter(since_ms=moment)) == [5, 6, 7]
    assert numbers(api, RequestFilter(before_ms=moment)) == [1, 2, 3, 4]


def test_a_filter_by_text_does_not_search_secrets():
    api = InProcess()
    key = api.create_key().json["value"]
    ticket = api.ticket().json["redeem_url"].rpartition("=")[2]

    assert numbers(api, RequestFilter(text=key)) == []
    assert numbers(api, RequestFilter(text=ticket)) == []
    assert numbers(api, RequestFilter(text=ticket[:6])) == []
