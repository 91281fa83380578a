"""`scenario` finds scenarios by name or file, and reports each step of a story."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import jsonschema  # type: ignore[import-untyped]
import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.scenario_files import is_scenario_file, library_names
from tests.support.control_samples import new_world, story_report
from tests.support.fake_control import FakeControl, refusal

RUN = "POST /scenarios/run"
GOOD = """\
name: one-call
description: One call, answered as it should be.
story:
  - call: get_dns_authorization
    expect: {status: 200, body: {status: authorized}}
  - advance: 10m
"""
SAVED = """\
name: pages
description: The last step needs the first.
story:
  - call: list_deployments
    query: {limit: 1}
    save: {cursor: next_cursor}
  - call: get_dns_authorization
  - call: list_deployments
    query: {cursor: "${cursor}"}
    expect: {status: 200}
"""
BAD_ANSWER = GOOD.replace("status: authorized", "status: pending, zone: other.example")
BROKEN = GOOD.replace("call: get_dns", "cal: get_dns")

STEP: dict[str, Any] = {
    "n": 1,
    "line": 4,
    "title": "list_deployments",
    "passed": True,
    "message": "status 200",
    "waited_ms": 0,
    "differences": [],
    "responses": [],
    "nearest": [],
}
FAILED_STEP: dict[str, Any] = {
    "n": 2,
    "line": 7,
    "title": "the provider is back",
    "passed": False,
    "message": "status 503",
    "waited_ms": 0,
    "responses": [],
    "nearest": [],
    "differences": [
        {"at": "status", "expected": 200, "found": 503, "line": 8, "column": 24},
        {"at": "body.code", "expected": {"a": 1}, "found": "(absent)", "line": 9, "column": 18},
        {"at": "headers.X\x00", "expected": "<&>", "found": None, "line": 10, "column": 15},
        {"at": "body.name", "expected": "", "found": "two\nlines", "line": 11, "column": 18},
    ],
}
PASSED = story_report(STEP)
FAILED = story_report(STEP, FAILED_STEP)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD, encoding="utf-8")
    return path


# --- Which scenario ------------------------------------------------------------------------------


def test_a_name_is_a_file_if_it_has_a_slash_or_a_yaml_suffix_or_exists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("mine").write_text(GOOD, encoding="utf-8")
    names = ("-", "a/b", "mine", "none.yaml", "none.yml", "none", "none.yaml.txt")

    assert [name for name in names if is_scenario_file(name)] == [*names[:5]]


@pytest.mark.parametrize(
    ("step", "options", "message"),
    [
        ("n=1", [], "1 of 3 steps is left after 2 runs."),
        ("n=3", [], "2 of 3 steps are left after 3 runs."),
        (
            "n=3",
            ["--max-runs", "2"],
            "3 of 3 steps are left after 2 runs; the search stopped early: increase --max-runs.",
        ),
    ],
)
def test_scenario_shrink_says_how_many_steps_are_left(
    run, file: Path, step: str, options: list[str], message: str
):
    file.write_text(SAVED, encoding="utf-8")

    result = run("scenario", "shrink", str(file), "--step", step, *options)

    assert result.exit_code == 0
    assert result.stderr == f"{message}\n"


def test_scenario_list_shows_the_shipped_library(run):
    lines = run("scenario", "list").stdout.splitlines()

    assert lines[0].split() == ["SCENARIO", "KIND", "DESCRIPTION"]
    assert [line.split()[0] for line in lines[1:]] == library_names()


def test_scenario_list_asks_the_emulator_of_the_option_url(run, control: FakeControl):
    items = [{"name": "outage", "kind": "world", "description": "The provider is out."}]
    control.on("GET /scenarios", {"items": items})

    result = run("scenario", "list", "--json", "--url", control.url)

    assert json.loads(result.stdout) == items


def test_scenario_show_prints_yaml_that_scenario_check_accepts(run, tmp_path: Path):
    path = tmp_path / "mine.yaml"

    text = run("scenario", "show", "stuck-operation").stdout
    message = run("scenario", "show", "stuck-operation", "--output", str(path)).stderr

    assert path.read_text(encoding="utf-8") == text
    assert message == f"Scenario stuck-operation was written to {path}.\n"
    assert run("scenario", "check", str(path)).exit_code == 0


def test_scenario_show_asks_the_emulator_of_the_option_url(run, control: FakeControl):
    control.on(
        "GET /scenarios/outage",
        {"name": "outage", "kind": "world", "description": "", "text": "name: x\n"},
    )

    assert run("scenario", "show", "outage", "--url", control.url).stdout == "name: x\n"


def test_scenario_load_sends_a_file(ask, control: FakeControl, file: Path):
    control.on("POST /worlds/default/scenario", new_world("default"))

    result = ask("scenario", "load", str(file), "--json")

    assert json.loads(result.stdout) == new_world("default")
    bodies = control.bodies("POST /worlds/default/scenario")
    assert bodies == [{"text": GOOD, "file": str(file)}]


def test_scenario_load_reads_stdin(ask, control: FakeControl):
    control.on("POST /worlds/default/scenario", new_world("default"))

    ask("scenario", "load", "-", stdin=GOOD)

    bodies = control.bodies("POST /worlds/default/scenario")
    assert bodies == [{"text": GOOD, "file": "stdin"}]


def test_scenario_load_prints_a_refusal_in_one_line(ask, control: FakeControl, file: Path):
    problem = refusal(400, f"{file}:4:5: unknown field 'cal'")
    control.on("POST /worlds/default/scenario", problem)

    result = ask("scenario", "load", str(file))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == f"Error: {file}:4:5: unknown field 'cal'\n"


# --- Check ---------------------------------------------------------------------------------------


def test_scenario_check_runs_a_story_without_an_emulator(run, file: Path):
    result = run("scenario", "check", str(file))

    lines = result.stdout.splitlines()
    assert result.exit_code == 0
    assert lines[0] == f"one-call ({file})"
    assert lines[1] == "  ok     1  get_dns_authorization: status 200"
    assert lines[2].startswith("  ok     2  advance 10m: ")
    assert result.stderr == "1 story: 1 passed, 0 failed.\n"


def test_scenario_check_shows_how_a_response_differs(run, file: Path):
    file.write_text(BAD_ANSWER, encoding="utf-8")

    result = run("scenario", "check", str(file))

    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"one-call ({file})",
        "  FAIL   1  get_dns_authorization: status 200 (line 4)",
        "            request 1: 200",
        "            body.status (line 5, column 42):",
        "            - pending",
        "            + authorized",
        "            body.zone (line 5, column 57):",
        "            - other.example",
        "            + acme.example",
    ]
    assert result.stderr == "1 story: 0 passed, 1 failed.\n"


def test_scenario_check_continues_after_a_broken_file(run, file: Path, tmp_path: Path):
    broken = tmp_path / "broken.yaml"
    broken.write_text(BROKEN, encoding="utf-8")

    result = run("scenario", "check", str(broken), str(file), "stuck-operation")

    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"ERROR {broken}:4:")
    assert "'cal'" in lines[0]
    assert "call?" in lines[0]
    assert result.stderr == "2 stories: 2 passed, 0 failed. 1 scenario could not be read.\n"


def test_scenario_check_prints_all_errors_of_a_file(run, tmp_path: Path):
    path = tmp_path / "wrong.yaml"
    path.write_text("name: wrong\ndescription: Wrong.\nstory:\n  - {}\n  - {call: x}\n", "utf-8")
    path.write_text(path.read_text("utf-8").replace("{}", "{to: noon}"), "utf-8")

    result = run("scenario", "check", str(path))

    assert result.exit_code == 2
    lines = result.stdout.splitlines()
    assert [line.split(":")[1] for line in lines] == ["4", "5"]
    assert all(line.startswith(f"ERROR {path}:") for line in lines)
    assert result.stderr == "1 scenario could not be read.\n"


def test_a_file_without_a_story_is_no_passed_story(run, file: Path, tmp_path: Path):
    path = tmp_path / "world.yaml"
    junit = tmp_path / "junit.xml"
    path.write_text("name: world\ndescription: Only a world.\n", "utf-8")

    result = run("scenario", "check", str(path), str(file), "--junit", str(junit))

    assert result.exit_code == 0
    assert "no story: the world was built" in result.stdout
    assert result.stderr == "1 story: 1 passed, 0 failed. Scenarios without a story: 1.\n"
    [skipped] = Xml.parse(junit).iter("skipped")
    assert skipped.get("message") == "the scenario has no story"


def test_scenario_check_prints_a_list_of_reports_as_json(run, file: Path, tmp_path: Path):
    broken = tmp_path / "broken.yaml"
    broken.write_text(BROKEN, encoding="utf-8")

    result = run("scenario", "check", str(file), str(broken), "--json")

    good, bad = json.loads(result.stdout)
    assert (good["scenario"], good["file"], good["passed"]) == ("one-call", str(file), True)
    assert [step["n"] for step in good["steps"]] == [1, 2]
    assert (bad["file"], bad["passed"]) == (str(broken), False)
    assert bad["error"].startswith(f"{broken}:4:")
    assert result.stderr == ""


def test_scenario_check_reads_stdin(run):
    assert run("scenario", "check", "-", stdin=GOOD).stdout.startswith("one-call (stdin)\n")


def test_an_unreadable_file_does_not_hide_the_reports_of_other_files(run, tmp_path: Path):
    good = tmp_path / "good.yaml"
    good.write_text(GOOD)
    junit = tmp_path / "report.xml"

    result = run("scenario", "check", "nowhere.yaml", str(good), "--json", "--junit", str(junit))

    missing, passed = json.loads(result.stdout)
    assert (result.exit_code, passed["passed"]) == (2, True)
    assert missing["error"] == "cannot read nowhere.yaml: No such file or directory"
    assert len(Xml.parse(junit).findall("testsuite")) == 2


# --- Run -----------------------------------------------------------------------------------------


def test_scenario_run_reports_each_step(ask, control: FakeControl):
    control.on(RUN, PASSED)

    result = ask("scenario", "run", "outage")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "outage (outage.yaml)",
        "  ok     1  list_deployments: status 200",
    ]
    assert control.bodies(RUN) == [{"name": "outage"}]


def test_scenario_run_sends_a_file_and_a_world(ask, control: FakeControl, file: Path):
    control.on(RUN, PASSED)

    ask("scenario", "run", str(file), "--world", "ci-1")

    assert control.bodies(RUN) == [{"text": GOOD, "file": str(file), "world": "ci-1"}]


def test_scenario_run_shows_every_difference(ask, control: FakeControl):
    control.on(RUN, FAILED)

    result = ask("scenario", "run", "outage")

    assert result.exit_code == 1
    assert result.stdout.splitlines()[2:] == [
        "  FAIL   2  the provider is back: status 503 (line 7)",
        "            status (line 8, column 24):",
        "            - 200",
        "            + 503",
        "            body.code (line 9, column 18):",
        "            - {",
        '            -   "a": 1',
        "            - }",
        "            + (absent)",
        "            headers.X\x00 (line 10, column 15):",
        "            - <&>",
        "            + null",
        "            body.name (line 11, column 18):",
        '            - ""',
        "            + two",
        "            + lines",
    ]


def test_scenario_run_prints_a_list_of_reports_as_json(ask, control: FakeControl):
    control.on(RUN, PASSED, FAILED)

    result = ask("scenario", "run", "outage", "other", "--json")

    assert result.exit_code == 1
    assert json.loads(result.stdout) == [PASSED, FAILED]


def test_scenario_run_exits_2_for_an_invalid_scenario(ask, control: FakeControl):
    control.on(RUN, refusal(400, "x.yaml:1:1: nothing is here"))

    result = ask("scenario", "run", "x")

    assert (result.exit_code, result.stdout) == (2, "ERROR x.yaml:1:1: nothing is here\n")


def test_junit_of_scenario_run_has_a_suite_for_each_scenario_and_a_case_for_each_step(
    ask, control: FakeControl, tmp_path: Path
):
    control.on(RUN, PASSED, FAILED, refusal(400, "x.yaml:1:1: no"))
    path = tmp_path / "report.xml"

    result = ask("scenario", "run", "a", "b", "c", "--junit", str(path))

    assert result.exit_code == 2
    root = Xml.parse(path).getroot()
    assert root.attrib == {
        "name": "hosting-emulator scenarios",
        "tests": "4",
        "failures": "1",
        "errors": "1",
    }
    passed, failed, invalid = root
    assert passed.attrib == {"name": "outage", "tests": "1", "failures": "0", "errors": "0"}
    case = failed[1]
    assert case.attrib == {
        "classname": "outage",
        "name": "2. the provider is back",
        "file": "outage.yaml",
        "line": "7",
    }
    assert case[0].attrib == {"message": "status 503"}
    assert (case[0].text or "").splitlines() == [
        "status (line 8, column 24):",
        "- 200",
        "+ 503",
        "body.code (line 9, column 18):",
        "- {",
        '-   "a": 1',
        "- }",
        "+ (absent)",
        "headers.X\ufffd (line 10, column 15):",
        "- <&>",
        "+ null",
        "body.name (line 11, column 18):",
        '- ""',
        "+ two",
        "+ lines",
    ]
    error = invalid.find("testcase/error")
    assert error is not None
    assert error.text == "x.yaml:1:1: no"


# --- Schema --------------------------------------------------------------------------------------


def test_scenario_schema_prints_the_schema_of_the_control_api(
    run, hosting_emulator: HostingEmulator
):
    """tests/golden checks that the library is valid by this schema."""
    schema = json.loads(run("scenario", "schema").stdout)

    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema == hosting_emulator.control.contract("scenario-schema.json")


def test_scenario_schema_writes_a_file_from_the_emulator_of_the_option_url(
    run, control: FakeControl, tmp_path: Path
):
    control.on("GET /contract/scenario-schema.json", {"type": "object"})
    path = tmp_path / "s.json"

    result = run("scenario", "schema", "--output", str(path), "--url", control.url)

    assert result.stderr == f"The schema was written to {path}.\n"
    assert json.loads(path.read_text(encoding="utf-8")) == {"type": "object"}


# --- What a failing step shows -------------------------------------------------------------------

REFUSED = """\
name: refused
description: The id of a refused request is saved.
story:
  - call: list_deployments
  - call: apply_project_domains
    user: reader
    save: {op: id}
