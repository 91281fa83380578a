"""Whatever goes wrong is one line on stderr, nothing on stdout, and exit code 2."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hosting_emulator_cli.main import main
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, refusal


def assert_one_line(result, *words: str):
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("nonsense", ["nonsense"]),
        ("--nonsense", ["--nonsense"]),
        ("clock nonsense", ["'nonsense'", "there are show, freeze"]),
        ("strat", ["did you mean start?"]),
        ("world lst", ["did you mean list?"]),
        ("clock scale", ["RATE"]),
        ("clock scale fast", ["fast", "above 0"]),
        ("clock scale 0", ["above 0"]),
        ("clock scale nan", ["above 0"]),
        ("clock set yesterday", ["yesterday", "2026-01-31T09:30:00Z"]),
        ("clock advance", ["exactly one", "DURATION", "--to", "--until"]),
        ("clock advance 1m --to 2030-01-01T00:00:00Z", ["exactly one"]),
        ("clock advance -5m", ["'-5…' is no option", "below 0"]),
        ("world rewind -1", ["'-1…' is no option", "below 0"]),
        ("clock advance --to soon", ["--to", "soon"]),
        ("env --shell cmd", ["--shell", "fish"]),
        ("start --clock slow", ["--clock", "scaled:RATE"]),
        ("start --clock scaled:-1", ["--clock", "above 0"]),
        ("start --at noon", ["--at", "noon"]),
        ("start --port 70000", ["--port", "65535"]),
        ("start --assume rate_limit", ["--assume", "NAME=VALUE"]),
        ("start --ephemeral --assume accepted_status=ok", ["'ok'", "one of 202, 200, 201"]),
        ("start --assume =x", ["--assume", "NAME=VALUE"]),
        ("start --json --quiet", ["--json", "--quiet"]),
        ("start --ephemeral --data-dir x", ["--ephemeral", "--data-dir"]),
        ("status --url 127.0.0.1:4620", ["--url", "http://127.0.0.1:4620"]),
        ("token --expires-in 1.5s", ["--expires-in", "whole seconds"]),
        ("token --expires-in 0s", ["--expires-in", "whole seconds"]),
        ("token --expires-in long", ["--expires-in", "'long'", "10m"]),
        ("wait --timeout long", ["--timeout", "'long'"]),
        ("world delete", ["NAME"]),
        ("world create --clock scaled", ["--clock", "scaled:RATE"]),
        ("start --watch", ["--watch", "--scenario"]),
        ("start --watch --scenario stuck-operation", ["--watch", "a file"]),
        ("fault add", ["EFFECT", "--json-fault"]),
        ("fault add timeout --json-fault {}", ["EFFECT", "--json-fault"]),
        ("fault add --json-fault {} --times 2", ["--json-fault", "alone"]),
        ("fault add --json-fault {", ["--json-fault", "not JSON"]),
        ("fault add --json-fault [1]", ["--json-fault", "object"]),
        ("fault add abort --code x", ["--code", "code=VALUE"]),
        ("requests list --limit many", ["--limit", "'many'", "1 to 1000"]),
        ("requests show 0", ["'0'", "from 1 or more"]),
        ("fault add abort code", ["'code'", "NAME=VALUE"]),
        ("fault add timeout --times two", ["--times", "two"]),
        ("fault add timeout --header X", ["--header", "NAME=VALUE"]),
        ("fault remove", ["FAULT"]),
        ("intervene", ["WORD", "--list"]),
        ("intervene stick_operation --list", ["WORD", "--list"]),
        ("intervene stick_operation project", ["'project'", "NAME=VALUE"]),
        ("scenario show no-such-thing", ["no-such-thing", "scenario list"]),
        ("scenario show stuck-operatio", ["did you mean stuck-operation"]),
        ("scenario check no/such.yaml", ["no/such.yaml", "No such file"]),
        ("scenario load no/such.yaml", ["no/such.yaml", "No such file"]),
        ("scenario run", ["SCENARIO"]),
        ("scenario record /", ["'/' is a directory"]),
    ],
)
def test_bad_argument(run, line: str, words: list[str]):
    assert_one_line(run(*line.split()), *words)


@pytest.mark.parametrize(
    "line",
    [
        *("status", "env", "token", "clock show", "clock freeze", "clock run", "clock scale 2"),
        *("clock skip", "clock advance 1m", "clock set 2030-01-01T00:00:00Z"),
        *("world list", "world create", "world fork", "world reset", "world delete w"),
        *("world export", "contract openapi", "contract problems", "contract assumptions"),
        *("fault add timeout", "fault list", "fault remove fault-1", "fault clear", "fault kinds"),
        *("intervene stick_operation project=shop", "intervene --list"),
        *("scenario list", "scenario show x", "scenario load x", "scenario run x"),
        "scenario schema",
    ],
)
def test_no_emulator_there(run, line: str):
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # bound and not listening: nothing else can take the port
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"

        result = run(*line.split(), "--url", url)

    assert_one_line(result, url, "start it with `hosting-emulator start --port ")


def test_refusal_is_shown(ask, control: FakeControl):
    control.on("PUT /worlds/default/clock", refusal(409, "the clock\ncannot move back"))

    result = ask("clock", "set", "2020-01-01T00:00:00Z")

    assert_one_line(result, "the clock cannot move back")


def test_another_server_there(ask, control: FakeControl):
    control.on("GET /info", ANOTHER_SERVER)

    assert_one_line(ask("status"), "is not a hosting emulator")


def test_file_that_is_not_there(ask, tmp_path):
    assert_one_line(ask("world", "import", str(tmp_path / "no.json")), "no.json", "No such file")


def test_file_of_json_that_is_nested_too_deeply(ask, tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000 + "]" * 100_000)

    assert_one_line(ask("world", "import", str(path)), "deep.json", "nested too deeply")


def test_file_that_is_not_json(ask, tmp_path):
    path = tmp_path / "bad.json"
    path.write_text('{"a": 1,\n}', encoding="utf-8")

    assert_one_line(ask("world", "import", str(path)), "bad.json:2:1", "not JSON")


def test_file_that_is_not_text(ask, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(b"\xff\xfe\xfa")

    assert_one_line(ask("world", "import", str(path)), "not JSON")


def test_document_that_is_no_world(ask):
    assert_one_line(ask("world", "import", "-", stdin="[1]"), "JSON object")


def test_output_that_cannot_be_written(ask, control: FakeControl, tmp_path):
    control.on("GET /worlds/default/state", {"a": 1})

    result = ask("world", "export", "--output", str(tmp_path / "missing" / "x.json"))

    assert_one_line(result, "cannot write", "No such file")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_full_disk_behind_stdout():
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "hosting_emulator_cli", "--version"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )

    assert (done.returncode, done.stderr) == (2, "Error: no space left on device\n")


def test_streams_that_are_closed_end_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "argv", ["hosting-emulator", "contract", "problems"])
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)

    with pytest.raises(SystemExit) as ended:
        main()

    assert not ended.value.code
    assert sys.stderr is not None
    sys.stdout.close()
    sys.stderr.close()
