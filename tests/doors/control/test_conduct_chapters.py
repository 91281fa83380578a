"""The verdict about a world survives a reset, and malformed requests break no judge."""

from __future__ import annotations

import random
import string
from typing import Any

import pytest
from msgspec import to_builtins

from hosting_emulator.sdk import HostingEmulator
from tests.support.http_world import HttpWorld

MISSING = "missing-idempotency-key"


@pytest.fixture
def api(hosting_emulator: HostingEmulator) -> HttpWorld:
    return HttpWorld(hosting_emulator)


def report(api: HttpWorld) -> dict[str, Any]:
    document: dict[str, Any] = to_builtins(api.emulator.conduct.read(final=True))
    return document


def broken(api: HttpWorld) -> list[str]:
    return [finding["rule"] for finding in report(api)["findings"]]


def test_a_reset_after_the_first_check_keeps_the_verdict(api: HttpWorld) -> None:
    assert broken(api) == []
    api.apply_domains(key=None)
    api.emulator.reset()
    api.dns()

    conduct = report(api)

    assert [finding["rule"] for finding in conduct["findings"]] == [MISSING]
    assert "reset" in conduct["findings"][0]["chapter"]
    assert (conduct["judged"], conduct["complete"]) == (2, True)


def test_a_reset_before_the_first_check_keeps_the_verdict(api: HttpWorld) -> None:
    api.apply_domains(key=None)
    api.emulator.reset()
    api.dns()

    assert broken(api) == [MISSING]


def test_requests_that_were_not_judged_make_the_report_incomplete(api: HttpWorld) -> None:
    api.apply_domains(key=None)
    for _ in range(1100):
        api.dns()

    conduct = report(api)

    assert not conduct["complete"]
    assert conduct["unseen"] == 101
    assert conduct["remarks"]


def test_a_cleared_verdict_begins_with_the_next_request(api: HttpWorld) -> None:
    api.apply_domains(key=None)
    api.emulator.control.delete(api.emulator.control_path("conduct"))
    api.dns()

    conduct = report(api)

    assert (conduct["findings"], conduct["judged"], conduct["complete"]) == ([], 1, True)


def broken_bodies(drawn: random.Random) -> list[bytes]:
    """Return bodies that are not JSON, not UTF-8, or not what a call expects."""
    bodies = [
        '{"name":"José"}'.encode("latin-1"),
        '{"name":"x"}'.encode("utf-16"),
        b'{"enabled":' + b"[" * 2000,
        b'{"enabled": 1e999999}',
        b'{"enabled": "\\ud800"}',
        b"\xff\xfe\x00",
        b"null",
        b"[]",
        b'{"a":1,"a":2}',
        b'{"":{"":[{}]}}',
    ]
    return bodies + [drawn.randbytes(drawn.randrange(1, 60)) for _ in range(30)]


def test_no_broken_request_breaks_a_judge(api: HttpWorld) -> None:
    drawn = random.Random("broken requests")
    project = api.emulator.projects["shop"]
    calls = [
        ("PUT", f"/v1/projects/{project}/powered-by-flag"),
        ("PUT", f"/v1/projects/{project}/domains"),
        ("GET", f"/v1/projects/{project}/deployments"),
        ("POST", f"/v1/organizations/{api.emulator.organizations['acme']}/user-api-keys"),
        ("GET", "/v1/%ff%fe/%00"),
    ]
    for body in broken_bodies(drawn):
        for method, path in calls:
            value = "".join(drawn.choices(string.printable.strip() + "\xe9\xff", k=20))
            query = drawn.choice(["", "?limit=%ff", "?cursor=%00&cursor", "?=&&=", "?ticket=é"])
            headers = {
                "Idempotency-Key": drawn.choice([value, "", "k" * 200]),
                "Authorization": drawn.choice(
                    [f"Bearer {api.emulator.token()}", value, "Basic =="]
                ),
                "Referer": value,
                "Content-Type": drawn.choice(["application/json", "application/json;charset=x"]),
            }
            path_and_query = path + query.encode("ascii", "ignore").decode()
            response = api.call(method, path_and_query, user=None, raw=body, headers=headers)
            assert 200 <= response.status < 500

    conduct = report(api)

    assert conduct["errors"] == []
    assert conduct["judged"] > 100
    assert conduct["complete"]
