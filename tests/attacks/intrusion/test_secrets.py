"""Each kind of secret is sent through every interface, and none may appear in any output."""

from __future__ import annotations

import json
import os
import re
import subprocess
from base64 import b64encode
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs, quote, urlsplit

from tests.support.emulator_process import Client, Process, emulator
from tests.support.sign_in_client import Browser
from tests.support.warm import COMMAND

CONTROL_TOKEN = "control-token-4f0d2a7c9b"
PASSWORD = "password-8c1e5b7d3f"
WORLD = "/_emulator/worlds/default"
#: The commands that show the request log, in each of their formats.
COMMANDS = (
    ("requests", "har"),
    ("requests", "list", "--limit", "1000"),
    ("requests", "list", "--limit", "1000", "--json"),
)


def test_no_secret_is_shown_or_stored_where_it_does_not_belong(tmp_path: Path):
    environment = {**os.environ, "HOSTING_EMULATOR_CONTROL_TOKEN": CONTROL_TOKEN}
    data = tmp_path / "data"
    with emulator("--data-dir", str(data), env=environment) as process:
        client = process.client()
        events = _Events(process.base_url)
        secrets = _plant(process, client)
        texts = _documents_of_the_control_api(client) | _output_of_commands(process, environment)
        texts["the command line"] = Path(f"/proc/{process.popen.pid}/cmdline").read_bytes()
        texts |= _files(data, "while it runs")
        code, errors = process.stop()
    texts |= _files(data, "after it has ended")
    texts |= {"stderr": errors.encode(), "the events": events.read_to_end()}

    assert code == 0
    assert len(secrets) == 10
    leaks = [
        f"{secret} in {where}"
        for secret, value in secrets.items()
        for where, text in texts.items()
        if value in text
    ]
    assert leaks == []
    log = texts[f"{WORLD}/requests?limit=1000"]
    assert log.count(b"<redacted>") > 10
    # The searched texts are not empty: each of them contains every request.
    count = len(json.loads(log)["items"])
    event_kinds = re.findall(rb"^event: (request|gap)$", texts["the events"], re.MULTILINE)
    assert event_kinds == [b"request"] * count
    for har in (f"{WORLD}/requests.har?limit=1000", "requests har"):
        assert len(json.loads(texts[har])["log"]["entries"]) == count
    for path in ("history", "timeline"):
        assert len(json.loads(texts[f"{WORLD}/{path}?limit=1000"])["items"]) > 3


def test_the_search_for_secrets_detects_a_planted_secret(tmp_path: Path):
    (tmp_path / "file").write_bytes(b"x" + PASSWORD.encode())

    assert PASSWORD.encode() in next(iter(_files(tmp_path, "").values()))


class _Events(Thread):
    """Collects the events of the default world until the emulator ends."""

    def __init__(self, base_url: str) -> None:
        super().__init__()
        self._connection = HTTPConnection(base_url.partition("://")[2], timeout=30)
        self._connection.request("GET", f"{WORLD}/events")
        self._response = self._connection.getresponse()
        # The stream is open, so no event is missed from now on.
        self._received = self._response.readline()
        self.start()

    def run(self) -> None:
        # The emulator is killed if the test fails.
        with self._response, suppress(OSError, HTTPException):
            while line := self._response.readline():
                self._received += line

    def read_to_end(self) -> bytes:
        """Wait for the end of the stream and return all of it."""
        self.join()
        self._connection.close()
        return self._received


def _plant(process: Process, client: Client) -> dict[str, bytes]:
    """Use one secret of each kind correctly, and then send it in every place where it does not belong."""
    project = process.ready["project_id"]
    jwt = client.token("owner")
    owner = {"Authorization": f"Bearer {jwt}"}
    path = f"/v1/organizations/{process.ready['organization_id']}/user-api-keys"
    created_key = client.send("POST", path, {"name": "ci"}, {**owner, "Idempotency-Key": "k"})
    key = str(created_key.json["value"])
    client.send("POST", path, {"name": "ci"}, {**owner, "Idempotency-Key": "k"})
    ticket, session = _redeemed(client, project, owner)
    signed_in = _signed_in(process.base_url)
    secrets = {
        "an access token": jwt,
        "an API key": key,
        "a ticket": ticket,
        "a session": session,
        "the control token": CONTROL_TOKEN,
        "a password": PASSWORD,
        **signed_in,
    }
    client.send("GET", "/_emulator/info", None, {"X-Control-Token": CONTROL_TOKEN})
    client.send("GET", f"/v1/projects/{project}/edge-dns", None, {"X-Control-Token": CONTROL_TOKEN})
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    credentials = f"grant_type=password&username=owner&password={PASSWORD}".encode()
    client.send("POST", "/_emulator/idp/token", credentials, form)
    for secret in (jwt, key, ticket, session, CONTROL_TOKEN, *signed_in.values()):
        _misplace(client, project, secret, owner)
    for stored_length in (200, len(jwt) - 60, len(jwt) - 1):
        # The log stores the beginning of a body, which contains this much of the token.
        body = {"name": "x" * (16 * 1024 - stored_length - len('{"name": "')) + jwt}
        client.send("POST", path, body, {**owner, "Idempotency-Key": "long"})
    secrets["most of an access token"] = jwt[:150]
    return {name: secret.encode() for name, secret in secrets.items()}


