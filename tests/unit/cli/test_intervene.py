"""`intervene` sends one intervention with its fields, and says what it did."""

import json

from hosting_emulator.interventions import INTERVENTIONS
from tests.unit.sdk.fake_control import FakeControl, Says

SENT = "POST /worlds/default/interventions"
SAID = {"intervention": "stick_operation", "said": "operation 01J0 is stuck while running"}


def test_intervene_sends_the_word_with_its_fields(ask, control: FakeControl):
    control.on(SENT, SAID)

    result = ask(
        *("intervene", "fail_operation", "project=shop", "retryable=true"),
        *("message=No space left: 5 GB", 'code="404"'),
    )

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Operation 01J0 is stuck while running.\n"
    fields = {
        "project": "shop",
        "retryable": True,
        "message": "No space left: 5 GB",
        "code": "404",
    }
    assert control.bodies(SENT) == [{"fail_operation": fields}]


def test_intervene_without_fields_in_another_world(ask, control: FakeControl):
    control.on("POST /worlds/ci-1/interventions", SAID)

    result = ask("intervene", "leave_key_creation_uncertain", "--world", "ci-1", "--json")

    assert json.loads(result.stdout) == SAID
    sent = control.bodies("POST /worlds/ci-1/interventions")
    assert sent == [{"leave_key_creation_uncertain": {}}]


def test_refusal_is_one_line(ask, control: FakeControl):
    problem = {"title": "Intervention refused", "detail": "no operation of shop is under way"}
    control.on(SENT, Says(problem, 409))

    result = ask("intervene", "stick_operation", "project=shop")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: no operation of shop is under way\n"


def test_list_without_an_emulator(run):
    lines = run("intervene", "--list").stdout.splitlines()

    assert [line.split()[0] for line in lines[1:]] == list(INTERVENTIONS)
    moved = next(line for line in lines if line.startswith("move_dns"))
    assert "project to [zone] [expires_in]" in moved


def test_list_of_a_named_emulator(run, control: FakeControl):
    control.on("GET /contract/interventions", {"items": []})

    assert json.loads(run("intervene", "--list", "--json", "--url", control.url).stdout) == []