"""
NOT_SAVED = "the response was 403 forbidden, so there is no id to save as op"


@pytest.fixture
def refused(tmp_path: Path) -> Path:
    path = tmp_path / "refused.yaml"
    path.write_text(REFUSED, encoding="utf-8")
    return path


def test_a_failing_step_shows_the_refusal_and_its_request(run, refused: Path):
    result = run("scenario", "check", str(refused))

    assert result.exit_code == 1
    assert NOT_SAVED in result.stdout
    assert "request 2: 403 forbidden: Only a project maintainer" in result.stdout


def test_json_of_a_failing_step_has_the_refusal_and_its_request(run, refused: Path):
    [report] = json.loads(run("scenario", "check", str(refused), "--json").stdout)

    step = report["steps"][-1]
    [response] = step["responses"]
    assert step["message"] == NOT_SAVED
    assert (response["n"], response["status"], response["code"]) == (2, 403, "forbidden")
    assert "maintainer" in response["detail"]


def test_junit_of_a_failing_step_has_the_refusal_and_its_request(
    run, refused: Path, tmp_path: Path
):
    run("scenario", "check", str(refused), "--junit", str(tmp_path / "report.xml"))

    failure = Xml.parse(tmp_path / "report.xml").find(".//failure")
    assert failure is not None
    assert failure.get("message") == NOT_SAVED
    assert "request 2: 403 forbidden" in str(failure.text)


def test_a_failing_log_shows_the_nearest_requests(run, refused: Path):
    refused.write_text(
        REFUSED.partition("  - call: apply")[0]
        + "  - log: {call: list_deployments, status: 4xx}\n",
        encoding="utf-8",
    )

    assert "request 1 differs: status is 200" in run("scenario", "check", str(refused)).stdout


def test_an_impossible_value_is_an_invalid_file(run, refused: Path):
    refused.write_text(
        REFUSED.partition("  - call: apply")[0] + "  - log: {status: 999}\n", encoding="utf-8"
    )

    result = run("scenario", "check", str(refused))

    assert result.exit_code == 2
    assert "refused.yaml:5:19: " in result.stdout + result.stderr


def test_a_failed_step_names_a_response_that_was_lost(ask, control: FakeControl, file: Path):
    response = {"n": 2, "status": None, "code": None, "lost": "timeout", "detail": None}
    step = {**FAILED_STEP, "differences": [], "responses": [response]}
    control.on(RUN, story_report(step))

    output = ask("scenario", "run", str(file)).stdout

    assert "            request 2: the response was lost (timeout)\n" in output


def test_a_scenario_file_adds_the_records_of_its_world(ask, control: FakeControl, tmp_path: Path):
    path = tmp_path / "own.yaml"
    path.write_text("name: x\ndescription: y\nworld:\n  extends: default\n  users: {zoe: {}}\n")
    sent = "POST /worlds/default/interventions"
    control.on(sent, {"intervention": "add", "message": "Added 1 user."})

    result = ask("world", "add", "--file", str(path))

    assert result.exit_code == 0, result.stderr
    assert control.bodies(sent) == [{"add": {"users": {"zoe": {}}}}]
