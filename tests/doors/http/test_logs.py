"""Logs: the output of an emulator on stderr about its exchanges and about itself."""

from __future__ import annotations

import json
import logging
import os
import re
import socket
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.emulator_in_loop import emulator_in_loop
from tests.support.log_lines import as_json, as_text, line_on_stderr
from tests.support.warm import COMMAND, run

#: A client that reads, sends a change twice with one key, misplaces a secret, and loses a response.
CLIENT = r"""
import http.client, json, os, urllib.parse
at = urllib.parse.urlsplit(os.environ["HOSTING_BASE_URL"])
token, project = os.environ["HOSTING_TOKEN"], os.environ["HOSTING_PROJECT_ID"]
def send(method, path, body=None, **headers):
    connection = http.client.HTTPConnection(at.hostname, at.port, timeout=10)
    if not path.startswith("/_emulator"):
        headers["Authorization"] = "Bearer " + token
    if body is not None:
        headers["Content-Type"], body = "application/json", json.dumps(body)
    connection.request(method, path, body, {n.replace("_", "-"): v for n, v in headers.items()})
    connection.getresponse().read()
    connection.close()
here = f"/v1/projects/{project}"
send("GET", here + "/deployments?limit=1")
send("PUT", here + "/powered-by-flag", {"enabled": False}, Idempotency_Key="hide-1")
send("PUT", here + "/powered-by-flag", {"enabled": False}, Idempotency_Key="hide-1")
send("GET", f"/v1/{token}?ticket=open-sesame&access_token={token}")
send("GET", here + "/edge-dns", X_Request_Id="a\x85b")
send("POST", "/_emulator/worlds/default/faults", {"empty_response": {}, "times": 1})
try:
    send("GET", here + "/edge-dns")
except http.client.BadStatusLine:
    pass
"""

#: A client that sends many requests over TLS and leaves without a TLS close before the responses.
GONE = r"""
import os, socket, ssl, urllib.parse
port = urllib.parse.urlsplit(os.environ["HOSTING_TLS_URL"]).port
plain = socket.create_connection(("127.0.0.1", port), timeout=10)
tls = ssl.create_default_context(cafile=os.environ["HOSTING_CA_FILE"])
sent = tls.wrap_socket(plain, server_hostname="localhost")
sent.sendall(b"GET /v1/x HTTP/1.1\r\nHost: localhost\r\n\r\n" * 200)
with socket.socket(fileno=os.dup(sent.fileno())) as below:
    below.setblocking(True)
    below.shutdown(socket.SHUT_WR)
    while below.recv(65536):
        pass
"""


