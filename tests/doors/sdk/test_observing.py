"""Observing a world over the control API: requests, pending operations, explanations and the report."""

import json

import pytest

from hosting_emulator.contract.call_table import CallTable
from hosting_emulator.sdk import ControlRefused, HostingEmulator
from tests.support.http_world import HttpWorld


def path(api: HttpWorld, rest: str) -> str:
    return f"worlds/{api.emulator.name}/{rest}"


def test_requests_are_listed_newest_first_with_how_many_there_were(api: HttpWorld):
    api.dns()
    api.set_flag(True, key="flag-1")

    page = api.emulator.control.get(path(api, "requests?limit=1"))

    assert page["total"] == 2
    assert [(item["n"], item["call"], item["idempotency_key"]) for item in page["items"]] == [
        (2, "set_project_powered_by_flag", "flag-1")
    ]


def test_a_request_is_shown_completely_without_its_secrets(api: HttpWorld):
    key = api.create_key("ci").json["value"]

    request = api.emulator.control.get(path(api, "requests/1"))

    assert json.loads(request["request"]["body"]) == {"name": "ci"}
    assert json.loads(request["response"]["body"])["value"] == "<redacted>"
    assert ["Authorization", "Bearer <redacted>"] in request["request"]["headers"]
    assert key not in json.dumps(request)


@pytest.mark.parametrize("n", ["2", "0", "x", "-1", "9" * 40])
def test_a_request_that_is_not_in_the_log_is_refused(api: HttpWorld, n: str):
    api.dns()
    with pytest.raises(ControlRefused, match="it contains the last 1 of 1 requests"):
        api.emulator.control.get(path(api, f"requests/{n}"))


@pytest.mark.parametrize("limit", ["0", "1001", "x", "", "000000001999", "1" + "0" * 5000])
def test_an_invalid_limit_is_refused(api: HttpWorld, limit: str):
    with pytest.raises(ControlRefused, match="a number from 1 to 1000"):
        api.emulator.control.get(path(api, f"requests?limit={limit}"))


def test_unfinished_operations_are_listed_oldest_first(api: HttpWorld):
    first = api.initialize().json["id"]
    second = api.apply_domains(project="blog").json["id"]
    control = api.emulator.control

    operations = control.get(path(api, "operations?unfinished=true"))["items"]

    assert [(item["id"], item["project"], item["state"]) for item in operations] == [
        (first, "shop", "queued"),
        (second, "blog", "queued"),
    ]
    api.emulator.clock.advance("1h")
    assert control.get(path(api, "operations?unfinished=true"))["items"] == []
    assert {first, second} <= {item["id"] for item in control.get(path(api, "operations"))["items"]}
    with pytest.raises(ControlRefused, match="unfinished"):
        control.get(path(api, "operations?unfinished=1"))


def test_why_names_the_command_that_advances_to_the_end_of_an_operation(api: HttpWorld):
    operation = api.initialize().json["id"]

    explanation = api.emulator.control.get(path(api, f"operations/{operation}/why"))

    command = (
        f"hosting-emulator clock advance --until-operation {operation} --world {api.emulator.name}"
    )
    [printed] = explanation["commands"]
    assert printed.startswith(f"{command} --url http://127.0.0.1:")
    with pytest.raises(ControlRefused, match="no operation and no project 'none'"):
        api.emulator.control.get(path(api, "operations/none/why"))


def test_the_report_tells_the_story_of_a_world(hosting_emulator: HostingEmulator):
    api = HttpWorld(hosting_emulator)  # A fault counts its hits, so even a read changes this world.
    api.dns(user="outsider")
    operation = api.initialize().json["id"]
    api.emulator.fault("abort", code="rate_limited", call="list_deployments")
    api.deployments()

    report = api.emulator.control.get(path(api, "report?requests=2"))

    assert report["world"] == api.emulator.name
    assert report["base_url"] == api.emulator.base_url
    assert report["scenario"] is None
    assert report["requests"]["total"] == 3
    assert [item["n"] for item in report["requests"]["items"]] == [2, 3]
    refused = report["requests"]["items"][1]
    assert refused["problem"]["code"] == "rate_limited"
    assert refused["why"][0].startswith("fault-1 (abort")
    assert [report["operation"] for report in report["operations"]] == [operation]
    assert [(fault["id"], fault["hits"]) for fault in report["faults"]] == [("fault-1", 1)]
    assert report["clock"]["mode"] == "frozen"


def test_the_report_of_a_scenarios_world_names_it(api: HttpWorld):
    api.emulator.load_scenario(name="stuck-operation")

    assert api.emulator.control.get(path(api, "report"))["scenario"] == "stuck-operation.yaml"


def test_the_calls_are_described_as_the_default_world_has_them(api: HttpWorld):
    calls = api.emulator.control.get("contract/calls")["items"]

    assert [call["call_id"] for call in calls] == [spec.call_id for spec in CallTable()]
    assert calls[-1]["path"] == "/v1/operations/{operation_id}"
