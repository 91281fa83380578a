"""Each heading of the page about troubleshooting is a message that the described mistake produces."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.support import warm
from tests.support.http_client import HttpClient
from tests.support.http_world import HttpWorld
from tests.support.ports import free_ports
from tests.support.sign_in_client import Browser
from tests.support.warm import COMMAND

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text(encoding="utf-8")
HEADINGS = re.findall(r"^### `(.+)`$", PAGE, re.MULTILINE)


class Desk:
    """A folder of a user, whose shell and registry know of no other emulator."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        outer = os.environ.items()
        self._variables = {
            **{name: value for name, value in outer if not name.startswith("HOSTING_")},
            "XDG_RUNTIME_DIR": str(folder),
            "PYTEST_PLUGINS": "",
        }
        (folder / "app").mkdir()

    def run(self, *command: str, variables: Mapping[str, str] | None = None) -> str:
        """Run a command that fails or warns, and return all its output."""
        cwd = self.folder / "app"
        result = warm.run(list(command), cwd=cwd, env={**self._variables, **(variables or {})})
        return str(result.stdout + result.stderr)


Provocation = Callable[[Desk, HttpWorld], str]
#: The function that provokes a message, by the first words of the message.
PROVOCATIONS: dict[str, Provocation] = {}


def provokes(start: str) -> Callable[[Provocation], Provocation]:
    def register(function: Provocation) -> Provocation:
        PROVOCATIONS[start] = function
        return function

    return register


# --- Installing and starting ---------------------------------------------------------------------


@provokes("hosting-emulator: command")
def _no_command(_desk: Desk, _api: HttpWorld) -> str:
    return _bash("hosting-emulator --help")


@provokes("pip: command")
def _no_pip(_desk: Desk, _api: HttpWorld) -> str:
    return _bash("pip install .")


def _bash(command: str) -> str:
    shell = [shutil.which("bash") or "bash", "--norc", "-c", command]
    result = subprocess.run(shell, env={"PATH": "/nowhere"}, capture_output=True, text=True)
    return result.stderr


@provokes("requires a different Python")
def _old_python(_desk: Desk, _api: HttpWorld) -> str:
    # No older Python is installed here. pip compares the version with this line of the project.
    [version] = re.findall(
        r'^requires-python = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE
    )
    return f"requires a different Python: 3.9.2 not in '{version}'"


@provokes("port … on … is in use by")
def _port_of_a_program(desk: Desk, _api: HttpWorld) -> str:
    if not Path("/proc/net/tcp").exists():
        pytest.skip("only Linux shows the program")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        return desk.run(COMMAND, "start", "--port", port)


# --- Finding the emulator ------------------------------------------------------------------------


@provokes("no emulator responds at")
def _no_emulator(desk: Desk, _api: HttpWorld) -> str:
    port = str(next(free_ports()))
    return desk.run(COMMAND, "status", variables={"HOSTING_EMULATOR_PORT": port})


@provokes("curl: (7)")
def _nothing_listens(desk: Desk, _api: HttpWorld) -> str:
    return desk.run("curl", "-sS", f"http://127.0.0.1:{next(free_ports())}/v1/projects")


@provokes("Control requests from another machine")
def _no_control_token(_desk: Desk, api: HttpWorld) -> str:
    return _control_refusal(api, {"X-Forwarded-For": "192.0.2.1"})


@provokes("The Host … does not belong")
def _foreign_host(_desk: Desk, api: HttpWorld) -> str:
    return _detail(api, headers={"Host": "emulator.example.com"})


@provokes("Requests from pages on the origin")
def _foreign_origin(_desk: Desk, api: HttpWorld) -> str:
    preflight = {"Origin": "http://app.test:3000", "Access-Control-Request-Method": "GET"}
    return _detail(api, "OPTIONS", headers=preflight)


@provokes("No request reached the emulator")
def _no_request(desk: Desk, _api: HttpWorld) -> str:
    return desk.run(COMMAND, "exec", "--", sys.executable, "-c", "pass")


# --- Refused requests ----------------------------------------------------------------------------


def _control_refusal(api: HttpWorld, headers: dict[str, str]) -> str:
    with HttpClient(api.emulator.base_url) as client:
        response = client.send("GET", "/_emulator/worlds", None, headers)
    return str(json.loads(response.body)["detail"])


