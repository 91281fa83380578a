"""`requests` lists, shows, follows, exports and replays requests."""

import json
import re
import shlex
from typing import Any

import pytest

from tests.support.control_samples import exchange, message, request_page, world
from tests.support.fake_control import FakeControl, event_stream

ITEM = exchange(
    2,
    user_id="01OUT",
    user="outsider",
    status=404,
    code="resource_not_found",
    why=["it exists, outside the user's access"],
    trail=[
        {"step": "user", "text": "outsider, whose session began at noon."},
        {"step": "scope", "text": "The project is in another folder; owner (owner) has access."},
        {"step": "refusal", "text": "404 resource_not_found: No such project."},
    ],
)
FINE = exchange(1, trail=[])
NASTY = exchange(
    3,
    call=None,
    path="/v1/\x1b[31m[red]\r\n",
    project=None,
    user=None,
    status=0,
    lost="connection_reset",
    why=["[bold]fault-1 acted"],
)
WHOLE = {
    **ITEM,
    "request": message('{"a":1}', headers=[["X-A", "b"]]),
    "response": message(
        "{", headers=[["Content-Type", "application/json"]], body_bytes=900, body_cut=True
    ),
}
LIST = "GET /worlds/default/requests?limit=50"


@pytest.fixture(autouse=True)
def known_worlds(control: FakeControl) -> None:
    control.on("GET /worlds/default", world())