def _redeemed(client: Client, project: str, owner: dict[str, str]) -> tuple[str, str]:
    """Return the secrets of a redeemed ticket and of the session that it opened."""
    ticket = client.send("POST", f"/v1/projects/{project}/dev-access-tickets", None, owner).json
    url = urlsplit(ticket["redeem_url"])
    host = {"Host": url.netloc}
    response = client.send("GET", f"{url.path}?{url.query}", None, host)
    cookie = response.headers["Set-Cookie"].partition(";")[0]
    assert client.send("GET", "/", None, {**host, "Cookie": cookie}).status == 200
    client.send("GET", f"{url.path}?{url.query}", None, host)  # The ticket is already used.
    return parse_qs(url.query)["ticket"][0], cookie.partition("=")[2].rpartition(".")[2]


def _signed_in(base_url: str) -> dict[str, str]:
    """Return the secrets of a sign-in by a browser."""
    browser = Browser(f"{base_url}/_emulator/idp")
    code = browser.choose("owner").parameters["code"]
    tokens = browser.redeem(code).json
    return {
        "a code": code,
        "a refresh token": tokens["refresh_token"],
        "the provider's session": browser.cookie.partition("=")[2],
    }


def _misplace(client: Client, project: str, secret: str, owner: dict[str, str]) -> None:
    dns = f"/v1/projects/{project}/edge-dns"
    for headers in (
        {"Authorization": f"Bearer {secret}"},
        {"Authorization": f"Bearer {secret}x"},
        {"Authorization": secret},
        {"Authorization": f"Basic {secret}"},
        {"Proxy-Authorization": f"Bearer {secret}"},
        {"Cookie": f"dev_access={secret}"},
        {"X-Request-Id": secret[:128]},
        {"X-Request-Id": f"{secret} " * 9},
        {"Referer": f"http://localhost/?ticket={secret}"},
        {"Referer": quote(f"http://localhost/?next=https://x.localhost/?ticket={secret}", safe="")},
        {"Authorization": f"{secret} Bearer"},
        {"X-Config": b64encode(f"user:{secret}".encode()).decode()},
        {"X-Api-Key": secret},
    ):
        client.send("GET", dns, None, headers)
    for path in (
        f"{dns}?access_token={secret}",
        f"{dns}?ticket={secret}&a=1",
        f"/v1/projects/{project}/deployments?cursor={secret}",
        f"/v1/projects/{secret}/edge-dns",
        f"/v1/operations/{secret}",
        f"{dns}?next={quote(quote(secret, safe=''), safe='')}&x=%3D{secret}",
        f"/v1/{secret}",
        f"/{secret}",
        f"/_emulator/{secret}",
        f"/_emulator/worlds/{secret}",
    ):
        client.send("GET", path, None, owner)
    put = f"/v1/projects/{project}/powered-by-flag"
    client.send("PUT", put, {"enabled": secret}, {**owner, "Idempotency-Key": secret[:128]})
    client.send("PUT", put, {secret: True}, {**owner, "Idempotency-Key": "other"})
    # The first request is accepted, the second is refused because of the reused key.
    for enabled in (True, False):
        client.send("PUT", put, {"enabled": enabled}, {**owner, "Idempotency-Key": secret[:128]})
    for path in ("worlds", "worlds/default/tokens", "worlds/default/faults", "scenarios/run"):
        client.send("POST", f"/_emulator/{path}", {"name": secret, "user": secret, "kind": secret})
    client.close()


def _output_of_commands(process: Process, environment: dict[str, str]) -> dict[str, bytes]:
    """Return the output of the commands that show requests."""
    output = {}
    for words in COMMANDS:
        run = subprocess.run(
            [COMMAND, *words, "--url", process.base_url],
            env=environment,
            capture_output=True,
            check=True,
        )
        output[" ".join(words)] = run.stdout + run.stderr
    return output


def _documents_of_the_control_api(client: Client) -> dict[str, bytes]:
    """Return every document of the control API that describes past requests."""
    paths = [
        "/_emulator",
        "/_emulator/info",
        "/_emulator/worlds",
        f"{WORLD}/requests?limit=1000",
        f"{WORLD}/requests.har?limit=1000",
        f"{WORLD}/history?limit=1000",
        f"{WORLD}/timeline?limit=1000",
        f"{WORLD}/projects",
        f"{WORLD}/keys",
        f"{WORLD}/report?requests=1000",
        f"{WORLD}/state",
        f"{WORLD}/openapi.json",
        f"{WORLD}/operations",
        f"{WORLD}/faults",
        "/_emulator/metrics",
    ]
    documents = {path: client.send("GET", path).body for path in paths}
    total = client.send("GET", f"{WORLD}/requests?limit=1").json["total"]
    for n in range(1, total + 1):
        path = f"{WORLD}/requests/{n}"
        documents[path] = client.send("GET", path).body
    return documents


def _files(folder: Path, when: str) -> dict[str, bytes]:
    return {f"{p} {when}": p.read_bytes() for p in folder.rglob("*") if p.is_file()}
