"""Variation over the control API: set, shown and removed, and worlds that begin with one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from tests.support.http_world import HttpWorld
from tests.support.stories import schema_check

INLINE = json.dumps(
    {
        "name": "varied",
        "description": "Varied.",
        "vary": {"seed": 3, "only": ["accepted-status"]},
        "story": [{"call": "apply_project_domains", "user": "owner", "expect": {"status": 202}}],
    }
)


@pytest.fixture
def control(hosting_emulator: HostingEmulator) -> ControlClient:
    return hosting_emulator.control


def created(control: ControlClient, **options: Any) -> Any:
    """Make a world, delete it and return its summary."""
    world = control.create_world(**options)
    control.world(world.name).delete()
    return world


def test_a_world_varies_until_unvary(api: HttpWorld):
    emulator = api.emulator
    usual = api.dns().body

    variation = emulator.vary(7, only="key-order")

    bodies = {api.dns().body for _ in range(3)}
    assert (variation.seed, variation.only, variation.varied) == ("7", ["key-order"], {})
    assert len(bodies) == 1
    assert usual not in bodies
    assert all(json.loads(body) == json.loads(usual) for body in bodies)
    assert emulator.variation == replace(variation, varied={"key-order": 3})
    assert len(_varied(emulator)) == 3

    emulator.unvary()

    assert emulator.variation is None
    assert api.dns().body == usual


def _varied(emulator: HostingEmulator) -> list[Any]:
    exchanges = emulator.requests.page().items
    return [exchange for exchange in exchanges if exchange.varied == ["key-order"]]


def test_the_log_names_the_variation_of_each_response(api: HttpWorld):
    api.emulator.vary(7, only=["request-id-on-success"])
    response = api.dns()
    while "X-Request-Id" not in response.headers:
        response = api.dns()

    exchange = api.emulator.requests.page(limit=1).items[0]

    assert response.status == 200
    assert exchange.varied == ["request-id-on-success"]
    points = {row["id"]: row for row in api.emulator.control.contract("variation-points")}
    about = points["request-id-on-success"]["about"]
    assert exchange.trail is not None
    assert exchange.trail[-1].step == "variation"
    assert exchange.trail[-1].text == f"request-id-on-success: {about}."


def test_the_points_of_variation_are_listed(control: ControlClient):
    rows = control.get("contract/variation-points")["items"]

    only = schema_check().schema["$defs"]["VaryPart"]["properties"]["only"]
    assert [row["id"] for row in rows] == only["anyOf"][0]["items"]["enum"]
    assert all(row["about"] and row["sentence"] for row in rows)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"seed": "7", "only": ["page-sizes"]}, r"page-size\?"),
        ({"seed": "7", "only": []}, "only"),
        ({"seed": ""}, "seed"),
        ({}, "seed"),
        ({"seed": 7}, "seed"),
    ],
)
def test_an_impossible_variation_is_refused_and_changes_nothing(
    api: HttpWorld, body: Any, why: str
):
    control = api.emulator.control
    world = api.emulator.name
    with pytest.raises(ControlRefused, match=why) as refused:
        control.put(f"worlds/{world}/variation", body)

    assert refused.value.status == 400
    assert control.get(f"worlds/{world}/variation") is None


def test_a_world_can_begin_with_a_variation(control: ControlClient):
    world = created(control, vary="7", vary_only=["accepted-status", "page-size"])

    assert world.variation.seed == "7"
    assert world.variation.only == ["accepted-status", "page-size"]
    assert created(control).variation is None


def test_a_variation_does_not_change_assumptions_that_were_set(control: ControlClient):
    statuses = {
        created(control, vary=str(seed), assumptions={"accepted_status": 202}).assumptions.get(
            "accepted_status"
        )
        for seed in range(6)
    }

    assert statuses == {None}


def test_points_without_a_seed_are_refused(control: ControlClient):
    with pytest.raises(ControlRefused, match="only requires vary"):
        created(control, vary_only=["page-size"])


def test_a_scenario_can_set_the_variation(control: ControlClient):
    from_scenario = created(control, scenario={"text": INLINE})
    overridden = created(control, scenario={"text": INLINE}, vary="9")

    assert (from_scenario.variation.seed, from_scenario.variation.only) == (
        "3",
        ["accepted-status"],
    )
    assert (overridden.variation.seed, overridden.variation.only) == ("9", None)


def test_a_story_that_depends_on_a_default_fails_under_a_variation_and_reports_the_seed(
    control: ControlClient,
):

    report = control.run_scenario(text=INLINE)

    assert not report.passed
    assert report.variation is not None
    assert report.variation.seed == "3"
    assert report.variation.varied == {"accepted-status": 1}


@pytest.mark.parametrize(
    ("vary", "where", "why"),
    [
        ({"seed": 1, "only": ["page-sizes"]}, "did you mean page-size", "only"),
        ({"seed": ""}, "1 to 200 printable", "seed"),
        ({"seed": 1, "onyl": []}, "unknown field 'onyl'; did you mean only", "onyl"),
        ({"only": ["page-size"]}, "'seed' is missing", "vary"),
    ],
)
def test_an_invalid_vary_in_a_scenario_is_refused_with_line_and_column(
    control: ControlClient, vary: Any, where: str, why: str
):
    text = json.dumps({"name": "x", "description": "x", "vary": vary})

    with pytest.raises(ControlRefused, match=where) as refused:
        created(control, scenario={"text": text})

    line, column = str(refused.value).split("scenario.yaml:")[1].split(":")[:2]
    assert line == "1"
    assert abs(text.index(f'"{why}"') - int(column)) < 40


def test_a_variation_survives_a_reset_and_a_fork(api: HttpWorld):
    emulator = api.emulator
    variation = emulator.vary(7)
    emulator.reset()

    assert emulator.variation == variation
    with emulator.fork() as copy:
        assert copy.variation == variation


def test_the_report_shows_how_to_repeat_the_variation(api: HttpWorld):
    api.emulator.vary("a b", only=["key-order", "extra-headers"])
    api.dns()

    text = api.emulator.report()

    assert "varied   by seed a b, confined to key-order, extra-headers: " in text
    assert (
        "again    --vary 'a b' --vary-only key-order --vary-only extra-headers (start, exec, scenario run)"
        in text
    )
    assert "--hosting-emulator-vary='a b' --hosting-emulator-vary-only=key-order,ex" in text


def test_the_openapi_document_of_a_varied_world_requires_fewer_fields(api: HttpWorld):
    def required() -> list[str]:
        document = api.emulator.openapi()
        fields: list[str] = document["components"]["schemas"]["Deployment"]["required"]
        return fields

    usual = required()
    api.emulator.vary(7, only="absent-fields")

    assert required() == ["id"] != usual