def stderr_of(*options: str, client: str = CLIENT, **environment: str) -> str:
    """Run the client inside an emulator and return the output on stderr."""
    names = {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_")}
    arguments = [*options, "--", sys.executable, "-IS", "-c", client]
    result = run([COMMAND, "exec", "--report", "never", *arguments], env=names | environment)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def json_log() -> list[dict[str, Any]]:
    text = stderr_of("--log-requests", "--log-format", "json")
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture(scope="module")
def text_log() -> list[str]:
    return stderr_of(HOSTING_EMULATOR_LOG_REQUESTS="1").splitlines()


def test_requests_are_not_logged_by_default():
    assert stderr_of() == ""
    assert stderr_of("--log-format", "json") == ""


def test_a_client_that_disconnects_causes_no_warning():
    assert stderr_of("--tls-port", "0", client=GONE) == ""


def test_the_json_log_has_one_object_for_each_request_with_real_time(
    json_log: list[dict[str, Any]],
):
    assert [line["n"] for line in json_log] == [1, 2, 3, 4, 5, 6]
    for line in json_log:
        assert line["level"] == "info"
        assert line["logger"] == "hosting_emulator.requests"
        assert line["world"] == "default"
        assert line["duration_us"] > 0
        assert line["time"].endswith("Z")
        age = datetime.now().astimezone() - datetime.fromisoformat(line["time"])
        assert 0 <= age.total_seconds() < 600


def test_a_logged_request_shows_the_call_the_status_and_the_reason(json_log: list[dict[str, Any]]):
    read, first, replay, stray, *_ = json_log

    assert (read["method"], read["call"], read["query"]) == ("GET", "list_deployments", "limit=1")
    assert (read["user"], read["status"], read["code"]) == ("owner", 200, None)
    assert read["message"] == f"GET {read['path']}"
    assert (first["idempotency_key"], first["replayed"]) == ("hide-1", False)
    assert (replay["idempotency_key"], replay["replayed"]) == ("hide-1", True)
    assert len(replay["why"]) == 1
    assert (stray["status"], stray["code"], stray["call"]) == (404, "resource_not_found", None)
    assert len(stray["why"]) == 1


def test_the_log_names_the_fault_that_lost_a_response(json_log: list[dict[str, Any]]):
    assert [line["lost"] for line in json_log] == [None] * 5 + ["empty_response"]
    assert json_log[-1]["status"] == 0


def test_the_log_contains_no_secret(json_log: list[dict[str, Any]], text_log: list[str]):
    for text in (json.dumps(json_log), "\n".join(text_log)):
        assert "<redacted>" in text
        assert "eyJ" not in text
        assert "open-sesame" not in text


def test_the_text_log_has_one_aligned_line_for_each_request(
    json_log: list[dict[str, Any]], text_log: list[str]
):
    assert len(text_log) == 6
    assert len({re.search(r" (GET|PUT) ", line).start() for line in text_log}) == 1  # type: ignore[union-attr]
    assert len({line.index("/v1/") for line in text_log}) == 1
    assert all(re.match(r"\d\d:\d\d:\d\d\.\d{3}  default     #\d ", line) for line in text_log)
    assert "  set_project_powered_by_flag  /v1/projects/" in text_log[2]
    assert f"  key=hide-1  replayed  {json_log[2]['why'][0]}" in text_log[2]
    assert "  lost=empty_response" in text_log[5]
    assert not any("\x1b" in line for line in text_log)  # stderr is no terminal.


# --- The levels ----------------------------------------------------------------------------------

#: A client that starts an operation, moves the clock until it ends, and creates and deletes a world.
CLIENT_THAT_CHANGES = r"""
import json, os, urllib.request
token, project = os.environ["HOSTING_TOKEN"], os.environ["HOSTING_PROJECT_ID"]
control = os.environ["HOSTING_CONTROL_URL"]
def send(method, url, body=None, **headers):
    data = None if body is None else json.dumps(body).encode()
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        headers["Content-Type"] = "application/json"
    return urllib.request.urlopen(urllib.request.Request(url, data, headers, method=method))
send("PUT", f"{os.environ['HOSTING_BASE_URL']}/v1/projects/{project}/domains",
     Authorization="Bearer " + token, Idempotency_Key="domains-1")
send("POST", control + "/worlds/default/clock/advance", {"by": "1h"})
send("POST", control + "/worlds", {"name": "later"})
send("POST", control + "/worlds/later/reset", {})
send("DELETE", control + "/worlds/later")
"""


def lines_at(level: str, **environment: str) -> list[dict[str, Any]]:
    """Run the client that changes the world, and return the lines of the JSON log."""
    options = ("--log-level", level) if level else ()
    text = stderr_of(*options, "--log-format", "json", client=CLIENT_THAT_CHANGES, **environment)
    return [json.loads(line) for line in text.splitlines()]


def messages_of(lines: list[dict[str, Any]], logger: str) -> list[tuple[str, str]]:
    """Return the worlds and messages of a logger's lines."""
    return [
        (line["world"], line["message"])
        for line in lines
        if line["logger"] == f"hosting_emulator.{logger}"
    ]


@pytest.fixture(scope="module")
def debug_log() -> list[dict[str, Any]]:
    return lines_at("debug")


def test_the_level_debug_logs_each_commit_with_its_request_and_its_changes(
    debug_log: list[dict[str, Any]],
):
    first = next(line for line in debug_log if line["logger"] == "hosting_emulator.commits")

    assert (first["level"], first["world"], first["commit"]) == ("debug", "default", 2)
    assert (first["title"], first["request"]) == ("apply_project_domains", 1)
    assert first["rows"]["operations"] == 1
    assert "(apply_project_domains of shop) is queued" in first["message"]


def test_the_level_debug_logs_what_a_moved_clock_changed(debug_log: list[dict[str, Any]]):
    changes = [message for _, message in messages_of(debug_log, "commits")]

    assert any("clock" in message and "is succeeded" in message for message in changes)


def test_the_life_of_worlds_is_logged_from_the_level_info_on(debug_log: list[dict[str, Any]]):
    life = [
        ("default", "the world was created"),
        ("later", "the world was created"),
        ("later", "the world was replaced: reset"),
        ("later", "the world was deleted"),
    ]

    assert messages_of(debug_log, "worlds") == life
    info_log = lines_at("", HOSTING_EMULATOR_LOG_LEVEL="info")
    assert messages_of(info_log, "worlds") == life
    assert [line["n"] for line in info_log if line["logger"].endswith(".requests")] == [1]
    assert {line["level"] for line in info_log} == {"info"}


def test_the_text_log_names_the_world_and_the_logger_of_a_line():
    lines = stderr_of("--log-level", "debug", client=CLIENT_THAT_CHANGES).splitlines()

    assert re.fullmatch(
        r"\d\d:\d\d:\d\d\.\d{3}  default     worlds      the world was created", lines[0]
    )
    assert "  commits     commit 2, apply_project_domains, by request #1: operation " in lines[1]
    assert "  #1      202 PUT " in lines[2]


def test_the_level_error_hides_warnings():
    options = ("--assume", "listed_statuses=open")

    assert "contradicts the contract" in stderr_of(*options, client=CLIENT_THAT_CHANGES)
    assert stderr_of(*options, "--log-level", "error", client=CLIENT_THAT_CHANGES) == ""


#: Logs as JSON, and raises exceptions that nothing handles.
CRASHING = """
import threading, warnings
from pathlib import Path
from hosting_emulator.logs import log_to_stderr
from hosting_emulator.settings import Settings

def fail():
    raise LookupError("no luck")

log_to_stderr(Settings(port=0, data_dir=None, library=Path(), log_format="json"))
warnings.warn("a warning")
thread = threading.Thread(target=fail)
thread.start()
thread.join()
fail()
"""


def test_a_crash_and_a_warning_are_lines_of_json():
    process = subprocess.run([sys.executable, "-c", CRASHING], capture_output=True, text=True)

    assert process.returncode == 1
    lines = [json.loads(line) for line in process.stderr.splitlines()]
    warning, thread, crash = lines
    assert (warning["level"], "a warning" in warning["message"]) == ("warning", True)
    assert (thread["level"], thread["message"]) == ("error", "a thread crashed")
    assert (crash["level"], crash["message"]) == ("critical", "the emulator crashed")
    assert all("LookupError: no luck" in line["exception"] for line in (thread, crash))


# --- The two forms -------------------------------------------------------------------------------

EXCHANGE: dict[str, Any] = {
    **{"world": "w", "n": 1, "method": "GET", "path": "/v1/x", "query": "", "call": None},
    **{"user": None, "status": 200, "code": None, "idempotency_key": None, "replayed": False},
    **{"lost": None, "second_delivery_of": None, "duration_us": 812.5, "why": []},
}


def record(message: str = "said", **changes: Any) -> logging.LogRecord:
    log_record = logging.LogRecord("some.log", logging.WARNING, __file__, 1, message, None, None)
    if changes:
        log_record.fields = EXCHANGE | changes
    return log_record


@pytest.mark.parametrize("nasty", ["a\nb", "a\r\nb", "a\x1b[2Jb", "a\x85b", "a\u2028b", "a\u202eb"])
def test_odd_characters_of_a_client_break_no_line_and_control_no_terminal(nasty: str):
    text = as_text(record(idempotency_key=nasty))
    line = as_json(record(idempotency_key=nasty))

    assert text.isprintable()
    assert nasty.encode("unicode_escape").decode() in text
    assert line.isascii()
    assert len(line.splitlines()) == 1
    assert json.loads(line)["idempotency_key"] == nasty


def test_the_line_of_a_request_has_fixed_columns_and_then_only_what_there_is_to_say():
    bare = as_text(record(n=1))
    full = as_text(
        record(
            world="checkout",
            n=12345,
            query="limit=1",
            user="owner",
            call="set_project_powered_by_flag",
            status=409,
            duration_us=123_456,
            idempotency_key="k-1",
            code="conflict",
            replayed=True,
            lost="truncate",
            second_delivery_of=7,
            why=["first reason", "second reason"],
        )
    )

    assert [line[len("12:34:56.789") :] for line in (bare, full)] == [
        "  w           #1      200 GET      0.81 ms  -          -                            /v1/x",
        "  checkout    #12345  409 GET    123.46 ms  owner      set_project_powered_by_flag  "
        "/v1/x?limit=1  key=k-1  conflict  replayed  lost=truncate  second delivery of #7  "
        "first reason; second reason",
    ]


@pytest.mark.parametrize(
    ("is_terminal", "environment", "is_colored"),
    [
        (True, {}, True),
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": "", "TERM": "xterm"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_the_log_has_colors_only_on_a_terminal_that_shows_them(
    monkeypatch: pytest.MonkeyPatch,
    is_terminal: bool,
    environment: dict[str, str],
    is_colored: bool,
):
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    line = line_on_stderr(monkeypatch, is_terminal=is_terminal)

    assert ("\x1b[2m" in line) == is_colored


async def test_events_that_become_due_are_logged_apart_from_commits(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    caplog.set_level("DEBUG", logger="hosting_emulator")
    async with emulator_in_loop(log_level="debug") as emulator:
        engine = emulator.worlds.get("default")
        assert engine is not None
        due_ms = engine.world.next_due_ms
        monkeypatch.setattr(engine, "now_ms", lambda: due_ms)
        engine.run_due()

    [line] = [line for line in caplog.records if "due events" in line.getMessage()]
    assert line.getMessage().startswith(f"due events up to {line.fields['at']} in commit ")  # type: ignore[attr-defined]
    assert line.name != "hosting_emulator.commits"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"status": 200}, 32),
        ({"status": 409}, 33),
        ({"status": 503}, 31),
        ({"status": 200, "lost": "truncate"}, 31),
        ({"status": 0, "lost": "timeout"}, 31),
    ],
)
def test_on_a_terminal_the_status_has_a_color(changes: dict[str, Any], code: int):
    log_record = record(**changes)
    plain = as_text(log_record)
    colored = as_text(log_record, color=True)

    status = str(changes["status"] or "---")
    assert f"\x1b[{code}m{status}\x1b[0m GET " in colored
    assert re.sub(r"\x1b\[\d+m", "", colored) == plain


