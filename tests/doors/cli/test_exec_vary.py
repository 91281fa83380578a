"""`exec --vary` runs a client with a defect, detects it, and prints a command that repeats it."""

from __future__ import annotations

import shlex

from tests.support.exec_process import run
from tests.support.warm import programs

#: A client that takes a page that is not full for the last page.
CLIENT = """
import json, os, sys, urllib.request
root = f"{os.environ['HOSTING_BASE_URL']}/v1/projects/{os.environ['HOSTING_PROJECT_ID']}/deployments"
headers = {"Authorization": "Bearer " + os.environ["HOSTING_TOKEN"]}
seen, cursor = 0, ""
while True:
    request = urllib.request.Request(f"{root}?limit=20{cursor}", headers=headers)
    page = json.load(urllib.request.urlopen(request))
    seen += len(page["items"])
    if len(page["items"]) < 20:
        break
    cursor = "&cursor=" + page["next_cursor"]
print(os.environ.get("HOSTING_EMULATOR_VARY"), os.environ.get("HOSTING_EMULATOR_VARY_ONLY"))
sys.exit(seen != 45)
"""


def python(code: str) -> tuple[str, ...]:
    return ("--", str(programs() / "python"), "-c", code)


def test_the_point_that_matters_is_found_and_its_line_shows_it_again():
    usual = run("--quiet", *python(CLIENT))
    result = run("--clock", "frozen", "--vary", "1", "--shrink", *python(CLIENT))

    assert (usual.returncode, usual.stdout) == (0, "None None\n")
    # The output of the runs of the search is not shown.
    assert (result.returncode, result.stdout) == (1, "1 \n")
    assert "The command fails with page-size alone" in result.stderr
    repeat_command = shlex.split(result.stderr.rpartition("Repeat with: ")[2])
    assert repeat_command[:7] == [
        "hosting-emulator",
        "exec",
        "--clock",
        "frozen",
        "--vary",
        "1",
        "--vary-only",
    ]
    repeated = run(*repeat_command[2:])
    assert (repeated.returncode, repeated.stdout) == (1, "1 page-size\n")


def test_worlds_that_the_command_makes_vary_too():
    code = """
import json, os, urllib.request
def ask(body):
    request = urllib.request.Request(os.environ["HOSTING_CONTROL_URL"] + "/worlds",
        json.dumps(body).encode(), {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))["variation"]
print(json.dumps([ask({}), ask({"vary": "9"})["seed"], ask({"vary": None})]))
"""
    result = run("--vary", "7", "--vary-only", "key-order", *python(code))

    assert result.stdout == (
        '[{"seed": "7", "only": ["key-order"], "assumed": {}, "varied": {}}, "9", null]\n'
    )


#: A client that succeeds, but repeats a refused request if a page is not full.
REPEATING_CLIENT = """
import json, os, urllib.error, urllib.request
root = f"{os.environ['HOSTING_BASE_URL']}/v1/projects/{os.environ['HOSTING_PROJECT_ID']}"
headers = {"Authorization": "Bearer " + os.environ["HOSTING_TOKEN"]}
first_page = urllib.request.Request(f"{root}/deployments?limit=20", headers=headers)
page = json.load(urllib.request.urlopen(first_page))
change = urllib.request.Request(f"{root}/domains", headers=headers, method="PUT")
for attempt in range(2 if len(page["items"]) < 20 else 0):
    try:
        urllib.request.urlopen(change)
    except urllib.error.HTTPError:
        pass
"""


def test_shrinking_counts_conduct_findings_if_exec_does():
    result = run("--vary", "2", "--shrink", "--conduct", "error", *python(REPEATING_CLIENT))

    assert result.returncode == 1, result.stderr
    assert "The command fails with page-size alone" in result.stderr
