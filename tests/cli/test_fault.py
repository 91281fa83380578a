"""`fault` and `intervene` send the right requests and print the responses."""

import json
from typing import Any

import pytest

from tests.support.control_samples import fault, items
from tests.support.fake_control import FakeControl, refusal
from tests.support.product_tables import intervention_words

ARMED = fault(
    "abort",
    abort={"code": "service_unavailable"},
    call="apply_project_domains",
    header={"X-Try": "1"},
    times=2,
    after_commit=True,
    considered=5,
    seen=3,
    hits=1,
)
ADD = "POST /worlds/default/faults"


def test_fault_add_prints_the_id_on_stdout_and_the_fault_on_stderr(ask, control: FakeControl):
    control.on(ADD, ARMED)

    result = ask("fault", "add", "abort", "code=service_unavailable")

    assert (result.exit_code, result.stdout) == (0, "fault-1\n")
    assert result.stderr == (
        "Armed fault-1 in world default: abort code=service_unavailable, "
        "call=apply_project_domains header=X-Try:1, times=2, after the commit.\n"
    )


def test_fault_list_shows_faults_in_their_order(ask, control: FakeControl):
    second_fault = fault("connection_reset", id="fault-2", spent=True)
    control.on("GET /worlds/default/faults", items(ARMED, second_fault))

    lines = ask("fault", "list").stdout.splitlines()

    assert lines[0].split() == [
        "FAULT",
        "EFFECT",
        "MATCHES",
        "WHEN",
        "AFTER",
        "COMMIT",
        "CONSIDERED",
        "SEEN",
        "HITS",
        "USED",
        "UP",
    ]
    assert " ".join(lines[1].split()) == (
        "fault-1 abort code=service_unavailable call=apply_project_domains header=X-Try:1 times=2 "
        "yes 5 3 1 no"
    )
    assert " ".join(lines[2].split()) == ("fault-2 connection_reset everything always no 0 0 0 yes")


def test_fault_list_without_faults_shows_its_headers(ask, control: FakeControl):
    control.on("GET /worlds/default/faults", items())

    assert len(ask("fault", "list").stdout.splitlines()) == 1


def test_fault_remove_accepts_several_ids(ask, control: FakeControl):
    for fault_id in ("fault-1", "fault-2"):
        control.on(f"DELETE /worlds/default/faults/{fault_id}", None)

    result = ask("fault", "remove", "fault-1", "fault-2")

    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == "Removed fault-1.\nRemoved fault-2.\n"


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 faults"), (1, "1 fault"), (2, "2 faults")],
)
def test_fault_clear_prints_the_number_of_removed_faults(
    ask, control: FakeControl, count: int, words: str
):
    control.on("DELETE /worlds/default/faults", {"removed": count})

    assert ask("fault", "clear").stderr == f"Removed {words}.\n"


def test_fault_kinds_needs_no_emulator(run):
    out = run("fault", "kinds").stdout

    first = [line.split()[0] for line in out.split("\n\n")[0].splitlines()]
    assert first[:3] == ["EFFECT", "abort", "gateway_error"]
    example = 'set={"/progress/phase": "warming up"}'
    for word in ("MATCH ", "header", "CONDITION", "skip_first", "limit=3 window=60s", example):
        assert word in out


@pytest.mark.parametrize(
    ("group", "kind", "options"),
    [
        ("fault", "latency", "delay_ms jitter_ms distribution"),
        ("fault", "timeout", "-"),
        ("outcome", "stick", "phase for queued running"),
    ],
)
def test_kinds_shows_all_options_of_each_kind(run, group: str, kind: str, options: str):
    rows = run(group, "kinds").stdout.splitlines()

    row = next(row for row in rows if row.startswith(kind))
    assert row.removeprefix(kind).strip().startswith(f"{options} ")


def test_fault_kinds_asks_the_emulator_of_the_option_url(run, control: FakeControl):
    kinds: dict[str, Any] = {"effects": [], "matches": {}, "conditions": {"x": "y"}, "while": {}}
    control.on("GET /contract/fault-kinds", kinds)

    assert json.loads(run("fault", "kinds", "--json", "--url", control.url).stdout) == kinds


SENT = "POST /worlds/default/interventions"


def test_intervene_prints_a_refusal_in_one_line(ask, control: FakeControl):
    control.on(SENT, refusal(409, "no operation of shop is in progress"))

    result = ask("intervene", "stick_operation", "project=shop")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "Error: no operation of shop is in progress\n"