def test_a_warning_is_a_line_with_the_name_of_the_program():
    assert as_text(record("disk full"), color=True) == "hosting-emulator: disk full"


def test_an_exception_is_one_field_of_the_json_log():
    log_record = record("a response could not be created")
    try:
        raise RuntimeError("line one\nline two")
    except RuntimeError:
        log_record.exc_info = sys.exc_info()

    line = as_json(log_record)

    assert len(line.splitlines()) == 1
    fields = json.loads(line)
    assert (fields["level"], fields["logger"]) == ("warning", "some.log")
    assert fields["exception"].startswith("Traceback")
    assert fields["exception"].endswith("RuntimeError: line one\nline two")


def test_every_line_on_stderr_is_json_if_the_log_is():
    result = subprocess.run(
        [sys.executable, "-W", "always", "-m", "tests.support.log_lines"],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        timeout=60,
    )

    lines = [json.loads(line) for line in result.stderr.splitlines()]
    assert result.returncode == 1
    assert [line["level"] for line in lines] == ["error", "warning", "error", "error", "critical"]
    assert lines[0]["message"] == "from a library"
    assert "DeprecationWarning: old" in lines[1]["message"]
    ends = [line["exception"].splitlines()[-1] for line in lines[2:]]
    assert ends == [
        "ZeroDivisionError: division by zero",
        "ValueError: too late",
        "LookupError: at last",
    ]


