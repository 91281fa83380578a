"""`explore --outcomes` accuses no correct client, and names the mistake of each faulty client."""

from __future__ import annotations

import shutil
from urllib.request import Request, urlopen

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.world_summary import StateRows
from tests.lab.judge.explore_process import (
    explore_report,
    run_explore,
    shell_script,
    verdicts_by_point,
)
from tests.lab.judge.outcomes_client import CORRECT_BEHAVIORS, MISTAKES
from tests.support.plain_http import client_command
from tests.support.sampling import sampled

#: Sends a request with curl. The first argument of the shell becomes part of the Idempotency-Key.
CURL = (
    "curl -sS --max-time 5 -H 'Content-Type: application/json' "
    '-H "Authorization: Bearer $HOSTING_TOKEN" -H "Idempotency-Key: $$-$1" '
)
#: Defines what the other scripts use. `send KEY [OPTION ...] URL` sends a request.
PRELUDE = f"""
send() {{ {CURL} "${{@:2}}"; }}
url="$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID"
"""
APPLY_DOMAINS = f"""{PRELUDE}
id=$(send first -f -X PUT "$url/domains" | sed 's/.*"id":"\\([0-9A-Z]*\\)".*/\\1/')
[ -n "$id" ] || exit 1
for poll in 1 2 3 4 5; do
  state=$(send second -f "$HOSTING_BASE_URL/v1/operations/$id" | sed 's/.*"state":"\\([a-z]*\\)".*/\\1/')
  case "$state" in succeeded|failed|cancelled) break ;; esac
done
"""
CORRECT_SCRIPT = f'{APPLY_DOMAINS}[ "$state" = succeeded ]\n'
FAULTY_SCRIPT = f"{APPLY_DOMAINS}echo done\n"
NODE_WITHOUT_NULL_CHECK = """
const base = process.env.HOSTING_BASE_URL;
const url = `${base}/v1/projects/${process.env.HOSTING_PROJECT_ID}`;
const headers = { Authorization: `Bearer ${process.env.HOSTING_TOKEN}` };
const response = await fetch(`${url}/database/compute?environment=prod`, { headers });
if (!response.ok) process.exit(1);
const compute = await response.json();
console.log(compute.database.min_cu);
"""

#: The verdicts on a correct client. `unclear` is one of them: if a client continues without a value
#: that it could not read, only its output shows that it noticed.
VERDICTS_WITHOUT_A_MISTAKE = {"survived", "gave up", "waits", "unclear"}


def exit_code_of(verdict: str) -> int:
    """Return the exit code of `explore --point` for the verdict on a faulty client."""
    if verdict == "unclear":
        return 2
    return 1


def outcomes_client(behavior: str) -> tuple[str, ...]:
    """Return the arguments of `explore` that run the outcomes client."""
    return ("--", *client_command("tests.lab.judge.outcomes_client"), behavior)


def correct_client(behavior: str) -> tuple[str, ...]:
    """Return the arguments of `explore` that run a correct outcomes client."""
    options: tuple[str, ...] = ()
    if behavior == "patient":
        # This client waits in real time at every third point, longer than the default time limit.
        options = ("--time-limit", "4s")
    return (*options, *outcomes_client(behavior))


@pytest.mark.parametrize("behavior", sampled(CORRECT_BEHAVIORS, 5))
def test_explore_accuses_no_correct_client_of_a_mistake(behavior: str):
    report = explore_report("--outcomes", "--quick", *correct_client(behavior))

    assert set(verdicts_by_point(report).values()) <= VERDICTS_WITHOUT_A_MISTAKE


@pytest.mark.torture
@pytest.mark.parametrize("behavior", CORRECT_BEHAVIORS)
def test_explore_with_every_outcome_accuses_no_correct_client_of_a_mistake(behavior: str):
    report = explore_report("--outcomes", *correct_client(behavior))

    assert set(verdicts_by_point(report).values()) <= VERDICTS_WITHOUT_A_MISTAKE


#: The mistakes that every test run tries, with at least one for each verdict. The other mistakes are
#: tried only with the marker `torture`.
QUICK_MISTAKES = ("believing", "for-ever", "storming", "null-key", "null-blind", "again-and-again")


@pytest.mark.parametrize(
    "behavior",
    [
        *QUICK_MISTAKES,
        *(
            pytest.param(behavior, marks=pytest.mark.torture)
            for behavior in MISTAKES
            if behavior not in QUICK_MISTAKES
        ),
    ],
)
def test_explore_names_the_mistake_of_a_client_at_its_point(behavior: str):
    point, verdict = MISTAKES[behavior]
    options: list[str] = []
    if verdict == "hung":
        options += ["--time-limit", "6s"]

    process = run_explore(*options, "--trial", point, *outcomes_client(behavior))

    assert process.returncode == exit_code_of(verdict), process.stdout
    assert f"{point}  {verdict}: " in process.stdout + process.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize(
    ("script", "verdict"), [(CORRECT_SCRIPT, "gave up"), (FAULTY_SCRIPT, "blind success")]
)
def test_explore_judges_shell_scripts(script: str, verdict: str):
    command = ("--", "bash", "-c", script)

    report = explore_report("--faults", "fail,stick,abort:forbidden", *command)

    verdicts = verdicts_by_point(report)
    assert verdicts["apply_project_domains#1/abort:forbidden/lasting"] == "gave up"
    assert verdicts["apply_project_domains#1/fail/lasting"] == verdict
    assert verdicts["apply_project_domains#1/stick/lasting"] == verdict