def test_intervene_list_needs_no_emulator(run):
    lines = run("intervene", "kinds").stdout.splitlines()

    assert [line.split()[0] for line in lines[1:]] == intervention_words()
    row = next(line for line in lines if line.startswith("move_dns"))
    assert "[project] to [zone] [expires_in]" in row


def test_intervene_list_asks_the_emulator_of_the_option_url(run, control: FakeControl):
    control.on("GET /contract/interventions", items())

    assert json.loads(run("intervene", "kinds", "--json", "--url", control.url).stdout) == []


def test_a_fault_without_a_phase_is_listed(ask, control: FakeControl):
    altering = fault("alter", alter={"remove": "/progress"}, after_commit=None)
    control.on("GET /worlds/default/faults", items(altering))

    line = ask("fault", "list").stdout.splitlines()[1]

    assert "alter remove=/progress" in line
    assert "commit" not in line


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "fault add abort",
            "abort needs code: add code=VALUE, as in "
            "`hosting-emulator fault add abort code=service_unavailable`",
        ),
        (
            "fault add latency jitter_ms=5",
            "latency needs delay_ms: add delay_ms=VALUE, as in "
            "`hosting-emulator fault add latency delay_ms=200 jitter_ms=50`",
        ),
        (
            "intervene set_permissions",
            "set_permissions needs permissions: add permissions=VALUE, as in `hosting-emulator "
            "intervene set_permissions organization=acme 'permissions=[\"projects.read\"]'`",
        ),
    ],
)
def test_a_missing_option_is_named_as_it_is_typed(
    ask, control: FakeControl, line: str, message: str
):
    refused = refusal(400, "the field is missing, as in {}")
    control.on("POST /worlds/default/faults", refused)
    control.on("POST /worlds/default/interventions", refused)

    result = ask(*line.split())

    assert result.stderr == f"Error: {message}\n"


@pytest.mark.parametrize(
    "line", ["fault add abort codee=x", "fault add abrt", "fault add latency delay_ms=x"]
)
def test_another_refusal_of_a_fault_is_printed_unchanged(ask, control: FakeControl, line: str):
    control.on("POST /worlds/default/faults", refusal(400, "this fault is impossible"))

    result = ask(*line.split())

    assert result.stderr == "Error: this fault is impossible\n"


@pytest.mark.parametrize(
    ("option", "value", "name", "following_name"),
    [
        ("--header", "cookie=a=1,b=2", "cookie", "b"),
        ("--header", "cache-control=no-cache, max-age=0", "cache-control", "max-age"),
        ("--query", "filter=a=1,b=2", "filter", "b"),
        ("--body", "key.name=a=1,b=2", "key.name", "b"),
    ],
)
def test_a_comma_that_may_belong_to_a_pattern_is_refused(
    ask, control: FakeControl, option: str, value: str, name: str, following_name: str
):
    result = ask("fault", "add", "timeout", option, value)

    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: Invalid value for '{option}': the comma before `{following_name}=` can mean two "
        f"things: write `\\,` if it belongs to the pattern of {name}, or use {option} once for each "
        "name\n"
    )
    assert control.requests == []


@pytest.mark.parametrize(
    ("option", "first", "second"),
    [("--header", "X-A=1", "x-a=2"), ("--query", "limit=5", "limit=6"), ("--body", "a=1", "a=2")],
)
def test_a_second_pattern_for_a_name_is_refused(
    ask, control: FakeControl, option: str, first: str, second: str
):
    result = ask("fault", "add", "timeout", option, first, option, second)

    name = second.partition("=")[0]
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: Invalid value for '{option}': {name} occurs twice, but a fault has only one "
        "pattern for each name\n"
    )
    assert control.requests == []


def test_an_escaped_comma_belongs_to_its_pattern(ask, control: FakeControl):
    control.on("POST /worlds/default/faults", refusal(400, "this fault is impossible"))

    ask("fault", "add", "timeout", "--header", "cookie=a=1\\,b=2", "--query", "limit=5,cursor=x")

    (request,) = control.requests
    assert request.body == {
        "timeout": {},
        "header": {"cookie": "a=1,b=2"},
        "query": {"limit": "5", "cursor": "x"},
    }


def test_a_refusal_that_names_a_value_after_a_comma_explains_the_comma(ask, control: FakeControl):
    control.on("POST /worlds/default/faults", refusal(400, "there is no condition 'b'"))

    result = ask("fault", "add", "timeout", "--while", "plan=free,b=2")

    assert result.stderr == (
        "Error: there is no condition 'b'; the comma before `b=` starts a new value: write `\\,` if "
        "the comma belongs to the value before it\n"
    )
