"""The verdict of `exec` covers every world and every request."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.exec_process import run
from tests.support.warm import COMMAND, programs

MISSING = "missing-idempotency-key"
NEW_KEY = "new-key-after-uncertainty"
needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")

#: The beginning of each Python command: requests to the default world and to the control API.
HELPERS = """
import json, os, socket, sys, time, urllib.error, urllib.request as u
from urllib.parse import urlsplit
E = os.environ
def send(method, url, body=None, **headers):
    data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {name.replace('_', '-'): value for name, value in headers.items()}
    request = u.Request(url, data, headers, method=method)
    try:
        with u.urlopen(request, timeout=30) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read()
def control(method, path, body=None):
    return send(method, E['HOSTING_CONTROL_URL'] + '/' + path, body, Content_Type='application/json')
def call(method, path, body=None, *, base=None, token=None, project=None, **headers):
    path = path.format(project=project or E['HOSTING_PROJECT_ID'])
    headers['Authorization'] = 'Bearer ' + (token or E['HOSTING_TOKEN'])
    if body is not None:
        headers['Content-Type'] = 'application/json'
    return send(method, (base or E['HOSTING_BASE_URL']) + '/v1/projects/' + path, body, **headers)
def careful():
    for _ in range(3):
        assert call('GET', '{project}/edge-dns')[0] == 200
    status, text = call('PUT', '{project}/powered-by-flag', {'enabled': True}, Idempotency_Key='k-1')
    assert status == 200, text
def mistake(**options):
    status, text = call('PUT', '{project}/domains', **options)
    assert status == 400, text
def world():
    status, text = control('POST', 'worlds', {'token': {}, 'clock': {'mode': 'frozen'}})
    made = json.loads(text)
    token = made['token']['access_token']
    return made, {'base': made['base_url'], 'token': token, 'project': made['projects'][0]['id']}
"""

NODE_CLIENT = """
const control = process.env.HOSTING_CONTROL_URL;
const headers = {"Content-Type": "application/json"};
const made = await (await fetch(`${control}/worlds`, {
  method: "POST", headers, body: JSON.stringify({token: {}, clock: {mode: "frozen"}}),
})).json();
const authorization = `Bearer ${made.token.access_token}`;
const key = process.argv[2] === "careful" ? {"Idempotency-Key": "key-1"} : {};
const response = await fetch(`${made.base_url}/v1/projects/${made.projects[0].id}/powered-by-flag`, {
  method: "PUT",
  headers: {...headers, ...key, authorization},
  body: JSON.stringify({enabled: true}),
});
if (response.status !== (process.argv[2] === "careful" ? 200 : 400)) process.exit(9);
await response.text();
const gone = await fetch(`${control}/worlds/${made.name}`, {method: "DELETE"});
if (gone.status !== 204) process.exit(8);
"""


def python(*arguments: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python code that may use the helpers as a command of `exec`."""
    return run(*arguments, "--", str(programs() / "python"), "-c", HELPERS + code)


def run_judged(code: str) -> subprocess.CompletedProcess[str]:
    return python("--conduct", "error", "--report", "never", code=code)


@needs_node
@pytest.mark.parametrize(("behavior", "exit_code"), [("careless", 1), ("careful", 0)])
def test_a_world_that_a_node_script_made_and_deleted_is_judged(
    behavior: str, exit_code: int, tmp_path: Path
) -> None:
    script = tmp_path / "client.mjs"
    script.write_text(NODE_CLIENT)

    result = run("--conduct", "error", "--report", "never", "--", "node", str(script), behavior)

    assert result.returncode == exit_code, result.stderr
    assert (MISSING in result.stderr) == (exit_code == 1)


def test_a_world_that_a_python_script_made_and_deleted_is_judged() -> None:
    result = run_judged(
        "made, at = world()\nmistake(**at)\ncontrol('DELETE', 'worlds/' + made['name'])"
    )

    assert result.returncode == 1
    assert MISSING in result.stderr
    assert "deleted" in result.stderr


@pytest.mark.parametrize(
    "replacement",
    [
        "control('POST', 'worlds/default/reset')",
        "control('POST', 'worlds/default/scenario', {'name': 'stuck-operation'})",
        "control('PUT', 'worlds/default/state', json.loads(control('GET', 'worlds/default/state')[1]))",
    ],
    ids=["reset", "scenario", "state"],
)
def test_a_mistake_before_the_world_begins_anew_is_judged(replacement: str) -> None:
    result = run_judged(f"mistake()\nassert {replacement}[0] == 200\n")

    assert result.returncode == 1, result.stderr
    assert MISSING in result.stderr


