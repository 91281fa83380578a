"""`explore --outcomes` accuses no correct client and names the mistake of each faulty one."""

from __future__ import annotations

import shutil
from urllib.request import Request, urlopen

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.world_summary import StateRows
from tests.lab.judge.outcomes_client import CORRECT, FAULTY
from tests.lab.judge.test_explore import explored, run, sh
from tests.support.plain_http import client_command
from tests.support.sampling import sampled

ASK = (
    "curl -sS --max-time 5 -H 'Content-Type: application/json' "
    '-H "Authorization: Bearer $HOSTING_TOKEN" -H "Idempotency-Key: $$-$1" '
)
DOMAINS = f"""
ask() {{ {ASK} "${{@:2}}"; }}
url="$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID"
id=$(ask one -f -X PUT "$url/domains" | sed 's/.*"id":"\\([0-9A-Z]*\\)".*/\\1/')
[ -n "$id" ] || exit 1
for poll in 1 2 3 4 5; do
  state=$(ask two -f "$HOSTING_BASE_URL/v1/operations/$id" | sed 's/.*"state":"\\([a-z]*\\)".*/\\1/')
  case "$state" in END) break ;; esac
done
"""
CORRECT_SHELL = DOMAINS.replace("END", "succeeded|failed|cancelled") + '[ "$state" = succeeded ]\n'
FAULTY_SHELL = DOMAINS.replace("END", "succeeded|failed|cancelled") + "echo done\n"
NODE = """
const base = process.env.HOSTING_BASE_URL;
const url = `${base}/v1/projects/${process.env.HOSTING_PROJECT_ID}`;
const headers = { Authorization: `Bearer ${process.env.HOSTING_TOKEN}` };
const read = await fetch(`${url}/database/compute?environment=prod`, { headers });
if (!read.ok) process.exit(1);
const compute = await read.json();
console.log(compute.database.min_cu);
"""


#: If a client continues without a value that it could not read, only its output shows that it noticed.
ACCUSED_OF_NOTHING = {"survived", "gave up", "waits", "unclear"}


def client(manner: str) -> tuple[str, ...]:
    return ("--", *client_command("tests.lab.judge.outcomes_client"), manner)


@pytest.mark.parametrize("manner", sampled(CORRECT, 5))
def test_explore_accuses_no_correct_client_of_a_mistake(manner: str):
    report = explored("--outcomes", "--quick", *client(manner))

    assert {point["verdict"] for point in report["points"]} <= ACCUSED_OF_NOTHING


@pytest.mark.torture
@pytest.mark.parametrize("manner", CORRECT)
def test_explore_with_every_outcome_accuses_no_correct_client_of_a_mistake(manner: str):
    report = explored("--outcomes", *client(manner))

    assert {point["verdict"] for point in report["points"]} <= ACCUSED_OF_NOTHING


#: One mistake for each verdict, and one of another kind; the others are torture.
SAMPLED_FAULTY = ("believing", "for-ever", "storming", "null-key", "null-blind", "again-and-again")


@pytest.mark.parametrize(
    "manner",
    [m if m in SAMPLED_FAULTY else pytest.param(m, marks=pytest.mark.torture) for m in FAULTY],
)
def test_explore_names_the_mistake_of_a_client_at_its_point(manner: str):
    point, verdict = FAULTY[manner]

    options = ("--time-limit", "6s") if verdict == "hung" else ()
    process = run(*options, "--point", point, *client(manner))

    assert process.returncode == (2 if verdict == "unclear" else 1), process.stdout
    assert f"{point}  {verdict}: " in process.stdout + process.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize(("script", "survives"), [(CORRECT_SHELL, True), (FAULTY_SHELL, False)])
def test_explore_judges_shell_scripts(script: str, survives: bool):
    command = ("--", "bash", "-c", script)

    report = explored("--faults", "fail,stick,abort:forbidden", *command)

    verdicts = {point["point"]: point["verdict"] for point in report["points"]}
    assert verdicts["apply_project_domains#1/abort:forbidden/lasting"] == "gave up"
    verdict = "gave up" if survives else "blind success"
    assert verdicts["apply_project_domains#1/fail/lasting"] == verdict
    assert verdicts["apply_project_domains#1/stick/lasting"] == verdict


FLAG = 'ask one -f -X PUT -d \'{"enabled":true}\' "$url/powered-by-flag"'
SHELL_MISTAKES = {
    "set_project_powered_by_flag#1/outage/lasting": (
        "blind success",
        f"{FLAG} &> /dev/null; echo on",
    ),
    "set_project_powered_by_flag#1/abort:forbidden/lasting": (
        "repeated",
        f"for n in 1 2 3 4; do {FLAG} && exit; sleep 0.1; done; exit 1",
    ),
    "get_dns_authorization#1/no_zone/lasting": (
        "unclear",
        """echo www.$(ask one -f "$url/edge-dns" | sed 's/.*"zone": *"*\\([a-z.]*\\).*/\\1/')""",
    ),
}


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("point", sampled(SHELL_MISTAKES, 2))
def test_explore_names_the_mistakes_of_shell_scripts(point: str):
    verdict, script = SHELL_MISTAKES[point]
    prelude = DOMAINS.partition("id=")[0]

    process = run("--point", point, "--", "bash", "-c", prelude + script)

    assert process.returncode == (2 if verdict == "unclear" else 1), process.stdout
    assert f"{point}  {verdict}: " in process.stdout + process.stderr


@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize(("pause", "verdict"), [("15m", "gave up"), ("1s", "repeated")])
def test_requests_minutes_apart_are_not_judged_as_repeated(pause: str, verdict: str):
    advance = f'ask two -o /dev/null -X POST -d \'{{"by":"{pause}"}}\' '
    world = '"$HOSTING_CONTROL_URL/worlds/$HOSTING_EMULATOR_WORLD/clock/advance"'
    script = f"for run in 1 2 3 4; do {FLAG} && exit; {advance}{world}; done; exit 1"
    prelude = DOMAINS.partition("id=")[0]

    report = explored("--faults", "abort:forbidden", "--", "bash", "-c", prelude + script)

    assert [point["verdict"] for point in report["points"]] == [verdict]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_a_broken_connection_does_not_count_as_a_crash_of_a_node_program():
    script = """
        const organization = `/v1/organizations/${process.env.HOSTING_ORGANIZATION_ID}`;
        const made = await fetch(`${process.env.HOSTING_BASE_URL}${organization}/user-api-keys`, {
          method: "POST",
          body: '{"name": "ci"}',
          headers: {
            Authorization: `Bearer ${process.env.HOSTING_TOKEN}`,
            "Content-Type": "application/json",
            "Idempotency-Key": crypto.randomUUID(),
          },
        });
        process.exit(made.ok ? 0 : 1);
    """

    report = explored("--faults", "value_lost", "--", "node", "--input-type=module", "-e", script)

    assert {point["verdict"] for point in report["points"]} == {"gave up"}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_explore_judges_node_programs():
    report = explored(
        "--faults",
        "database_null,abort:forbidden",
        "--",
        "node",
        "--input-type=module",
        "-e",
        NODE,
    )

    assert {point["verdict"] for point in report["points"]} == {"unclear", "gave up"}


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
            if states:  # the second of two identical runs takes longer
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
    command = sh(f"{ASK} -f $HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/edge-dns || exit 3")

    report = explored("--faults", "gateway_error", "--outcomes", "--max-runs", "4", *command)

    phases = {point["point"].rpartition("/")[2] for point in report["points"]}
    assert phases == {"before_commit", "lasting"}