def _detail(
    api: HttpWorld,
    method: str = "GET",
    path: str | None = None,
    *,
    token: str | None = None,
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> str:
    """Return the detail of the problem that a request gets."""
    base = urlsplit(api.emulator.base_url)
    if path is None:
        path = f"{base.path}/v1/projects/{api.emulator.project}/deployments"
    sent_headers = dict(headers or {})
    if token is not None:
        sent_headers["Authorization"] = f"Bearer {token}"
    with HttpClient(api.emulator.base_url) as client:
        response = client.send(method, path, body, sent_headers)
    assert response.status >= 400
    return str(json.loads(response.body)["detail"])


def _project_path(api: HttpWorld, name: str) -> str:
    return f"{urlsplit(api.emulator.base_url).path}/v1/projects/{api.emulator.project}/{name}"


@provokes("The request has no Authorization header")
def _no_token(_desk: Desk, api: HttpWorld) -> str:
    return _detail(api)


@provokes("The access token expired")
def _expired_token(_desk: Desk, api: HttpWorld) -> str:
    token = api.emulator.token(lifetime="1h")
    api.emulator.clock.advance("2h")
    return _detail(api, token=token)


@provokes("The access token is not valid before")
def _token_of_the_future(_desk: Desk, api: HttpWorld) -> str:
    api.emulator.clock.advance("30m")
    browser = Browser(api.emulator.summary.issuer)
    location = browser.choose("owner").header("Location") or ""
    [code] = parse_qs(urlsplit(location).query)["code"]
    token = json.loads(browser.redeem(code).body)["access_token"]
    api.emulator.reset()
    return _detail(api, token=token)


@provokes("The access token was not signed")
def _token_of_another_world(_desk: Desk, api: HttpWorld) -> str:
    # A URL that starts with a slash replaces the whole path of the base URL.
    path = f"/v1/projects/{api.emulator.project}/deployments"
    return _detail(api, path=path, token=api.emulator.token())


@provokes("There is no world 'v1'")
def _name_of_the_world_replaced(_desk: Desk, api: HttpWorld) -> str:
    path = f"/worlds/v1/projects/{api.emulator.project}/deployments"
    return _detail(api, path=path, token=api.emulator.token())


@provokes("There is no world …")
def _deleted_world(_desk: Desk, api: HttpWorld) -> str:
    return _detail(api, path=f"/worlds/deleted/v1/projects/{api.emulator.project}/deployments")


@provokes("The API has no such path")
def _unknown_path(_desk: Desk, api: HttpWorld) -> str:
    path = _project_path(api, "deployment")
    detail = _detail(api, path=path, token=api.emulator.token())
    why = api.emulator.requests[-1].why
    assert "did you mean GET /v1/projects/{project_id}/deployments?" in why[0]
    return detail


@provokes("No such project exists")
def _alias_in_a_path(_desk: Desk, api: HttpWorld) -> str:
    path = _project_path(api, "deployments").replace(api.emulator.project, "shop")
    return _detail(api, path=path, token=api.emulator.token())


@provokes("This Idempotency-Key was used")
def _reused_key(_desk: Desk, api: HttpWorld) -> str:
    assert api.set_flag(enabled=True, key="same").status == 200
    return str(api.set_flag(enabled=False, key="same").json["detail"])


@provokes("The Content-Type must be")
def _form(_desk: Desk, api: HttpWorld) -> str:
    form = {"Idempotency-Key": "key", "Content-Type": "application/x-www-form-urlencoded"}
    path = _project_path(api, "powered-by-flag")
    return _detail(
        api, "PUT", path, token=api.emulator.token(), headers=form, body=b'{"enabled":true}'
    )


@provokes("More than")
def _rate_limit(_desk: Desk, api: HttpWorld) -> str:
    api.emulator.fault("rate_limit", limit=2, window="1m")
    _ = api.deployments()
    _ = api.deployments()
    return str(api.deployments().json["detail"])


@provokes("This ticket cannot be redeemed")
def _used_ticket(_desk: Desk, api: HttpWorld) -> str:
    redeem_url = api.ticket().json["redeem_url"]
    host = {"Host": urlsplit(redeem_url).netloc}
    path = redeem_url.partition(urlsplit(redeem_url).netloc)[2]
    with HttpClient(api.emulator.base_url) as client:
        assert client.send("GET", path, None, host).status == 303
    return _detail(api, path=path, headers=host)


# --- Operations ----------------------------------------------------------------------------------


@provokes("The clock is frozen")
def _frozen_clock(_desk: Desk, api: HttpWorld) -> str:
    operation = api.apply_domains().json
    return str(api.emulator.why(operation))


@provokes("It is stuck")
def _stuck_operation(_desk: Desk, api: HttpWorld) -> str:
    operation = api.apply_domains().json
    api.emulator.intervene("stick_operation", project="shop")
    text = str(api.emulator.why(operation))
    api.emulator.intervene("release_operation", project="shop")
    return text


# --- Tests ---------------------------------------------------------------------------------------


@provokes("fixture 'hosting_emulator'")
def _no_plugin(desk: Desk, _api: HttpWorld) -> str:
    test = desk.folder / "app/test_it.py"
    test.write_text("def test_it(hosting_emulator):\n    pass\n")
    return desk.run(sys.executable, "-m", "pytest")


# --- The page ------------------------------------------------------------------------------------


def provocation_of(heading: str) -> Any:
    matches = [start for start in PROVOCATIONS if heading.startswith(start)]
    return PROVOCATIONS[max(matches, key=len)]


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("heading", HEADINGS)
def test_the_mistake_produces_the_message(heading: str, tmp_path: Path, api: HttpWorld) -> None:
    pattern = ".*".join(map(re.escape, heading.split("…")))

    message = provocation_of(heading)(Desk(tmp_path), api)

    assert re.search(pattern, message.replace("\n", " ")), message


def test_each_message_has_one_entry() -> None:
    functions = [provocation_of(heading) for heading in HEADINGS]

    assert len(set(functions)) == len(functions) == len(PROVOCATIONS)