def test_the_first_of_more_requests_than_the_log_holds_is_judged() -> None:
    result = run_judged(
        "import http.client\n"
        "mistake()\n"
        "parts = urlsplit(E['HOSTING_BASE_URL'])\n"
        "connection = http.client.HTTPConnection(parts.hostname, parts.port)\n"
        "path = f\"/v1/projects/{E['HOSTING_PROJECT_ID']}/edge-dns\"\n"
        "for _ in range(1200):\n"
        "    connection.request('GET', path, headers={'Authorization': 'Bearer ' + E['HOSTING_TOKEN']})\n"
        "    connection.getresponse().read()\n"
    )

    assert result.returncode == 1
    assert MISSING in result.stderr


GIVE_UP = """
control('POST', 'worlds/default/faults', {'latency': {'delay_ms': 600000}, 'times': 1})
parts = urlsplit(E['HOSTING_BASE_URL'])
with socket.create_connection((parts.hostname, parts.port)) as connection:
    connection.sendall((
        f"PUT /v1/projects/{E['HOSTING_PROJECT_ID']}/domains HTTP/1.1\\r\\nHost: {parts.netloc}\\r\\n"
        f"Authorization: Bearer {E['HOSTING_TOKEN']}\\r\\nIdempotency-Key: first\\r\\n\\r\\n"
    ).encode())
    while not json.loads(control('GET', 'worlds/default/requests')[1])['items']:
        pass
status, text = call('PUT', '{project}/domains', Idempotency_Key='%s')
assert status == 202, text
operation = json.loads(text)
"""


@pytest.mark.parametrize(("key", "exit_code"), [("second", 1), ("first", 0)])
def test_a_client_that_gives_up_before_the_response_is_judged_with_both_requests(
    key: str, exit_code: int
) -> None:
    off = ("--skip-rule", "operation-not-followed")
    result = python("--conduct", "error", *off, "--report", "never", code=GIVE_UP % key)

    assert result.returncode == exit_code, result.stderr
    assert (NEW_KEY in result.stderr) == (exit_code == 1)


GIVE_UP_IN_A_DELETED_WORLD = """
made, options = world()
path = 'worlds/' + made['name']
control('POST', path + '/faults', {'latency': {'delay_ms': 600000}, 'times': 1})
parts = urlsplit(made['base_url'])
body = b'{"enabled": true}'
with socket.create_connection((parts.hostname, parts.port)) as connection:
    connection.sendall((
        f"PUT {parts.path}/v1/projects/{options['project']}/powered-by-flag HTTP/1.1\\r\\n"
        f"Host: {parts.netloc}\\r\\nAuthorization: Bearer {options['token']}\\r\\n"
        f"Idempotency-Key: first\\r\\nContent-Type: application/json\\r\\n"
        f"Content-Length: {len(body)}\\r\\n\\r\\n"
    ).encode() + body)
    while not json.loads(control('GET', path + '/requests')[1])['items']:
        pass
status, text = call('PUT', '{project}/powered-by-flag', body, Idempotency_Key='%s', **options)
assert status == 200, text
assert control('DELETE', path)[0] == 204
"""


@pytest.mark.parametrize(("key", "exit_code"), [("second", 1), ("first", 0)])
def test_a_request_with_a_body_that_waits_while_its_world_is_deleted_is_judged(
    key: str, exit_code: int
) -> None:
    result = run_judged(GIVE_UP_IN_A_DELETED_WORLD % key)

    assert result.returncode == exit_code, result.stderr
    assert (NEW_KEY in result.stderr) == (exit_code == 1)


def test_a_body_in_latin_1_does_not_break_the_judges() -> None:
    body = "'{\"name\":\"José\"}'.encode('latin-1')"
    send = f"call('PUT', '{{project}}/powered-by-flag', {body}, Idempotency_Key='k')"
    result = run_judged(f"assert {send}[0] == 400\nmistake()\n")

    assert result.returncode == 1
    assert MISSING in result.stderr
    assert "Traceback" not in result.stderr


