"""Opening, forking, restoring and closing worlds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hosting_emulator import variables
from hosting_emulator.sdk import (
    ControlClient,
    ControlRefused,
    EmulatorUnreachable,
    HostingEmulator,
    VariableWarning,
)
from hosting_emulator.sdk.addresses import read_address
from hosting_emulator.sdk.discovery import find_emulator
from tests.support.control_samples import new_world, world
from tests.support.fake_control import FakeControl, refusal
from tests.support.http_world import HttpWorld

LATER = {"clock": {"at": "2030-01-01T00:00:00Z", "mode": "frozen"}}


@pytest.fixture
def url(hosting_emulator: HostingEmulator) -> str:
    return hosting_emulator.base_url.partition("/worlds/")[0]


def names(emulator: HostingEmulator) -> list[str]:
    return [world.name for world in emulator.control.worlds()]


# --- Fresh worlds ----------------------------------------------------------------------------


def test_a_fresh_world_is_deleted_at_its_end(hosting_emulator: HostingEmulator, url: str):
    with HostingEmulator.fresh(url) as fresh:
        assert fresh.name in names(hosting_emulator)
        assert fresh.clock.mode == "frozen"

    assert fresh.name not in names(hosting_emulator)
    fresh.close()


def test_a_fresh_world_has_the_requested_name_seed_clock_and_assumptions(url: str):
    with HostingEmulator.fresh(
        f"{url}/_emulator",
        name="as-asked",
        seed="mine",
        clock={"mode": "scaled", "rate": 60},
        assumptions={"rate_limit": "10/1m"},
    ) as fresh:
        summary = fresh.summary

    assert (fresh.name, summary.seed, summary.clock.rate) == ("as-asked", "mine", 60)
    assert summary.assumptions == {"rate_limit": "10/1m"}
    assert summary.ephemeral


def test_a_fresh_world_can_come_from_a_scenario_of_the_library(url: str):
    with HostingEmulator.fresh(url, scenario="stuck-operation") as fresh:
        assert fresh.report_document().scenario is not None


def test_a_fresh_world_can_come_from_a_file(url: str, tmp_path: Path):
    file = tmp_path / "mine.yaml"
    file.write_text(
        "name: mine\ndescription: Mine.\nclock: {at: 2030-01-01T00:00:00Z, mode: frozen}\n"
    )

    for path in (file, str(file)):
        with HostingEmulator.fresh(url, scenario=path, clock="skip") as fresh:
            assert fresh.clock.now == "2030-01-01T00:00:00.000Z"
            assert fresh.clock.mode == "skip"


def test_a_fresh_world_can_come_from_a_document(url: str):
    with HostingEmulator.fresh(url, scenario=LATER) as fresh:
        assert fresh.clock.now == "2030-01-01T00:00:00.000Z"


def test_a_fresh_world_can_come_from_an_exported_state(api: HttpWorld, url: str, tmp_path: Path):
    operation = api.apply_domains().json

    state = api.emulator.export(tmp_path / "world.json")
    with HostingEmulator.fresh(url, state=state) as fresh:
        assert fresh.why(operation).state == "queued"

    assert '"operations"' in (tmp_path / "world.json").read_text()


def test_the_refusal_of_a_fresh_world_names_the_document(
    hosting_emulator: HostingEmulator, url: str
):
    before = names(hosting_emulator)

    with pytest.raises(ControlRefused, match=r"test_x \(inline\):\d+:\d+: "):
        HostingEmulator.fresh(url, scenario={"clok": {}}, document_name="test_x (inline)")
    with pytest.raises(ControlRefused, match="stuck-operatoin"):
        HostingEmulator.fresh(url, scenario="stuck-operatoin")
    with pytest.raises(ValueError, match="give either scenario or state"):
        HostingEmulator.fresh(url, scenario="stuck-operation", state={})

    assert names(hosting_emulator) == before


def test_closing_a_deleted_world_is_no_error(hosting_emulator: HostingEmulator, url: str):
    fresh = HostingEmulator.fresh(url)
    hosting_emulator.control.world(fresh.name).delete()

    fresh.close()


def test_a_world_that_cannot_be_deleted_is_an_error_at_its_end(control: FakeControl):
    control.on("POST /worlds", new_world("w"))
    control.on("DELETE /worlds/w", refusal(503, "the world could not be deleted"))
    fresh = HostingEmulator.fresh(control.url)

    with pytest.raises(ControlRefused, match="the world could not be deleted"):
        fresh.close()


def test_an_unknown_attribute_of_a_world_is_an_error_without_a_request(
    hosting_emulator: HostingEmulator,
):
    with pytest.raises(AttributeError, match="'HostingEmulator' object has no attribute 'cloks'"):
        _ = hosting_emulator.cloks  # type: ignore[attr-defined]


def test_closing_a_world_leaves_a_shared_client_open(hosting_emulator: HostingEmulator):
    shared = hosting_emulator.control

    with HostingEmulator.fresh(shared) as fresh:
        assert fresh.control is shared
    with HostingEmulator.connect(shared, world=hosting_emulator.name) as connected:
        assert connected.project == hosting_emulator.project

    assert shared.health().status == "ok"


# --- Worlds that exist -----------------------------------------------------------------------


def test_closing_a_connected_world_does_not_delete_it(hosting_emulator: HostingEmulator, url: str):
    with HostingEmulator.connect(url) as default:
        assert default.name == "default"
    with HostingEmulator.connect(hosting_emulator.base_url) as connected:
        assert connected.projects == hosting_emulator.projects
    with HostingEmulator.connect(url, world=hosting_emulator.name) as connected:
        connected.clock.advance("1m")

    assert hosting_emulator.clock.now == "2026-01-01T00:01:00.000Z"


def test_connecting_to_an_unknown_world_is_refused(url: str):
    with pytest.raises(ControlRefused, match="'nowhere'"):
        HostingEmulator.connect(url, world="nowhere")
    with pytest.raises(ValueError, match="the address names the world 'a', but `world` is 'b'"):
        HostingEmulator.connect(f"{url}/worlds/a", world="b")


@pytest.mark.parametrize("text", ["localhost:4620", "ftp://h:1", "http://h:1\nx", "/worlds/w"])
def test_a_text_that_is_no_address_is_refused(text: str):
    with pytest.raises(ValueError, match="is not an address") as caught:
        HostingEmulator.connect(text)

    assert str(caught.value) == (f"{text!r} is not an address: write it like http://127.0.0.1:4620")


def test_connecting_without_an_emulator_raises_an_error():
    with pytest.raises(EmulatorUnreachable, match=r"http://127\.0\.0\.1:1/_emulator"):
        HostingEmulator.connect("http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("url", "control_url", "world"),
    [
        ("http://h:1", "http://h:1/_emulator", None),
        ("http://h:1/", "http://h:1/_emulator", None),
        ("http://h:1/_emulator/", "http://h:1/_emulator", None),
        ("http://h:1/worlds/a", "http://h:1/_emulator", "a"),
        ("http://h:1/_emulator/worlds/a", "http://h:1/_emulator", "a"),
        ("https://h/below/worlds/a/", "https://h/below/_emulator", "a"),
    ],
)
def test_an_address_may_name_a_world_or_the_control_api(
    url: str, control_url: str, world: str | None
):
    assert read_address(url) == (control_url, world)


def test_the_address_is_read_from_variables(monkeypatch: pytest.MonkeyPatch):
    for name in ("URL", "WORLD"):
        monkeypatch.delenv(f"HOSTING_EMULATOR_{name}", raising=False)
    assert read_address(None) == (None, None)

    monkeypatch.setenv("HOSTING_EMULATOR_URL", "http://h:1")
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", "a")

    assert read_address(None) == ("http://h:1/_emulator", "a")
    assert read_address("http://i:2") == ("http://i:2/_emulator", None)


def test_the_control_token_is_read_from_a_variable(
    control: FakeControl, monkeypatch: pytest.MonkeyPatch
):
    control.on("GET /worlds/default", world())

    for variable, token in (("", None), ("t", None), ("t", "u")):
        monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", variable)
        HostingEmulator.connect(control.control_url, control_token=token).close()

    tokens = [request.headers.get("X-Control-Token") for request in control.requests]
    assert tokens == [None, "t", "u"]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        (
            '{"base_url": "http://h.test", "local_url": "http://127.0.0.1:4701"}',
            "http://127.0.0.1:4701",
        ),
        ("{}", "http://127.0.0.1:4700"),
        ("[]", "http://127.0.0.1:4700"),
        ("not whole", "http://127.0.0.1:4700"),
        (None, "http://127.0.0.1:4700"),
    ],
)
def test_the_address_is_read_from_the_ready_file_before_the_port(
    text: str | None, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "4700")
    monkeypatch.setenv("HOSTING_EMULATOR_READY_FILE", str(tmp_path / "ready.json"))
    if text is not None:
        (tmp_path / "ready.json").write_text(text, encoding="utf-8")

    assert find_emulator().url == url


def test_an_invalid_port_in_a_variable_is_refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HOSTING_EMULATOR_READY_FILE", raising=False)
    monkeypatch.setenv("HOSTING_EMULATOR_PORT", "46twenty")

    with pytest.raises(ValueError, match="46twenty"):
        ControlClient(find_emulator().url)


def test_a_variable_that_nothing_reads_is_reported_once_per_process(
    url: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(variables, "_reported_names", set())
    monkeypatch.setenv("HOSTING_EMULATOR_WRLD", "checkout")

    with pytest.warns(VariableWarning) as warnings:
        HostingEmulator.connect(url).close()
    HostingEmulator.fresh(url).close()  # a second warning would be an error

    assert [(str(warning.message), warning.filename) for warning in warnings] == [
        (
            "nothing reads the variable HOSTING_EMULATOR_WRLD; did you mean HOSTING_EMULATOR_WORLD?",
            __file__,
        )
    ]


def test_an_unknown_option_of_a_fresh_world_is_refused(url: str):
    misspelt: dict[str, Any] = {"clok": "skip"}

    with pytest.raises(TypeError, match="clok"):
        HostingEmulator.fresh(url, **misspelt)


# --- Forks, going back -----------------------------------------------------------------------


def test_a_fork_is_independent_and_is_deleted_with_its_parent(
    url: str, hosting_emulator: HostingEmulator
):
    with HostingEmulator.fresh(url) as parent:
        fork = parent.fork()
        deeper = fork.fork("deeper")
        fork.clock.advance("1h")

        assert parent.clock.now == deeper.clock.now == "2026-01-01T00:00:00.000Z"
        assert fork.clock.now == "2026-01-01T01:00:00.000Z"
        assert fork.token() != parent.token()

    assert not {parent.name, fork.name, "deeper"} & set(names(hosting_emulator))


@pytest.mark.parametrize("is_limited", [False, True])
def test_an_observation_watches_all_worlds_or_only_those_that_are_named(
    api: HttpWorld, is_limited: bool
):
    emulator = api.emulator
    with HostingEmulator.fresh(emulator.control) as other:
        worlds = [emulator.name] if is_limited else None
        with emulator.control.observe(worlds=worlds) as observation:
            api.dns()
            HttpWorld(other).dns()
            report = observation.report()

    requests = {chapter.world: chapter.requests for chapter in report.chapters}
    assert requests[emulator.name] == 1
    assert (other.name in requests) is not is_limited


def test_a_world_can_be_rewound_to_a_commit_or_forked_at_it(api: HttpWorld):
    emulator = api.emulator
    before = emulator.summary.counts["operations"]
    api.set_flag(False)
    api.apply_domains()

    hidden = next(c for c in emulator.history if c.title == "set_project_powered_by_flag")
    fork = emulator.fork(commit=hidden.commit)
    emulator.rewind(hidden.commit)

    for changed in (emulator, fork):
        assert changed.summary.counts["operations"] == before
    assert emulator.history[-1].title == f"rewound to {hidden.commit}"
    assert emulator.commits(limit=2) == emulator.history[:-3:-1]
    assert len(emulator.requests) == 2
    with pytest.raises(ControlRefused, match="commit 9999 is not in the history"):
        emulator.rewind(9999)


def test_a_snapshot_restores_the_world_at_its_end(api: HttpWorld):
    emulator = api.emulator
    emulator.fault("abort", code="rate_limited", call="list_deployments")

    with emulator.snapshot() as before:
        emulator.clear_faults()
        emulator.clock.advance("1d")
        assert api.set_flag(False).status == 200

    assert emulator.clock.now == before.at == "2026-01-01T00:00:00.000Z"
    assert len(emulator.faults) == 1
    assert api.deployments().json["code"] == "rate_limited"
    assert [request.call for request in emulator.requests] == [
        "set_project_powered_by_flag",
        "list_deployments",
    ]
    with pytest.raises(ControlRefused):
        before.restore()
    before.forget()


def test_a_snapshot_can_be_restored_repeatedly(hosting_emulator: HostingEmulator):
    snapshot = hosting_emulator.snapshot()
    assert snapshot.commit == hosting_emulator.summary.commit

    for _ in range(2):
        hosting_emulator.clock.advance("1m")
        hosting_emulator.restore(snapshot)
        assert hosting_emulator.clock.now == "2026-01-01T00:00:00.000Z"

    assert repr(snapshot) == (
        f"<WorldSnapshot 'snapshot-1' of '{hosting_emulator.name}' at 2026-01-01T00:00:00.000Z>"
    )


def test_a_token_issued_after_a_snapshot_is_replaced_when_it_is_restored(api: HttpWorld):
    with api.emulator.snapshot():
        api.emulator.clock.advance("1d")
        later_token = api.emulator.token("reader")

    assert api.emulator.token("reader") != later_token
    assert api.deployments(user="reader").status == 200


def test_reset_restores_the_initial_world(api: HttpWorld):
    api.apply_domains()
    api.emulator.clock.advance("1h")

    api.emulator.reset()

    assert api.emulator.clock.now == "2026-01-01T00:00:00.000Z"
    assert len(api.emulator.requests) == 0
    assert api.deployments().status == 200


# --- Failures, stories, threads --------------------------------------------------------------


def test_faults_are_listed_counted_and_cleared(api: HttpWorld):
    emulator = api.emulator
    first = emulator.fault("abort", code="rate_limited", call="list_deployments", times=1)
    emulator.fault(latency={"delay_ms": 1}, from_="1h", header={"X-A": "*"})

    api.deployments()

    assert [fault.id for fault in emulator.faults] == [first.id, "fault-2"]
    assert (first.seen, first.hits, first.spent) == (1, 1, True)
    assert emulator.faults[1].now.written["from"] == "2026-01-01T01:00:00.000Z"
    assert repr(first) == f"<ArmedFault 'fault-1' of '{emulator.name}'>"
    emulator.remove_fault(first.id)
    assert [fault.id for fault in emulator.faults] == ["fault-2"]
    emulator.fault("timeout")
    assert emulator.clear_faults() == 2
    assert emulator.faults == []


def test_outcomes_are_listed_removed_and_cleared(api: HttpWorld):
    emulator = api.emulator
    first = emulator.outcome("fail", phase="deploying")
    others = [emulator.outcome("fail", phase="deploying", project="blog") for _ in range(2)]

    emulator.remove_outcome(first.id)

    assert [outcome.id for outcome in emulator.outcomes] == [other.id for other in others]
    assert emulator.clear_outcomes() == 2
    assert emulator.outcomes == []


def test_why_prints_a_readable_explanation(api: HttpWorld):
    operation = api.apply_domains().json

    explanation = api.emulator.why(operation)

    assert (explanation.state, explanation.project, explanation.kind) == (
        "queued",
        "shop",
        "apply_project_domains",
    )
    assert explanation.next is not None
    assert explanation.next.at == "2026-01-01T00:00:02.000Z"
    assert str(explanation) == "\n".join(
        [
            f"apply_project_domains of shop ({operation['id']}) is queued "
            "at 2026-01-01T00:00:00.000Z",
            *(f"  {sentence}" for sentence in explanation.sentences),
            f"  next, at 2026-01-01T00:00:02.000Z: {explanation.next.event}",
            *(f"  try: {command}" for command in explanation.commands),
        ]
    )
    assert explanation.commands


def test_threads_can_share_a_world(api: HttpWorld):
    emulator = api.emulator

    def work(n: int) -> tuple[int, str]:
        key = f"key-{n}"
        response = api.call(
            "PUT",
            f"/v1/projects/{emulator.project}/powered-by-flag",
            key=key,
            body={"enabled": False},
        )
        return response.status, emulator.requests.assert_made(key=key, times=1)[
            0
        ].idempotency_key or ""

    with ThreadPoolExecutor(8) as threads:
        results = list(threads.map(work, range(40)))

    assert results == [(200, f"key-{n}") for n in range(40)]
    emulator.requests.assert_made("set_project_powered_by_flag", times=40)
