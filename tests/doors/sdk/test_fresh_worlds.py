"""Fresh worlds over the control API: from a scenario, from inline text, from an exported state."""

import time
from typing import Any
from urllib.request import Request, urlopen

import pytest
from msgspec import to_builtins
from msgspec.structs import replace

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator
from hosting_emulator.sdk.new_worlds import world_request
from tests.support.forged_tokens import token_parts


@pytest.fixture
def control(hosting_emulator: HostingEmulator) -> ControlClient:
    return hosting_emulator.control


def make(control: ControlClient, **body: Any) -> Any:
    world = control.post("worlds", body)
    control.world(world["name"]).delete()
    return world


INLINE = """{"name": "inline", "description": "A world of its own.",
  "clock": {"mode": "skip", "at": "2030-01-01T00:00:00Z"},
  "assumptions": {"default_page_size": 7},
  "faults": [{"abort": {"code": "rate_limited"}, "call": "list_deployments"}]}"""


def test_a_world_can_begin_with_a_scenario_of_the_library(control: ControlClient):
    empty = control.create_world(ephemeral=True)
    control.world(empty.name).load_scenario(name="stuck-operation")

    created = control.post("worlds", {"scenario": {"name": "stuck-operation"}})

    state_after_load = control.world(empty.name).export()
    state_at_creation = control.world(created["name"]).export()
    for table in ("timeline", "faults", "assumptions", "clock", "projects"):
        assert state_after_load["tables"].get(table) == state_at_creation["tables"].get(table)
    for name in (empty.name, created["name"]):
        control.world(name).delete()


def test_a_world_can_begin_with_the_text_of_a_scenario(control: ControlClient):
    world = make(control, scenario={"text": INLINE, "file": "test_x.py::test (inline)"})

    assert world["clock"]["mode"] == "skip"
    assert world["clock"]["now"] == "2030-01-01T00:00:00.000Z"
    assert world["assumptions"] == {"default_page_size": 7}


def test_options_of_a_new_world_override_its_scenario(control: ControlClient):
    body = {
        "scenario": {"text": INLINE},
        "clock": {"mode": "frozen"},
        "assumptions": {"accepted_status": 200},
        "seed": "another",
    }
    world = make(control, **body)
    plain = make(control, scenario={"text": INLINE})

    assert world["clock"]["mode"] == "frozen"
    assert world["clock"]["now"] == "2030-01-01T00:00:00.000Z"
    assert world["assumptions"] == {"default_page_size": 7, "accepted_status": 200}
    assert world["projects"] != plain["projects"]


def test_two_worlds_of_one_scenario_are_independent(control: ControlClient):
    first = control.post("worlds", {"scenario": {"text": INLINE}})
    second = control.post("worlds", {"scenario": {"text": INLINE}})

    control.world(first["name"]).clear_faults()
    control.world(first["name"]).clock.move(by="1h")

    assert len(control.world(second["name"]).faults) == 1
    assert control.world(second["name"]).clock.state.now == "2030-01-01T00:00:00.000Z"
    for world in (first, second):
        control.world(world["name"]).delete()


def test_a_world_can_begin_with_an_exported_state(
    control: ControlClient, hosting_emulator: HostingEmulator
):
    hosting_emulator.clock.advance("5d")
    state = control.world(hosting_emulator.name).export()

    world = control.post("worlds", {"state": state})

    exported = control.world(world["name"]).export()
    assert exported["tables"]["clock"] == state["tables"]["clock"]
    assert world["seed"] != hosting_emulator.summary.seed
    control.world(world["name"]).delete()


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"scenario": {"name": "stuck-operatoin"}}, 404, "stuck-operation"),
        ({"scenario": {}}, 400, "either name or text"),
        ({"scenario": {"name": "a", "text": "b"}}, 400, "either name or text"),
        ({"scenario": {"text": "name: [", "file": "x.yaml"}}, 400, "x.yaml:"),
        ({"scenario": {"text": INLINE}, "clock": {"at": "2031-01-01T00:00:00Z"}}, 400, "clock.at"),
        ({"scenario": {"text": INLINE}, "clock": {"mode": "fast"}}, 400, "not a clock mode"),
        ({"scenario": {"text": INLINE}, "assumptions": {"nothing": 1}}, 400, "nothing"),
        (
            {"state": {}, "assumptions": {"rate_limit": 1}},
            400,
            "leave out scenario, clock and assumptions",
        ),
        ({"state": {"kind": "x"}}, 400, "kind"),
        ({"scenarios": {}}, 400, "scenarios"),
    ],
)
def test_an_invalid_description_of_a_world_is_refused_and_creates_no_world(
    control: ControlClient, body: dict[str, Any], status: int, words: str
):
    before = len(control.worlds())

    with pytest.raises(ControlRefused, match=words) as refused:
        control.post("worlds", body)

    assert refused.value.status == status
    assert len(control.worlds()) == before


def test_an_invalid_name_is_refused_before_a_world_is_built(control: ControlClient):
    with pytest.raises(ControlRefused, match="'No'"):
        control.post("worlds", {"name": "No", "scenario": {"name": "stuck-operation"}})


# --- With a token ---------------------------------------------------------------------------------

NOBODY_IS_CALLED_OWNER = """{"name": "inline", "description": "Other people.", "world": {
  "organizations": [{"alias": "zoo"}, {"alias": "bank"}],
  "users": [{"alias": "ann", "organizations": {"zoo": "owner"}},
             {"alias": "ben", "organizations": {"bank": "owner"}},
             {"alias": "cem", "organizations": {"bank": "member"}}]}}"""