@pytest.fixture
def colors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a wide terminal with colors."""
    for name, value in (("FORCE_COLOR", "1"), ("COLUMNS", "120"), ("TERM", "xterm-256color")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_COLOR", raising=False)


def plain(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


# --- list ---------------------------------------------------------------------------------------


def test_requests_list_is_a_plain_table_in_a_pipe(ask, control: FakeControl):
    control.on(LIST, request_page(ITEM, FINE))

    head, fine, hidden = ask("requests", "list").stdout.splitlines()

    assert head.split() == [
        "N",
        "AT",
        "STATUS",
        "METHOD",
        "CALL",
        "PROJECT",
        "USER",
        "MS",
        "RESPONSE",
        "WHY",
    ]
    assert hidden.endswith("The project is in another folder; owner (owner) has access.")
    assert fine.split()[:3] == ["1", "2030-01-31T09:30:00.250Z", "200"]


def test_requests_list_prints_the_exchanges_as_json(ask, control: FakeControl):
    control.on(LIST, request_page(ITEM, FINE))

    assert json.loads(ask("requests", "list", "--json").stdout) == [FINE, ITEM]


def test_requests_list_passes_filters_on(ask, control: FakeControl):
    query = "limit=5&call=none&status=4xx&user=reader&project=shop&since=a&before=b&text=c+d"
    control.on(f"GET /worlds/default/requests?{query}", request_page(ITEM))

    result = ask(
        *shlex.split(
            "requests list --limit 5 --call none --status 4xx --json --user reader "
            "--project shop --since a --before b --text 'c d'"
        ),
    )

    assert (result.exit_code, result.stderr) == (0, "")


def test_requests_list_shows_the_newest_last_on_a_terminal(ask, control: FakeControl, colors):
    control.on(LIST, request_page(ITEM, FINE))

    output = ask("requests", "list").stdout

    assert "\x1b[" in output
    lines = plain(output).splitlines()
    assert [line.split()[0] for line in lines if "#" in line] == ["#1", "#2"]
    assert lines[-1].strip() == "The project is in another folder; owner (owner) has access."
    assert lines[0].index("first") == lines[1].index("first")  # The columns are aligned.


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("words", [("list",), ("show", "2")])
def test_requests_list_on_a_narrow_terminal_shows_each_code_in_full(
    ask, control: FakeControl, colors, monkeypatch, columns: int, words: tuple[str, ...]
):
    control.on(LIST, request_page(ITEM, FINE))
    long = json.dumps({"detail": "word " * 40})
    whole = {**WHOLE, "response": {**WHOLE["response"], "body": long, "body_bytes": len(long)}}
    control.on("GET /worlds/default/requests/2", whole)
    monkeypatch.setenv("COLUMNS", str(columns))

    lines = plain(ask("requests", *words).stdout).splitlines()

    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("#2"))
    # The code may be in the next line.
    head = "  ".join(line.strip() for line in lines[start : start + 2])
    assert "first  outsider  0.41 ms  resource_not_found" in head
    assert max(map(len, lines)) <= columns
    assert words == ("list",) or sum(line.count("word") for line in lines) == 40


def test_an_empty_requests_list_is_headers_and_a_remark_in_a_pipe(ask, control: FakeControl):
    control.on(LIST, request_page())

    result = ask("requests", "list")

    assert result.stdout.startswith("N  AT")
    assert result.stderr == "No requests yet.\n"


@pytest.mark.parametrize("options", [(), ("--user", "reader")])
def test_an_empty_requests_list_is_a_remark_on_a_terminal(
    ask, control: FakeControl, colors, options
):
    query = "?limit=50&user=reader" if options else "?limit=50"
    control.on(f"GET /worlds/default/requests{query}", request_page())

    result = ask("requests", "list", *options)

    assert result.stdout == ""
    assert result.stderr == ("No request matches.\n" if options else "No requests yet.\n")


# --- show and replay ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "request_line"),
    [
        (("show", "2"), "GET /worlds/default/requests/2"),
        (("resend", "2"), "POST /worlds/default/requests/2/resend"),
    ],
)
def test_requests_show_and_replay_print_the_whole_exchange(
    ask, control: FakeControl, words, request_line: str
):
    control.on(request_line, WHOLE)

    output = ask("requests", *words).stdout

    assert "  scope    The project is in another folder; owner (owner) has access." in output
    assert '  X-A: b\n\n  {\n    "a": 1\n  }\n' in output
    remark = "  … truncated: the body has 900 bytes.\n"
    # A truncated body is printed as it is.
    assert output.endswith("  Content-Type: application/json\n\n  {\n" + remark)
    assert json.loads(ask("requests", *words, "--json").stdout) == WHOLE


def test_requests_show_says_that_the_body_of_a_refused_request_was_not_kept(
    ask, control: FakeControl
):
    refused = {**WHOLE["request"], "body": "", "body_bytes": 1_048_588, "body_cut": True}
    control.on("GET /worlds/default/requests/2", {**WHOLE, "request": refused})

    output = ask("requests", "show", "2").stdout

    assert "The body was not kept." in output
    assert "1048588" not in output


def test_requests_list_prints_whole_exchanges_as_json(ask, control: FakeControl):
    control.on(LIST, request_page(ITEM))
    control.on("GET /worlds/default/requests/2", WHOLE)

    assert json.loads(ask("requests", "list", "--whole", "--json").stdout) == [WHOLE]


def test_the_color_of_a_request_shows_the_kind_of_its_status(ask, control: FakeControl, colors):
    items = [
        exchange(n, status=status, trail=[]) for n, status in enumerate((200, 303, 404, 503), 1)
    ]
    control.on(LIST, request_page(*items[::-1]))

    lines = ask("requests", "list").stdout.splitlines()

    for status, color in (("200", "32"), ("303", "36"), ("404", "33"), ("503", "1;31")):
        [line] = [line for line in lines if re.search(rf"m[^0-9]*{status}\b", line)]
        assert f"\x1b[{color}m" in line, (status, line)


def test_requests_show_prints_the_whole_exchange_on_a_terminal(ask, control: FakeControl, colors):
    control.on("GET /worlds/default/requests/2", WHOLE)

    output = plain(ask("requests", "show", "2").stdout)

    assert re.search(r"^ +scope  The project is in another folder;", output, re.MULTILINE)
    assert "GET /v1/projects/01PROJ1/edge-dns ─" in output
    assert '{\n  "a": 1\n}' in output


def test_requests_show_says_that_a_body_is_truncated(ask, control: FakeControl, monkeypatch):
    control.on("GET /worlds/default/requests/2", WHOLE)
    remark = "truncated: the body has 900 bytes."

    assert ask("requests", "show", "2").stdout.count(remark) == 1
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert plain(ask("requests", "show", "2").stdout).count(remark) == 1


def test_requests_show_prints_the_size_of_a_binary_body(ask, control: FakeControl, monkeypatch):
    binary = message(None, body_bytes=2)
    control.on("GET /worlds/default/requests/2", {**WHOLE, "response": binary})

    assert "2 bytes of binary data" in ask("requests", "show", "2").stdout
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "2 bytes of binary data" in plain(ask("requests", "show", "2").stdout)


def test_requests_replay_can_keep_the_idempotency_key(ask, control: FakeControl):
    control.on("POST /worlds/default/requests/2/resend", WHOLE)
    ask("requests", "resend", "2", "--same-key")

    assert control.bodies("POST /worlds/default/requests/2/resend") == [{"same_key": True}]


# --- tail ---------------------------------------------------------------------------------------


def tailed(control: FakeControl, *events: tuple[str, Any], query: str = "") -> None:
    control.on("GET /worlds/default/requests?limit=10" + query, request_page(ITEM, FINE))
    stream = event_stream(*events)
    control.on("GET /worlds/default/events?kinds=request%2Cworld" + query, stream)


def test_requests_tail_begins_with_the_latest_requests_and_follows(ask, control: FakeControl):
    tailed(control, ("request", ITEM), ("request", NASTY))

    lines = ask("requests", "tail").stdout.splitlines()

    # The second request is printed once.
    assert [line.split()[0] for line in lines] == ["#1", "#2", "#3"]
    assert lines[2] == (
        r"#3  2030-01-31T09:30:00.250Z  ---  GET  /v1/\x1b[31m[red]\r\n  -  0.41 ms  "
        "lost: connection_reset  [bold]fault-1 acted"
    )


def test_requests_tail_listens_before_it_reads_the_log(ask, control: FakeControl):
    tailed(control)
    ask("requests", "tail")

    paths = [request.path.partition("?")[0] for request in control.requests]
    assert paths.index("/worlds/default/events") < paths.index("/worlds/default/requests")


def test_requests_tail_prints_one_json_object_a_line(ask, control: FakeControl):
    tailed(control, ("request", NASTY), query="&status=4xx")

    lines = ask("requests", "tail", "--json", "--status", "4xx").stdout.splitlines()

    assert [json.loads(line) for line in lines] == [FINE, ITEM, NASTY]


def test_requests_tail_reports_missed_requests_and_a_reset(ask, control: FakeControl):
    replaced = ("world", {"commit": 9, "title": "reset"})
    tailed(control, ("gap", {"missed": 3}), replaced, ("request", FINE))

    result = ask("requests", "tail")

    assert (
        result.stderr
        == "Too many requests arrived at once, so some are not shown.\nThe world was reset.\n"
    )
    assert result.stdout.splitlines()[-1].startswith("#1 ")  # The numbers begin again.


def test_requests_tail_escapes_control_characters_of_a_request(ask, control: FakeControl, colors):
    tailed(control, ("request", NASTY))

    output = ask("requests", "tail").stdout

    assert r"/v1/\x1b[31m[red]\r\n" in plain(output)
    assert "\x1b[31m[red]" not in output
    assert "[bold]fault-1 acted" in plain(output)


def test_requests_tail_exits_2_without_an_emulator(run):
    result = run("requests", "tail", "--url", "http://127.0.0.1:9")

    assert result.exit_code == 2
    assert "http://127.0.0.1:9/_emulator" in result.stderr
    assert result.stderr.count("\n") == 1


# --- har ----------------------------------------------------------------------------------------


def test_requests_har_writes_to_stdout_or_to_a_file(ask, control: FakeControl, tmp_path):
    har = {"log": {"version": "1.2"}}
    control.on("GET /worlds/default/requests.har?limit=1000&state=true&status=404", har)
    file = tmp_path / "log.har"

    assert json.loads(ask("requests", "har", "--status", "404").stdout) == har
    result = ask("requests", "har", "--status", "404", "--output", str(file))

    assert json.loads(file.read_text()) == har
    assert result.stderr == f"The requests were written to {file}.\n"


def test_requests_har_can_leave_out_the_state_of_the_world(ask, control: FakeControl):
    control.on("GET /worlds/default/requests.har?limit=1000", {"log": {}})

    assert json.loads(ask("requests", "har", "--no-state").stdout) == {"log": {}}
