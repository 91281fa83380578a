"""Observations over the control API include every world and every request, also of deleted worlds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator, WorldsObservation
from tests.support.http_world import HttpWorld

MISSING = "missing-idempotency-key"


@pytest.fixture
def observation(api: HttpWorld) -> Iterator[WorldsObservation]:
    with api.emulator.control.observe([api.emulator.name]) as observation:
        yield observation


def rules(observation: WorldsObservation) -> list[tuple[str, list[str]]]:
    """Return the broken rules of each chapter that has any, and the cause of the chapter's end."""
    chapters = observation.report(final=True).chapters
    broken = [
        (chapter.ended, [finding.rule for finding in chapter.conduct.findings])
        for chapter in chapters
    ]
    return [(str(ended), broken_rules) for ended, broken_rules in broken if broken_rules]


def another_world(control: ControlClient, observation: WorldsObservation) -> HttpWorld:
    summary = control.create_world(clock={"mode": "frozen"}, observation=observation.id)
    return HttpWorld(HostingEmulator(control, summary.name))


def test_a_deleted_world_is_part_of_the_verdict(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    other_world = another_world(api.emulator.control, observation)
    other_world.apply_domains(key=None)
    other_world.emulator.control.delete(f"worlds/{other_world.emulator.name}")

    report = observation.report()

    assert report.requests == 1
    assert rules(observation) == [("deleted", [MISSING])]


def test_a_reset_world_is_part_of_the_verdict(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.apply_domains(key=None)
    api.emulator.reset()
    api.dns()

    assert rules(observation) == [("reset", [MISSING])]
    assert [chapter.requests for chapter in observation.report().chapters] == [1, 1]


def test_a_world_with_another_scenario_is_part_of_the_verdict(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.apply_domains(key=None)
    path = f"worlds/{api.emulator.name}/scenario"
    api.emulator.control.post(path, {"name": "provider-outage"})

    assert rules(observation) == [("loaded", [MISSING])]


def test_a_world_whose_state_was_replaced_is_part_of_the_verdict(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    state = api.emulator.export()
    api.apply_domains(key=None)
    api.emulator.import_state(state)

    assert rules(observation) == [("replaced", [MISSING])]


def test_a_copy_of_an_observed_world_is_observed(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    with api.emulator.fork() as fork:
        HttpWorld(fork).apply_domains(key=None)

    assert rules(observation) == [("deleted", [MISSING])]


def test_a_world_outside_the_scope_is_not_observed(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    with HostingEmulator.fresh(api.emulator.control.control_url) as other_world:
        HttpWorld(other_world).apply_domains(key=None)

    assert observation.report().requests == 0
    assert rules(observation) == []


def test_an_observation_without_names_observes_every_world(api: HttpWorld) -> None:
    control = api.emulator.control
    with control.observe() as observation:
        with HostingEmulator.fresh(control.control_url) as other_world:
            name = other_world.name
            HttpWorld(other_world).apply_domains(key=None)
        chapters = {chapter.world: chapter for chapter in observation.report().chapters}

    assert api.emulator.name in chapters
    findings = chapters[name].conduct.findings
    assert [finding.rule for finding in findings] == [MISSING]


def test_requests_before_the_observation_are_not_part_of_it(api: HttpWorld) -> None:
    api.apply_domains(key=None)

    with api.emulator.control.observe([api.emulator.name]) as observation:
        api.dns()

        assert observation.report().requests == 1
        assert rules(observation) == []


def test_the_first_mistake_counts_after_more_requests_than_the_log_holds(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.apply_domains(key=None)
    for _ in range(1200):
        api.dns()

    (chapter,) = observation.report(final=True).chapters

    assert chapter.requests == 1201
    assert chapter.conduct.judged == 1201
    assert rules(observation) == [("None", [MISSING])]


def test_the_state_of_a_deleted_world_can_be_exported(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    other_world = another_world(api.emulator.control, observation)
    other_world.set_flag(True)
    before = other_world.emulator.export(with_seed=True)
    other_world.emulator.control.delete(f"worlds/{other_world.emulator.name}")

    (index,) = [c.index for c in observation.report().chapters if c.ended == "deleted"]
    state = observation.state(index, seed=True)

    assert state["tables"] == before["tables"]


def test_the_requests_and_the_report_of_a_deleted_world_can_be_read(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    other_world = another_world(api.emulator.control, observation)
    other_world.set_flag(True)
    other_world.dns()
    other_world.emulator.control.delete(f"worlds/{other_world.emulator.name}")

    (index,) = [c.index for c in observation.report().chapters if c.ended == "deleted"]

    calls = [exchange.call for exchange in observation.requests(index)]
    assert calls == ["set_project_powered_by_flag", "get_dns_authorization"]
    report = observation.world_report(index)
    assert [item.call for item in report.requests.items] == calls
    assert report.requests.total == 2


def test_requests_are_numbered_by_arrival_unless_the_emulator_sent_them_itself(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.dns()
    api.compute()
    api.emulator.requests.resend(1)

    first, second, resent = observation.requests(0, limit=3)
    assert resent.arrival is None
    assert first.arrival is not None
    assert second.arrival is not None
    assert first.arrival < second.arrival


def test_rules_that_are_off_are_not_judged(api: HttpWorld) -> None:
    with api.emulator.control.observe([api.emulator.name], skip_rules=[MISSING]) as observation:
        api.apply_domains(key=None)

        assert rules(observation) == []


def test_a_closed_observation_is_gone(api: HttpWorld) -> None:
    observation = api.emulator.control.observe([api.emulator.name])
    observation.close()

    with pytest.raises(ControlRefused) as refused:
        observation.report()

    assert refused.value.status == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"worlds": ["no-such-world"]}, 404),
        ({"skip_rules": ["no-such-rule"]}, 400),
        ({"world": "default"}, 400),
    ],
)
def test_an_invalid_observation_is_refused(
    api: HttpWorld, body: dict[str, object], status: int
) -> None:
    with pytest.raises(ControlRefused) as refused:
        api.emulator.control.post("observations", body)

    assert refused.value.status == status


def test_a_chapter_that_is_not_there_is_refused(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    for index in ("99", "x"):
        with pytest.raises(ControlRefused) as refused:
            api.emulator.control.get(f"observations/{observation.id}/chapters/{index}/state")
        assert refused.value.status == 404


def test_a_body_that_is_not_utf_8_is_judged(api: HttpWorld, observation: WorldsObservation) -> None:
    project = api.emulator.projects["shop"]
    path = f"/v1/projects/{project}/powered-by-flag"

    response = api.call("PUT", path, key="key-1", raw='{"name":"José"}'.encode("latin-1"))

    assert response.status == 400
    report = observation.report(final=True)
    assert report.errors == []
    assert report.chapters[0].conduct.judged == 1


def test_an_observation_can_replace_another(api: HttpWorld, observation: WorldsObservation) -> None:
    api.apply_domains(key=None)

    with api.emulator.control.observe([api.emulator.name], replaces=observation) as following:
        api.dns()

        assert following.report().requests == 1
        assert rules(following) == []
    with pytest.raises(ControlRefused) as refused:
        observation.report()
    assert refused.value.status == 404