EMPTY = (
    """{"name": "inline", "description": "Nobody.", "world": {"organizations": [], "users": []}}"""
)


def token_user(world: Any) -> str:
    """Return the alias of the user of a new world's token."""
    user_id = token_parts(world["token"]["access_token"])[1]["sub"]
    return str(next(user["alias"] for user in world["users"] if user["id"] == user_id))


def test_creating_a_world_returns_everything_that_a_first_call_needs(control: ControlClient):
    world = control.create_world(clock={"mode": "frozen"}, token={})
    url = f"{world.base_url}/v1/projects/{world.projects[0].id}/edge-dns"
    assert world.token is not None
    bearer = {"Authorization": f"Bearer {world.token.access_token}"}

    with urlopen(Request(url, headers=bearer)) as response:
        assert response.status == 200

    assert world.token.expires_in == 10 * 365 * 86_400
    assert world.clock.mode == "frozen"
    control.world(world.name).delete()


def test_a_new_world_has_a_token_only_on_request(control: ControlClient):
    assert "token" not in make(control)


@pytest.mark.parametrize(
    ("body", "user"),
    [
        ({"token": {}}, "owner"),
        ({"token": {"user": "reader"}}, "reader"),
        ({"token": {}, "scenario": {"text": NOBODY_IS_CALLED_OWNER}}, "ann"),
    ],
    ids=["owner", "somebody", "owner of the first organization"],
)
def test_the_token_of_a_new_world_is_for_the_chosen_user(
    control: ControlClient, body: dict[str, Any], user: str
):
    assert token_user(make(control, **body)) == user


def test_a_token_for_the_first_owner_can_be_made_later(control: ControlClient):
    world = control.create_world(scenario={"text": NOBODY_IS_CALLED_OWNER})

    token = control.world(world.name).mint_token()
    key = control.post(f"worlds/{world.name}/api-keys", {})["key"]
    control.world(world.name).delete()

    assert token_user(to_builtins(replace(world, token=token))) == "ann"
    assert world.organizations[0].alias == "zoo"
    assert key["organization_id"] == world.organizations[0].id


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"token": {"user": "nobody"}}, "'nobody'"),
        ({"token": {"user": ""}}, "''"),
        ({"token": {"lifetime": "0s"}}, "lifetime must be a whole number of seconds"),
        ({"token": {}, "scenario": {"text": EMPTY}}, "no organization has an owner"),
    ],
    ids=["unknown", "empty", "no lifetime", "nobody"],
)
def test_an_impossible_token_is_refused_and_creates_no_world(
    control: ControlClient, body: dict[str, Any], words: str
):
    before = len(control.worlds())

    for path, document in (
        ("worlds", body),
        ("worlds/default/fork", {"token": {"user": "nobody"}}),
    ):
        with pytest.raises(ControlRefused, match=words if path == "worlds" else "'nobody'"):
            control.post(path, document)

    assert len(control.worlds()) == before


def test_a_fork_has_its_own_token(control: ControlClient):
    fork = control.post("worlds/default/fork", {"token": {"user": "member"}})
    control.world(fork["name"]).delete()

    assert token_user(fork) == "member"
    assert token_parts(fork["token"]["access_token"])[1]["iss"] == fork["issuer"]


# --- worlds that nobody closes ----------------------------------------------------------------------


def test_a_world_ends_when_its_time_to_live_passes_without_a_request(
    control: ControlClient,
) -> None:
    short_lived = control.create_world(ttl="1s")
    lasting = control.create_world(ttl="1h")
    fork = control.world(short_lived.name).copy()
    ending = {short_lived.name, fork.name}

    end = time.monotonic() + 20
    # The list of worlds is no request to any of them.
    while ending & {world.name for world in control.worlds()}:
        assert time.monotonic() < end, "they are still there"

    assert control.world(lasting.name).clock.now
    control.world(lasting.name).delete()


@pytest.mark.parametrize("ttl", ["soon", "", "-1s"])
def test_a_time_to_live_that_is_not_a_duration_is_refused(control: ControlClient, ttl: str) -> None:
    with pytest.raises(ControlRefused, match=repr(ttl)) as refused:
        control.create_world(ttl=ttl)

    assert (refused.value.status, refused.value.title) == (400, "Bad ttl")


def test_a_world_of_the_sdk_has_a_time_to_live_by_default() -> None:
    assert world_request(None, "", None)["ttl"] == "6h"
    assert world_request(None, "", None, ttl=None)["ttl"] is None


def test_a_scenario_creates_the_world_that_it_is_loaded_or_run_into(
    hosting_emulator: HostingEmulator,
):
    control = hosting_emulator.control
    try:
        control.world("made-by-load").load_scenario(name="stuck-operation")
        report = control.run_scenario(name="stuck-operation", world="made-by-run")

        assert report.passed
        assert {"made-by-load", "made-by-run"} <= {world.name for world in control.worlds()}
        assert control.world("made-by-run").report_document().scenario == "stuck-operation.yaml"
        with pytest.raises(ControlRefused, match="'No Name'"):
            control.run_scenario(name="stuck-operation", world="No Name")
    finally:
        for name in ("made-by-load", "made-by-run"):
            control.world(name).delete()