def test_an_emulator_that_refuses_connections_at_the_end_gives_no_verdict() -> None:
    fault = "{'refuse_connections': {'for_ms': 60000}, 'times': 1}"
    result = run_judged(
        f"careful()\ncontrol('POST', 'worlds/default/faults', {fault})\n"
        "try:\n    call('GET', '{project}/edge-dns')\nexcept OSError:\n    pass\n"
    )

    assert result.returncode == 2
    assert "Error:" in result.stderr


def test_the_exit_code_of_a_command_that_fails_stays_without_a_verdict() -> None:
    fault = "{'refuse_connections': {'for_ms': 60000}, 'times': 1}"
    result = run_judged(
        f"careful()\ncontrol('POST', 'worlds/default/faults', {fault})\n"
        "try:\n    call('GET', '{project}/edge-dns')\nexcept OSError:\n    sys.exit(5)\n"
    )

    assert result.returncode == 5


@pytest.mark.parametrize(
    ("arguments", "exit_code"),
    [((), 0), (("--conduct", "report"), 0), (("--conduct", "error"), 2)],
)
def test_a_command_that_sends_no_request_is_no_success(
    arguments: tuple[str, ...], exit_code: int
) -> None:
    result = python(*arguments, code="pass")

    assert result.returncode == exit_code
    assert "HOSTING_BASE_URL" in result.stderr


def test_an_exec_inside_the_command_judges_as_strictly() -> None:
    inner = [COMMAND, "exec", "--", sys.executable, "-c", f"{HELPERS}\ncareful(); mistake()"]
    outer = (
        f"{HELPERS}\nimport subprocess\ncareful()\nsys.exit(subprocess.run({inner!r}).returncode)"
    )

    result = run("--conduct", "error", "--", sys.executable, "-c", outer)

    assert result.returncode == 1
    assert MISSING in result.stderr


def test_a_careful_client_passes() -> None:
    code = (
        "careful()\nmade, at = world()\nassert call('GET', '{project}/edge-dns', **at)[0] == 200\n"
    )
    result = run_judged(f"{code}control('DELETE', 'worlds/' + made['name'])\n")

    assert (result.returncode, result.stderr) == (0, "")


def test_the_report_shows_the_world_that_was_deleted() -> None:
    code = "made, at = world()\nmistake(**at)\ncontrol('DELETE', 'worlds/' + made['name'])\nsys.exit(3)"
    result = python(code=code)

    assert result.returncode == 3
    assert "apply_project_domains" in result.stderr
    assert "no requests" not in result.stderr


def stored_world(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_the_world_that_is_kept_is_the_one_that_received_requests(tmp_path: Path) -> None:
    path = tmp_path / "failed.json"
    code = (
        "made, at = world()\n"
        "assert call('PUT', '{project}/powered-by-flag', {'enabled': True}, Idempotency_Key='k', **at)"
        "[0] == 200\n"
        "control('DELETE', 'worlds/' + made['name'])\nsys.exit(3)"
    )

    result = python("--failed-world", str(path), code=code)

    assert result.returncode == 3
    flags = [row.get("flag_enabled") for row in stored_world(path)["tables"]["projects"].values()]
    assert True in flags
    assert [file.name for file in tmp_path.iterdir()] == ["failed.json"]


def test_each_of_several_worlds_is_saved_in_its_own_file(tmp_path: Path) -> None:
    path = tmp_path / "failed.json"
    code = (
        "careful()\nmade, at = world()\nmistake(**at)\n"
        "control('DELETE', 'worlds/' + made['name'])\nsys.exit(3)"
    )

    result = python("--failed-world", str(path), code=code)

    assert result.returncode == 3
    names = sorted(file.name for file in tmp_path.iterdir())
    assert len(names) == 2
    (second_name,) = [name for name in names if name != "failed.json"]
    assert "deleted" in second_name
    assert second_name in result.stderr
    assert stored_world(path)["kind"] == stored_world(tmp_path / second_name)["kind"]


def test_the_sdk_inside_uses_the_emulator_of_exec() -> None:
    code = (
        "from hosting_emulator.sdk import HostingEmulator\n"
        "with HostingEmulator.fresh() as emulator:\n"
        "    token = emulator.token()\n"
        "    at = {'base': emulator.base_url, 'token': token, 'project': emulator.projects['shop']}\n"
        "    mistake(**at)\n"
    )
    result = run_judged(code)

    assert result.returncode == 1, result.stderr
    assert MISSING in result.stderr
