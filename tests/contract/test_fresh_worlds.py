"""Fresh worlds over the control API: of a scenario, of inline text, of an exported state."""

from typing import Any

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator


@pytest.fixture
def control(hosting_emulator: HostingEmulator) -> ControlClient:
    return hosting_emulator.control


def make(control: ControlClient, **body: Any) -> Any:
    made = control.post("worlds", body)
    control.world(made["name"]).delete()
    return made


INLINE = """{"name": "inline", "description": "A world of its own.",
  "clock": {"mode": "skip", "at": "2030-01-01T00:00:00Z"},
  "assumptions": {"default_page_size": 7},
  "faults": [{"abort": {"code": "rate_limited"}, "call": "list_deployments"}]}"""


def test_a_scenario_of_the_library(control: ControlClient):
    loaded = control.create_world(ephemeral=True)
    control.world(loaded["name"]).load_scenario(name="stuck-operation")

    made = control.post("worlds", {"scenario": {"name": "stuck-operation"}})

    one, other = (control.world(name).export() for name in (loaded["name"], made["name"]))
    for table in ("timeline", "faults", "assumptions", "clock", "projects"):
        assert one["tables"].get(table) == other["tables"].get(table)
    for name in (loaded["name"], made["name"]):
        control.world(name).delete()


def test_inline_text(control: ControlClient):
    made = make(control, scenario={"text": INLINE, "file": "test_x.py::test (inline)"})

    assert made["clock"]["mode"] == "skip"
    assert made["clock"]["now"] == "2030-01-01T00:00:00.000Z"
    assert made["assumptions"] == {"default_page_size": 7}


def test_what_is_asked_for_beside_it_is_laid_over(control: ControlClient):
    body = {
        "scenario": {"text": INLINE},
        "clock": {"mode": "frozen"},
        "assumptions": {"accepted_status": 200},
        "seed": "another",
    }
    made = make(control, **body)
    plain = make(control, scenario={"text": INLINE})

    assert made["clock"]["mode"] == "frozen"
    assert made["clock"]["now"] == "2030-01-01T00:00:00.000Z"
    assert made["assumptions"] == {"default_page_size": 7, "accepted_status": 200}
    assert made["projects"] != plain["projects"]


def test_two_of_one_scenario_are_alone(control: ControlClient):
    first, second = (control.post("worlds", {"scenario": {"text": INLINE}}) for _ in range(2))

    control.world(first["name"]).clear_faults()
    control.world(first["name"]).clock.move(by="1h")

    assert len(control.world(second["name"]).faults) == 1
    assert control.world(second["name"]).clock.state["now"] == "2030-01-01T00:00:00.000Z"
    for world in (first, second):
        control.world(world["name"]).delete()


def test_an_exported_state(control: ControlClient, hosting_emulator: HostingEmulator):
    hosting_emulator.clock.advance("5d")
    state = control.world(hosting_emulator.name).export()

    made = control.post("worlds", {"state": state})

    found = control.world(made["name"]).export()
    assert found["tables"]["clock"] == state["tables"]["clock"]
    assert found["seed"] == state["seed"]
    control.world(made["name"]).delete()


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"scenario": {"name": "stuck-operatoin"}}, 404, "did you mean stuck-operation"),
        ({"scenario": {}}, 400, "either name or text"),
        ({"scenario": {"name": "a", "text": "b"}}, 400, "either name or text"),
        ({"scenario": {"text": "name: [", "file": "x.yaml"}}, 400, "x.yaml:"),
        ({"scenario": {"text": INLINE}, "clock": {"at": "2031-01-01T00:00:00Z"}}, 400, "clock.at"),
        ({"scenario": {"text": INLINE}, "clock": {"mode": "fast"}}, 400, "no clock mode"),
        ({"scenario": {"text": INLINE}, "assumptions": {"nothing": 1}}, 400, "nothing"),
        ({"state": {}, "seed": "s"}, 400, "give it alone"),
        ({"state": {"kind": "x"}}, 400, "no exported state"),
        ({"scenarios": {}}, 400, "scenarios"),
    ],
)
def test_what_is_wrong_is_said_and_no_world_is_made(
    control: ControlClient, body: dict[str, Any], status: int, words: str
):
    before = len(control.worlds())

    with pytest.raises(ControlRefused, match=words) as refused:
        control.post("worlds", body)

    assert refused.value.status == status
    assert len(control.worlds()) == before


def test_a_bad_name_is_refused_before_anything_is_built(control: ControlClient):
    with pytest.raises(ControlRefused, match="no name of a world"):
        control.post("worlds", {"name": "No", "scenario": {"name": "stuck-operation"}})
