"""The metrics for Prometheus agree with the requests and commits."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families

from hosting_emulator import __version__
from tests.support.http_world import HttpWorld

Read = Callable[..., float]


@pytest.fixture
def read(api: HttpWorld) -> Read:
    """Return the value of a sample, or 0 if it does not exist."""
    url = f"{api.emulator.control.control_url}/metrics"

    def value_of(name: str, **labels: str) -> float:
        with urllib.request.urlopen(url) as response:
            text = response.read().decode()
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                if (
                    sample.name == f"hosting_emulator_{name}"
                    and labels.items() <= sample.labels.items()
                ):
                    return sample.value
        return 0

    return value_of


def test_requests_are_counted_by_call_and_status(api: HttpWorld, read: Read):
    refused = {"call": "list_deployments", "status": "404"}
    before = read("requests_total", **refused)
    times = read("request_duration_seconds_count", call="list_deployments")

    api.deployments(user="outsider")
    api.deployments(user="outsider")
    api.deployments()

    assert read("requests_total", **refused) == before + 2
    assert read("request_duration_seconds_count", call="list_deployments") == times + 3
    long = read("request_duration_seconds_bucket", call="list_deployments", le="+Inf")
    assert long == times + 3


def test_commits_replays_and_lost_responses_are_counted(api: HttpWorld, read: Read):
    counted = {name: read(name) for name in ("commits_total", "replays_total")}
    lost = read("lost_responses_total", kind="connection_reset")

    for _ in range(2):
        api.set_flag(True, key="same")
    with api.emulator.fault("connection_reset", times=1), pytest.raises(OSError):  # noqa: PT011
        HttpWorld(api.emulator).dns()

    assert read("replays_total") == counted["replays_total"] + 1
    assert read("commits_total") > counted["commits_total"]
    assert read("lost_responses_total", kind="connection_reset") == lost + 1


def test_metrics_count_the_records_of_all_worlds(api: HttpWorld, read: Read):
    before = read("records", table="dev_access_tickets")
    api.ticket()
    assert read("records", table="dev_access_tickets") == before + 1
    assert read("worlds") >= 2
    assert read("uptime_seconds") >= 0


def test_metrics_contain_no_name_of_a_world_or_project(api: HttpWorld):
    api.dns()
    with urllib.request.urlopen(f"{api.emulator.control.control_url}/metrics") as response:
        text = response.read().decode()
        assert response.headers["Content-Type"].startswith("text/plain; version=")
    assert api.emulator.name not in text
    assert api.emulator.project not in text


def test_the_running_emulator_is_a_metric_with_its_version(read: Read):
    assert read("info", version=__version__) == 1


#: The type and the description of each metric, which a dashboard shows.
DESCRIPTIONS = {
    "hosting_emulator_info": ("gauge", "The running emulator."),
    "hosting_emulator_uptime_seconds": ("gauge", "Real time since the start."),
    "hosting_emulator_requests": (
        "counter",
        "Requests to the public API, by call (none: unknown call) and status (0: no response).",
    ),
    "hosting_emulator_request_duration_seconds": (
        "histogram",
        "Real time that a request spent in the engine.",
    ),
    "hosting_emulator_replays": ("counter", "Responses that were replays."),
    "hosting_emulator_lost_responses": (
        "counter",
        "Responses that did not arrive completely because of a fault, by kind of fault.",
    ),
    "hosting_emulator_commits": ("counter", "Accepted changes."),
    "hosting_emulator_worlds": ("gauge", "Number of worlds."),
    "hosting_emulator_records": ("gauge", "Records in all worlds, by table."),
    "hosting_emulator_pending_events": ("gauge", "Scheduled events."),
}


def test_each_metric_has_a_type_and_a_description(api: HttpWorld):
    api.call("GET", "/v1/nothing")
    with urllib.request.urlopen(f"{api.emulator.control.control_url}/metrics") as response:
        text = response.read().decode()
        assert response.headers["Cache-Control"] == "no-store"

    families = {family.name: family for family in text_string_to_metric_families(text)}

    assert DESCRIPTIONS.keys() <= families.keys()
    for name, description in DESCRIPTIONS.items():
        family = families[name]
        assert (family.type, family.documentation) == description
    requests = families["hosting_emulator_requests"].samples
    assert {"call": "none", "status": "404"} in [sample.labels for sample in requests]
    durations = families["hosting_emulator_request_duration_seconds"].samples
    assert "none" in {sample.labels["call"] for sample in durations}
