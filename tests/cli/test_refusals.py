"""The table of refusals: command lines, documents and variables that no command can use.

No other test contains the sentences of these refusals. Each refusal is one line on stderr with exit
code 2 and nothing on stdout, and it comes before the command starts anything or sends a request.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from click.testing import Result

from hosting_emulator_cli import execution, exploration, judging
from tests.cli.conftest import Run
from tests.support.fake_bootstrap import FakeBootstrap
from tests.support.fake_control import FakeControl

ULID = "01J00000000000000000000000"
#: The server and the user of `contract check`. Nothing listens at the address.
CHECKED_SERVER = {
    "HOSTING_BASE_URL": "http://127.0.0.1:1",
    "HOSTING_TOKEN": "token",
    "HOSTING_PROJECT_ID": ULID,
    "HOSTING_ORGANIZATION_ID": ULID,
}


class Refusal:
    """A command line with its files and variables, and the words that its refusal contains."""

    def __init__(
        self,
        line: str,
        *words: str,
        files: dict[str, str | bytes] | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        self.line = line
        self.words = words
        self.files = files or {}
        self.variables = variables or {}

    def __str__(self) -> str:
        inputs = [*map(repr, self.files.values()), *self.variables]
        return " ".join([self.line, *inputs])[:80]


def settings_refusal(text: str | bytes, *words: str, line: str = "start") -> Refusal:
    """Return the refusal of a settings file beside the app."""
    return Refusal(line, *words, files={"hosting-emulator.yaml": text})


def check_refusal(options: str, *words: str) -> Refusal:
    """Return the refusal of options of `contract check`."""
    return Refusal(f"contract check {options}", *words, variables=CHECKED_SERVER)


POINT = "create_user_api_key#1/timeout/after_commit"
DEEP_JSON = "[" * 100_000 + "]" * 100_000
REFUSALS = [
    Refusal("nonsense", "nonsense"),
    Refusal("--nonsense", "--nonsense"),
    Refusal("clock nonsense", "'nonsense'", "choose from show, freeze"),
    Refusal("strat", "did you mean start?"),
    # Suggested options are near, have the same meaning, or are absent.
    Refusal("status --wrld x", "No such option '--wrld'.\n"),
    Refusal("env --wrld x", "'--wrld'; did you mean --world?\n"),
    Refusal("requests list --until 10m", "'--until'; did you mean --before?\n"),
    Refusal("fault add timeout --since 10m", "'--since'; did you mean --from?\n"),
    Refusal("world create --sed 3", "'--sed'; did you mean --seed?\n"),
    Refusal("start --tls 0", "'--tls'; did you mean --tls-port?\n"),
    Refusal("env --org acme", "'--org'; did you mean --organization?\n"),
    # A comma before NAME= starts a new value.
    Refusal(
        "exec --export HOSTING_BASE_URL=A,X=B x",
        "there is no variable 'X'; ",
        "the comma before `X=` starts a new value: write `\\,` if",
    ),
    Refusal("world lst", "did you mean list?"),
    Refusal("clock scale", "RATE"),
    Refusal("clock scale fast", "fast", "above 0"),
    Refusal("clock scale 0", "above 0"),
    Refusal("clock scale nan", "above 0"),
    Refusal("clock advance --to yesterday", "yesterday", "2026-01-31T09:30:00Z"),
    Refusal("clock advance", "exactly one", "DURATION", "--to", "--until-operation"),
    Refusal("clock advance 1m --to 2030-01-01T00:00:00Z", "exactly one"),
    Refusal("clock advance -5m", "'-5…' is not an option", "negative"),
    Refusal("world rewind -1", "'-1…' is not an option", "negative"),
    Refusal("clock advance --to soon", "--to", "soon"),
    Refusal("env --shell cmd", "--shell", "fish"),
    Refusal("start --clock slow", "--clock", "scaled:RATE"),
    Refusal("start --clock scaled:-1", "--clock", "above 0"),
    Refusal("start --at noon", "--at", "noon"),
    Refusal("start --port 70000", "--port", "65535"),
    Refusal("start --assume rate_limit", "--assume", "NAME=VALUE"),
    Refusal("start --assume =x", "--assume", "NAME=VALUE"),
    Refusal("start --json --quiet", "--json", "--quiet"),
    Refusal("stop --all --url http://127.0.0.1:1", "--all", "--url"),
    Refusal("stop --timeout long", "--timeout", "'long'"),
    Refusal("start --ephemeral --data-dir x", "--ephemeral", "--data-dir"),
    Refusal("status --url 127.0.0.1:4620", "--url", "http://127.0.0.1:4620"),
    Refusal("token --lifetime 1.5s", "--lifetime", "whole number of seconds"),
    Refusal("token --lifetime 0s", "--lifetime", "whole number of seconds"),
    Refusal("token --lifetime long", "--lifetime", "'long'", "10m"),
    Refusal("wait --timeout long", "--timeout", "'long'"),
    Refusal("world delete", "NAME"),
    Refusal("world create --clock scaled", "--clock", "scaled:RATE"),
    Refusal("start --watch", "--watch", "--scenario"),
    Refusal("start --watch --scenario stuck-operation", "--watch", "a file"),
    Refusal("fault add", "EFFECT", "--json-fault"),
    Refusal("fault add timeout --json-fault {}", "EFFECT", "--json-fault"),
    Refusal(
        "fault add --json-fault {} --times 2",
        "Error: --json-fault contains the whole fault: omit all other options of the fault\n",
    ),
    Refusal("fault add --json-fault {", "--json-fault", "not JSON"),
    Refusal("fault add --json-fault [1]", "--json-fault", "object"),
    Refusal("fault add abort --code x", "--code", "code=VALUE"),
    Refusal("requests list --limit many", "--limit", "'many'", "1 to 1000"),
    Refusal("requests show 0", "'0'", "of at least 1"),
    Refusal(
        "fault add abort code", "'code'", "NAME=VALUE; for example: `hosting-emulator fault add"
    ),
    Refusal("outcome add", "'KIND'; for example: `hosting-emulator outcome add"),
    Refusal("token owner", "(owner); for example: `hosting-emulator token --user"),
    Refusal("--port 4700", "options follow the command, as in `hosting-emulator start --port …`"),
    Refusal("fault add timeout --nonsense x", "No such option '--nonsense'."),
    Refusal("fault add timeout --times two", "--times", "two"),
    Refusal("requests list --whole", "--whole needs --json; `requests show N` shows one request"),
    Refusal("fault add timeout --header X", "--header", "NAME=VALUE"),
    Refusal("fault remove", "FAULT"),
    Refusal("intervene", "NAME"),
    Refusal("intervene kinds project=shop", "takes no fields"),
    Refusal("intervene stick_operation project", "'project'", "NAME=VALUE"),
    Refusal("scenario show no-such-thing", "no-such-thing", "scenario list"),
    Refusal("scenario show stuck-operatio", "did you mean stuck-operation"),
    Refusal("scenario check no/such.yaml", "no/such.yaml", "No such file"),
    Refusal("scenario load no/such.yaml", "no/such.yaml", "No such file"),
    Refusal("scenario run", "SCENARIO"),
    Refusal("scenario record /", "'/' is a directory"),
    Refusal(
        "token --api-key --without-session", "--without-session and --lifetime cannot be used with"
    ),
    Refusal(
        "token --api-key --lifetime 5m", "--without-session and --lifetime cannot be used with"
    ),
    Refusal("token --permission dns.read", "--permission needs --api-key"),
    Refusal("world add project docs2", "add --organization ORGANIZATION"),
    Refusal("world add key owner", "add --value phk_…, or let `token --api-key` generate a key"),
    Refusal("doctor --url nonsense", "is not an address"),
    *(
        Refusal(f"{line} ''", "a name is empty: worlds/")
        for line in ("fault remove", "outcome remove", "world reset", "world delete", "why")
    ),
    *(
        Refusal(
            f"start {option} ''",
            f"Invalid value for '{option}': the name is empty: specify a file, or omit the option",
        )
        for option in ("--data-dir", "--ready-file", "--scenario", "--import")
    ),
    Refusal("start --ready-file no/ready.json", "no such directory"),
    # Commands that are run around an emulator.
    Refusal("exec", "give a command to run: hosting-emulator exec -- CMD [ARGS]..."),
    Refusal(
        "exec --export HOSTING_BASE_URL x",
        "'HOSTING_BASE_URL' is not of the form NAME=OTHER, such as",
    ),
    Refusal("exec --export 'HOSTING_BASE_URL=A URL' x", "is not of the form NAME=OTHER"),
    Refusal("exec --export HOSTING_BASEURL=A x", "did you mean HOSTING_BASE_URL?"),
    Refusal("exec --export X=A x", "there is no variable 'X'; choose from HOSTING_BASE_URL, "),
    Refusal("exec --kill-after soon x", "--kill-after", "'soon'"),
    Refusal("exec --clock soon x", "'soon' is not a clock: use real, frozen, skip or scaled:RATE"),
    Refusal("exec --failed-world no/such/folder.json x", "no such directory"),
    Refusal("exec --skip-rule polled-too-early x", "--skip-rule needs --conduct=report"),
    Refusal("exec --shrink x", "--shrink needs --vary"),
    *(
        refusal
        for line in ("exec {} x", "start {}", "scenario run {} x")
        for refusal in (
            Refusal(line.format("--vary-only page-size"), "--vary-only needs --vary"),
            Refusal(line.format("--vary 7 --vary-only page-sizes"), "did you mean page-size?"),
        )
    ),
    Refusal("judge", "give a command to run: hosting-emulator judge -- CMD [ARGS]..."),
    Refusal("judge --budget 0s x", "leaves no time"),
    Refusal("judge --budget 60 x", "'60' has no unit: write 60s for seconds"),
    Refusal("judge --severity fatal x", "--severity", "'fatal'"),
    Refusal("judge --trial nonsense x", "write clean, clean/scaled"),
    Refusal("judge --trial clean --json x", "--trial makes one trial"),
    Refusal("judge --html no/such/folder.html x", "no such directory"),
    Refusal("judge --clock skip x", "--clock"),
    Refusal("explore", "give a command to run: hosting-emulator explore -- CMD [ARGS]..."),
    Refusal("explore --faults timeot x", "did you mean timeout?"),
    Refusal("explore --faults abort:rate_limit x", "did you mean abort:rate_limited?"),
    Refusal("explore --call list_deployment x", "did you mean list_deployments?"),
    Refusal("explore --trial nonsense x", "write CALL#N/FAULT/PHASE"),
    Refusal(f"explore --trial '{POINT}' --json x", "--trial makes one trial"),
    Refusal("explore --time-limit 0s x", "leaves no time"),
    Refusal("explore --time-limit 2 x", "'2' has no unit: write 2s for seconds"),
    Refusal("explore --conduct loud x", "--conduct", "'loud'"),
    Refusal("explore --budget soon x", "--budget", "'soon'"),
    Refusal("explore --html no/such/folder.html x", "no such directory"),
    Refusal("explore -j 0 x", "is not a whole number from"),
    # The contract check.
    Refusal("contract check", "'--base-url'"),
    check_refusal("--project shop", "--project: 'shop' is not a Ulid"),
    check_refusal("--organization acme", "--organization: 'acme' is not a Ulid"),
    check_refusal("--base-url a.example", "--base-url: 'a.example' is not an address"),
    check_refusal("--base-url http://x/v1?y=1", "--base-url: 'http://x/v1?y=1' is not an address"),
    check_refusal("--base-url http://[", "--base-url: 'http://[' is not an address"),
    check_refusal("--base-url http://x:99999", "--base-url: 'http://x:99999' is not an address"),
    check_refusal("--origin-url ftp://x", "--origin-url: 'ftp://x' is not an address"),
    check_refusal("--allow flags", "unknown word 'flags'; did you mean flag?"),
    check_refusal("--timeout soon", "'soon'"),
    check_refusal("--token 'a\nb'", "--token cannot be sent"),
    check_refusal("--ca-file /no/such/file", "--ca-file: cannot read /no/such/file"),
    check_refusal(
        "--assume operation_path=/jobs", "operation_path '/jobs' is not a path below /v1"
    ),
    check_refusal(
        "--assume operation_pth=x",
        "the check does not take 'operation_pth'; it takes operation_path",
    ),
    check_refusal("--assume 'limit_parameter=a b'", "limit_parameter cannot be 'a b'"),
    Refusal(
        "contract check --base-url https://127.0.0.1:9 --ca-file hosting-emulator.yaml",
        "--ca-file: hosting-emulator.yaml contains no PEM certificate that can be read",
        files={"hosting-emulator.yaml": ""},
        variables=CHECKED_SERVER,
    ),
    *(
        check_refusal(
            f"--allow keys {option} nowhere/observed.yaml",
            "cannot write nowhere/observed.yaml: no such directory",
        )
        for option in ("--write-scenario", "--junit")
    ),
    # The settings file beside an app.
    settings_refusal(
        "prot: 4711", "hosting-emulator.yaml:1: there is no setting 'prot'; did you mean port?"
    ),
    settings_refusal("prot: 4711", "there is no setting 'prot'", line="exec x"),
    settings_refusal(
        "5: 4711", "hosting-emulator.yaml:1: there is no setting '5'; there are host, port, "
    ),
    settings_refusal("replace: true", "there is no setting 'replace'"),
    settings_refusal(
        "clock: skip\nport: 70000",
        "hosting-emulator.yaml:2: port must be a port from 0 to 65535, such as 4711; it is 70000",
    ),
    settings_refusal(
        "clock: slow", "hosting-emulator.yaml:1: Invalid value for '--clock': 'slow' is not"
    ),
    settings_refusal("port: [", "hosting-emulator.yaml:1:8: this is not YAML"),
    settings_refusal(
        "at: 2030-02-31", "Error: hosting-emulator.yaml: day is out of range for month\n"
    ),
    settings_refusal(
        "port: true", "hosting-emulator.yaml:1: port must be a port", "; it is true\n"
    ),
    settings_refusal(
        "allow-origin: {a: b}",
        "hosting-emulator.yaml:1: allow-origin must be ",
        '; it is {"a": "b"}',
    ),
    # A key of a merged mapping has no line of its own.
    settings_refusal(
        "<<: {port: 70000}", "Error: hosting-emulator.yaml: port must be a port", "; it is 70000\n"
    ),
    settings_refusal(
        f"log-level: {'a' * 58}",
        f'log-level must be error, warning, info or debug; it is "{58 * "a"}"\n',
    ),
    settings_refusal(
        f"log-level: {'a' * 59}",
        f'log-level must be error, warning, info or debug; it is "{59 * "a"}…\n',
    ),
    settings_refusal(
        "at: 2030-01-31", "hosting-emulator.yaml:1: Invalid value for '--at': '2030-01-31' is not"
    ),
    settings_refusal(
        "{vary: 7, vary-only: page-sise}",
        "hosting-emulator.yaml:1: Invalid value for '--vary-only'",
    ),
    settings_refusal(
        "assume: 5",
        "hosting-emulator.yaml:1: assume must be a mapping of names to values, such as "
        "{accepted_status: 200}; it is 5",
    ),
    settings_refusal(
        "scenario: [a]",
        "hosting-emulator.yaml:1: scenario must be the name of a scenario or a YAML file, such as "
        'ours.yaml; it is ["a"]',
    ),
    settings_refusal(
        "log-level: loud",
        "hosting-emulator.yaml:1: log-level must be error, warning, info or debug; it is",
    ),
    settings_refusal(
        "{port: 1, control-token: [s3cret]}",
        "Error: hosting-emulator.yaml:1: control-token must be a string of printable ASCII\n",
    ),
    Refusal(
        "start",
        "Error: pyproject.toml:4 [tool.hosting-emulator]: watch must be true or false; it is 7",
        files={"pyproject.toml": "[project]\nname = 'x'\n[tool.hosting-emulator]\nwatch = 7\n"},
    ),
    Refusal(
        "start",
        "Error: pyproject.toml [tool.hosting-emulator]: Invalid value (at line 2, column 8)\n",
        files={"pyproject.toml": "[tool.hosting-emulator]\nport = \n"},
    ),
    # The line of a key that is written with escapes is not found.
    Refusal(
        "start",
        "Error: pyproject.toml [tool.hosting-emulator]: port must be a port",
        files={"pyproject.toml": '[tool.hosting-emulator]\n"\\u0070ort" = 70000\n'},
    ),
    settings_refusal("port", "hosting-emulator.yaml contains no settings"),
    settings_refusal(
        r'scenario: "a\0b.yaml"', "Invalid value for '--scenario': 'a\\x00b.yaml' contains a NUL"
    ),
    settings_refusal(
        r'data-dir: "a\0b"', "Invalid value for '--data-dir': 'a\\x00b' contains a NUL"
    ),
    settings_refusal(b'seed: "\xff"\n', "Error: hosting-emulator.yaml: not UTF-8 text"),
    Refusal(
        "start",
        "Error: pyproject.toml [tool.hosting-emulator]: not UTF-8 text",
        files={"pyproject.toml": b'[tool.hosting-emulator]\nseed = "\xff"\n'},
    ),
    # Variables.
    Refusal(
        "start",
        "Error: the variable HOSTING_EMULATOR_PORT: Invalid value",
        variables={"HOSTING_EMULATOR_PORT": "abc"},
    ),
    Refusal(
        "status",
        "the variable HOSTING_EMULATOR_PORT: 'http://127.0.0.1:abc' is not",
        variables={"HOSTING_EMULATOR_PORT": "abc", "HOSTING_EMULATOR_URL": ""},
    ),
    # Documents.
    Refusal("world import no.json", "no.json", "No such file"),
    Refusal("world import a.json", "a.json", "nested too deeply", files={"a.json": DEEP_JSON}),
    Refusal("world import a.json", "a.json:2:1", "not JSON", files={"a.json": '{"a": 1,\n}'}),
    Refusal("world import a.json", "not JSON", files={"a.json": b"\xff\xfe\xfa"}),
    Refusal("world import a.json", "JSON object", files={"a.json": "[1]"}),
    Refusal(
        "scenario check a.yaml", "Error: a.yaml: not UTF-8 text", files={"a.yaml": b"\xff\xfe"}
    ),
    *(
        Refusal("world add --file own.yaml", words, files={"own.yaml": text})
        for text, words in (
            ("name: x\ndescription: y\n", "has no key `world`"),
            ("- 1\n", "has no key `world`"),
            ("world: [", "own.yaml:1:9: this is not YAML"),
        )
    ),
]


@pytest.fixture
def refuse(
    run: Run,
    control: FakeControl,
    bootstrap: FakeBootstrap,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> Run:
    """Run a command line that must be refused before it starts or asks for anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOSTING_EMULATOR_URL", control.url)
    for module, name in (
        (execution, "execute"),
        (exploration, "explore"),
        (judging, "judge"),
    ):
        monkeypatch.setattr(module, name, lambda *arguments: pytest.fail("a command was run"))

    def refuse(*arguments: str) -> Result:
        result = run(*arguments)
        assert control.requests == []
        assert bootstrap.settings == []
        return result

    return refuse


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_command_refuses_what_it_cannot_use(
    refuse: Run, refusal: Refusal, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in refusal.files.items():
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name, value in refusal.variables.items():
        monkeypatch.setenv(name, value)

    result = refuse(*shlex.split(refusal.line))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for words in refusal.words:
        assert words in result.stderr
