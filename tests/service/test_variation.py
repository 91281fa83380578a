"""Variation over the control API: set, shown and taken away, and worlds that begin with it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from tests.support.http_world import HttpWorld
from tests.support.stories import schema_check

INLINE = json.dumps(
    {
        "name": "varied",
        "description": "Varied.",
        "vary": {"seed": 2, "only": ["accepted-status"]},
        "story": [{"call": "apply_project_domains", "as": "owner", "expect": {"status": 202}}],
    }
)


@pytest.fixture
def control(hosting_emulator: HostingEmulator) -> ControlClient:
    return hosting_emulator.control


def created(control: ControlClient, **options: Any) -> Any:
    """Make a world, delete it and return its summary."""
    made = control.create_world(**options)
    control.world(made["name"]).delete()
    return made


def test_a_world_varies_from_now_on_and_no_longer(api: HttpWorld):
    emulator = api.emulator
    usual = api.dns().body

    told = emulator.vary(7, only="key-order")

    bodies = {api.dns().body for _ in range(12)}
    assert (told["seed"], told["only"], told["varied"]) == ("7", ["key-order"], {})
    assert len(bodies) > 1
    assert all(json.loads(body) == json.loads(usual) for body in bodies)
    assert emulator.variation == {**told, "varied": {"key-order": len(_varied(emulator))}}
    assert 0 < len(_varied(emulator)) < 12

    emulator.unvary()

    assert emulator.variation is None
    assert api.dns().body == usual


def _varied(emulator: HostingEmulator) -> list[Any]:
    exchanges = emulator.requests.page()["items"]
    return [exchange for exchange in exchanges if exchange["varied"] == ["key-order"]]


def test_the_log_says_of_each_answer_what_was_varied(api: HttpWorld):
    api.emulator.vary(7, only=["request-id-on-success"])
    while "X-Request-Id" not in (answer := api.dns()).headers:
        pass

    exchange = api.emulator.requests.page(limit=1)["items"][0]

    assert answer.status == 200
    assert exchange["varied"] == ["request-id-on-success"]
    points = {row["id"]: row for row in api.emulator.control.contract("variation-points")}
    about = points["request-id-on-success"]["about"]
    assert exchange["trail"][-1] == {
        "step": "variation",
        "says": f"request-id-on-success: {about}.",
    }


def test_points_are_listed(control: ControlClient):
    rows = control.get("contract/variation-points")["items"]

    only = schema_check().schema["$defs"]["VaryPart"]["properties"]["only"]
    assert [row["id"] for row in rows] == only["anyOf"][0]["items"]["enum"]
    assert all(row["about"] and row["sentence"] for row in rows)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ({"seed": "7", "only": ["page-sizes"]}, "did you mean page-size"),
        ({"seed": "7", "only": []}, "at least one point"),
        ({"seed": ""}, "1 to 200 printable"),
        ({}, "seed"),
        ({"seed": 7}, "seed: it must be text"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(api: HttpWorld, body: Any, why: str):
    control, world = api.emulator.control, api.emulator.name
    with pytest.raises(ControlRefused, match=why) as refused:
        control.put(f"worlds/{world}/variation", body)

    assert refused.value.status == 400
    assert control.get(f"worlds/{world}/variation") is None


def test_a_world_can_begin_with_it(control: ControlClient):
    made = created(control, vary="7", only=["accepted-status", "page-size"])

    assert made["variation"]["seed"] == "7"
    assert made["variation"]["only"] == ["accepted-status", "page-size"]
    assert created(control)["variation"] is None


def test_assumptions_that_a_world_is_made_with_stay(control: ControlClient):
    statuses = {
        created(control, vary=str(seed), assumptions={"accepted_status": 202})["assumptions"].get(
            "accepted_status"
        )
        for seed in range(6)
    }

    assert statuses == {None}


def test_points_without_a_seed_are_refused(control: ControlClient):
    with pytest.raises(ControlRefused, match="only needs vary"):
        created(control, only=["page-size"])


def test_a_scenario_can_say_it(control: ControlClient):
    made = created(control, scenario={"text": INLINE})
    over = created(control, scenario={"text": INLINE}, vary="9")

    assert (made["variation"]["seed"], made["variation"]["only"]) == ("2", ["accepted-status"])
    assert (over["variation"]["seed"], over["variation"]["only"]) == ("9", None)


def test_a_story_that_depends_on_our_choice_fails_and_tells_the_seed(control: ControlClient):

    report = control.run_scenario(text=INLINE)

    assert not report["passed"]
    assert report["variation"] is not None
    assert report["variation"]["seed"] == "2"
    assert report["variation"]["varied"] == {"accepted-status": 1}


@pytest.mark.parametrize(
    ("vary", "where", "why"),
    [
        ({"seed": 1, "only": ["page-sizes"]}, "did you mean page-size", "only"),
        ({"seed": ""}, "1 to 200 printable", "seed"),
        ({"seed": 1, "onyl": []}, "unknown field 'onyl'; did you mean only", "onyl"),
        ({"only": ["page-size"]}, "'seed' is missing", "vary"),
    ],
)
def test_a_scenario_that_is_wrong_names_the_place(
    control: ControlClient, vary: Any, where: str, why: str
):
    text = json.dumps({"name": "x", "description": "x", "vary": vary})

    with pytest.raises(ControlRefused, match=where) as refused:
        created(control, scenario={"text": text})

    line, column = str(refused.value).split("scenario.yaml:")[1].split(":")[:2]
    assert line == "1"
    assert abs(text.index(f'"{why}"') - int(column)) < 40


def test_a_reset_keeps_it_and_a_fork_has_it(api: HttpWorld):
    emulator = api.emulator
    told = emulator.vary(7)
    emulator.reset()

    assert emulator.variation == told
    with emulator.fork() as copy:
        assert copy.variation == told


def test_the_report_says_how_to_have_it_again(api: HttpWorld):
    api.emulator.vary("a b", only=["key-order", "extra-headers"])
    api.dns()

    text = api.emulator.report()

    assert "varied   by seed a b, confined to key-order, extra-headers: " in text
    assert (
        "again    --vary 'a b' --only key-order --only extra-headers (start, exec, scenario run)"
        in text
    )
    assert "--hosting-emulator-vary='a b' --hosting-emulator-vary-only=key-order,ex" in text


def test_the_document_of_a_varied_world_requires_less(api: HttpWorld):
    def required() -> list[str]:
        document = api.emulator.openapi()
        found: list[str] = document["components"]["schemas"]["Deployment"]["required"]
        return found

    usual = required()
    api.emulator.vary(7, only="absent-fields")

    assert required() == ["id"] != usual