def test_a_failed_start_is_one_line_of_text_in_every_log_format():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = run(
            [COMMAND, "start", "--ephemeral", "--port", str(port)],
            env=os.environ | {"HOSTING_EMULATOR_LOG_FORMAT": "json"},
        )

    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"Error: port {port} on 127.0.0.1 ")
    assert len(result.stderr.splitlines()) == 1


# --- Other worlds --------------------------------------------------------------------------------

#: A client that creates a world and sends a request to it.
CLIENT_OF_ANOTHER_WORLD = r"""
import json, os, urllib.error, urllib.request
url = os.environ["HOSTING_EMULATOR_URL"]
headers = {"Content-Type": "application/json"}
body = json.dumps({"name": "later"}).encode()
urllib.request.urlopen(urllib.request.Request(url + "/_emulator/worlds", body, headers))
for _ in range(2):
    try:
        urllib.request.urlopen(url + "/worlds/later/v1/projects/x/edge-dns")
    except urllib.error.HTTPError:
        pass
"""


def test_requests_of_a_world_that_is_made_later_are_logged():
    text = stderr_of("--log-requests", "--log-format", "json", client=CLIENT_OF_ANOTHER_WORLD)

    lines = [json.loads(line) for line in text.splitlines()]
    assert [(line["world"], line["n"]) for line in lines] == [("later", 1), ("later", 2)]