SET_FLAG = 'send first -f -X PUT -d \'{"enabled":true}\' "$url/powered-by-flag"'
SCRIPT_MISTAKES = {
    "set_project_powered_by_flag#1/outage/lasting": (
        "blind success",
        f"{SET_FLAG} &> /dev/null; echo on",
    ),
    "set_project_powered_by_flag#1/abort:forbidden/lasting": (
        "repeated",
        f"for n in 1 2 3 4; do {SET_FLAG} && exit; sleep 0.1; done; exit 1",
    ),
    "get_dns_authorization#1/no_zone/lasting": (
        "unclear",
        """echo www.$(send first -f "$url/edge-dns" | sed 's/.*"zone": *"*\\([a-z.]*\\).*/\\1/')""",
    ),
}


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("point", sampled(SCRIPT_MISTAKES, 2))
def test_explore_names_the_mistakes_of_shell_scripts(point: str):
    verdict, script = SCRIPT_MISTAKES[point]

    process = run_explore("--trial", point, "--", "bash", "-c", PRELUDE + script)

    assert process.returncode == exit_code_of(verdict), process.stdout
    assert f"{point}  {verdict}: " in process.stdout + process.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize(("pause", "verdict"), [("15m", "gave up"), ("1s", "repeated")])
def test_requests_minutes_apart_are_not_judged_as_repeated(pause: str, verdict: str):
    advance = f'send second -o /dev/null -X POST -d \'{{"by":"{pause}"}}\' '
    world = '"$HOSTING_CONTROL_URL/worlds/$HOSTING_EMULATOR_WORLD/clock/advance"'
    script = f"for run in 1 2 3 4; do {SET_FLAG} && exit; {advance}{world}; done; exit 1"

    report = explore_report("--faults", "abort:forbidden", "--", "bash", "-c", PRELUDE + script)

    assert [point["verdict"] for point in report["points"]] == [verdict]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_broken_connection_does_not_count_as_a_crash_of_a_node_program():
    script = """
        const organization = `/v1/organizations/${process.env.HOSTING_ORGANIZATION_ID}`;
        const response = await fetch(`${process.env.HOSTING_BASE_URL}${organization}/user-api-keys`, {
          method: "POST",
          body: '{"name": "ci"}',
          headers: {
            Authorization: `Bearer ${process.env.HOSTING_TOKEN}`,
            "Content-Type": "application/json",
            "Idempotency-Key": crypto.randomUUID(),
          },
        });
        process.exit(response.ok ? 0 : 1);
    """

    report = explore_report(
        "--faults", "value_lost", "--", "node", "--input-type=module", "-e", script
    )

    assert set(verdicts_by_point(report).values()) == {"gave up"}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_explore_judges_node_programs():
    report = explore_report(
        "--faults",
        "database_null,abort:forbidden",
        "--",
        "node",
        "--input-type=module",
        "-e",
        NODE_WITHOUT_NULL_CHECK,
    )

    assert set(verdicts_by_point(report).values()) == {"unclear", "gave up"}


@pytest.mark.parametrize("later", ["2s", "59m"])
def test_worlds_with_a_running_clock_are_compared_at_the_same_moment(
    hosting_emulator: HostingEmulator, later: str
):
    hosting_emulator.clock.run()
    states: list[StateRows] = []
    for _ in range(2):
        with hosting_emulator.fork() as world:
            visit = RunVisit()
            visit.begin(world)
            if states:  # The second run takes longer than the first.
                world.clock.advance(later)
            request = Request(world.url("/v1/projects/{project}/domains"), method="PUT")
            for name, value in world.headers("owner", key="one").items():
                request.add_header(name, value)
            urlopen(request).close()
            visit.end(world)
            assert visit.observation is not None
            states.append(visit.observation.state)

    assert states[0] == states[1]
    assert "apply_project_domains of shop succeeded" in states[0]["operation"]


def test_explore_combines_wire_faults_and_outcomes():
    command = shell_script(
        f"{CURL} -f $HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/edge-dns || exit 3"
    )

    report = explore_report("--faults", "gateway_error", "--outcomes", "--max-runs", "4", *command)

    phases = {point["trial"].rpartition("/")[2] for point in report["points"]}
    assert phases == {"before_commit", "lasting"}
