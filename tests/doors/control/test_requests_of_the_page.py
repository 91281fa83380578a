"""Only the emulator itself can mark a request as its own; no request header can."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from hosting_emulator.sdk import HostingEmulator

MISSING_KEY = "missing-idempotency-key"


def apply_domains(world: HostingEmulator, headers: Mapping[str, str]) -> None:
    """Apply domains without an Idempotency-Key."""
    url = world.url("/v1/projects/{project}/domains")
    request = Request(url, method="PUT", headers={**world.headers("owner"), **headers})
    with pytest.raises(HTTPError) as refused:
        urlopen(request)
    refused.value.close()


@pytest.mark.parametrize("value", ["page", "replay", "docs", "", "naïve"])
@pytest.mark.parametrize("header", ["X-Emulator-Own", "X-Emulator-Page"])
def test_no_header_switches_the_rules_of_conduct_off(
    hosting_emulator: HostingEmulator, header: str, value: str
):
    apply_domains(hosting_emulator, {header: value})

    report = hosting_emulator.conduct.report()
    assert MISSING_KEY in report


def test_a_request_of_the_page_is_not_judged_and_its_secret_is_not_logged(
    hosting_emulator: HostingEmulator,
):
    secret = hosting_emulator.control.get("page-secret")

    apply_domains(hosting_emulator, {secret["header"]: secret["value"]})

    report = hosting_emulator.control.get(f"worlds/{hosting_emulator.name}/conduct")
    assert (report["judged"], report["findings"]) == (0, [])
    assert report["remarks"] == ["Not checked: 1 request from the emulator's own pages and tools."]
    (n,) = [exchange.n for exchange in hosting_emulator.requests.page().items]
    assert secret["value"] not in str(hosting_emulator.requests.whole(n))


def test_a_replayed_request_of_the_page_is_not_judged(hosting_emulator: HostingEmulator):
    secret = hosting_emulator.control.get("page-secret")
    apply_domains(hosting_emulator, {secret["header"]: secret["value"]})
    (n,) = [exchange.n for exchange in hosting_emulator.requests.page().items]

    hosting_emulator.control.post(
        f"worlds/{hosting_emulator.name}/requests/{n}/resend", {"same_key": True}
    )

    assert hosting_emulator.conduct.findings() == []
