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
    """A command line with its files and variables, and the message that refuses it.

    If the message ends in a space and an ellipsis, the rest of the printed message is not compared.
    """

    def __init__(
        self,
        line: str,
        message: str,
        files: dict[str, str | bytes] | None = None,
        variables: dict[str, str] | None = None,
    ) -> None:
        self.line = line
        self.message = message
        self.files = files or {}
        self.variables = variables or {}

    def __str__(self) -> str:
        inputs = [*map(repr, self.files.values()), *self.variables]
        return " ".join([self.line, *inputs])[:80]


def settings_refusal(text: str | bytes, message: str, line: str = "start") -> Refusal:
    """Return the refusal of a settings file beside the app."""
    return Refusal(line, message, files={"hosting-emulator.yaml": text})


def check_refusal(options: str, message: str) -> Refusal:
    """Return the refusal of options of `contract check`."""
    return Refusal(f"contract check {options}", message, variables=CHECKED_SERVER)


POINT = "create_user_api_key#1/timeout/after_commit"
DEEP_JSON = "[" * 100_000 + "]" * 100_000
REFUSALS = [
    Refusal("nonsense", "there is no command 'nonsense'; choose from start, …"),
    Refusal("--nonsense", "No such option '--nonsense'."),
    Refusal(
        "clock nonsense",
        "there is no command 'nonsense'; choose from show, freeze, run, scale, skip, advance",
    ),
    Refusal("strat", "there is no command 'strat'; did you mean start?"),
    # Suggested options are near, have the same meaning, or are absent.
    Refusal("status --wrld x", "No such option '--wrld'."),
    Refusal("env --wrld x", "No such option '--wrld'; did you mean --world?"),
    Refusal("requests list --until 10m", "No such option '--until'; did you mean --before?"),
    Refusal("fault add timeout --since 10m", "No such option '--since'; did you mean --from?"),
    Refusal("world create --sed 3", "No such option '--sed'; did you mean --seed?"),
    Refusal("start --tls 0", "No such option '--tls'; did you mean --tls-port?"),
    Refusal("env --org acme", "No such option '--org'; did you mean --organization?"),
    # A comma before NAME= starts a new value.
    Refusal(
        "exec --export HOSTING_BASE_URL=A,X=B x",
        "Invalid value for '--export': there is no variable 'X'; choose from "
        "HOSTING_BASE_URL, HOSTING_DEV_BASE_URL, HOSTING_TOKEN, HOSTING_ORGANIZATION_ID, "
        "HOSTING_PROJECT_ID, HOSTING_CONTROL_URL, HOSTING_ISSUER_URL, HOSTING_EMULATOR_URL, "
        "HOSTING_EMULATOR_WORLD, HOSTING_TLS_URL, HOSTING_CA_FILE; the comma before `X=` "
        "starts a new value: write `\\,` if the comma belongs to the value before it",
    ),
    Refusal("world lst", "there is no command 'lst'; did you mean list?"),
    Refusal(
        "clock scale", "Missing argument 'RATE'; for example: `hosting-emulator clock scale 60`"
    ),
    Refusal(
        "clock scale fast",
        "Invalid value for 'RATE': 'fast' is not a rate: write a number above 0, such as 60 or 0.5",
    ),
    Refusal(
        "clock scale 0",
        "Invalid value for 'RATE': '0' is not a rate: write a number above 0, such as 60 or 0.5",
    ),
    Refusal(
        "clock scale nan",
        "Invalid value for 'RATE': 'nan' is not a rate: write a number above 0, such as 60 or 0.5",
    ),
    Refusal(
        "clock advance --to yesterday",
        "Invalid value for '--to': 'yesterday' is not a timestamp: write it like "
        "2026-01-31T09:30:00Z (with Z or an offset)",
    ),
    Refusal("clock advance", "use exactly one of DURATION, --to and --until-operation"),
    Refusal(
        "clock advance 1m --to 2030-01-01T00:00:00Z",
        "use exactly one of DURATION, --to and --until-operation",
    ),
    Refusal(
        "clock advance -5m",
        "'-5…' is not an option; if you meant a value, values cannot be negative",
    ),
    Refusal(
        "world rewind -1", "'-1…' is not an option; if you meant a value, values cannot be negative"
    ),
    Refusal(
        "clock advance --to soon",
        "Invalid value for '--to': 'soon' is not a timestamp: write it like "
        "2026-01-31T09:30:00Z (with Z or an offset)",
    ),
    Refusal(
        "env --shell cmd",
        "Invalid value for '--shell': 'cmd' is not one of 'sh', 'fish', 'powershell', 'dotenv'.",
    ),
    Refusal(
        "start --clock slow",
        "Invalid value for '--clock': 'slow' is not a clock: use real, frozen, skip or "
        "scaled:RATE, such as scaled:60",
    ),
    Refusal(
        "start --clock scaled:-1",
        "Invalid value for '--clock': '-1' is not a rate: write a number above 0, such as 60 "
        "or 0.5",
    ),
    Refusal(
        "start --at noon",
        "Invalid value for '--at': 'noon' is not a timestamp: write it like "
        "2026-01-31T09:30:00Z (with Z or an offset)",
    ),
    Refusal(
        "start --port 70000",
        "Invalid value for '--port': '70000' is not a whole number from 0 to 65535",
    ),
    Refusal(
        "start --assume rate_limit",
        "Invalid value for '--assume': 'rate_limit' is not of the form NAME=VALUE",
    ),
    Refusal(
        "start --assume =x",
        "Invalid value for '--assume': '=x' is not of the form NAME=VALUE",
    ),
    Refusal("start --json --quiet", "use either --json or --quiet, not both"),
    Refusal("stop --all --url http://127.0.0.1:1", "use either --all or --url, not both"),
    Refusal(
        "stop --timeout long",
        "Invalid value for '--timeout': 'long' is not a duration: write it like 500ms, 90s, "
        "10m, 1h30m, 90d or PT10M",
    ),
    Refusal(
        "stop --timeout 0s",
        "Invalid value for '--timeout': '0s' leaves no time: use a duration such as 10s",
    ),
    Refusal("start --ephemeral --data-dir x", "use either --data-dir or --ephemeral, not both"),
    Refusal(
        "status --url 127.0.0.1:4620",
        "Invalid value for --url: '127.0.0.1:4620' is not an address such as http://127.0.0.1:4620",
    ),
    Refusal(
        "token --lifetime 1.5s",
        "Invalid value for '--lifetime': must be a whole number of seconds and at least 1s, "
        "not '1.5s'",
    ),
    Refusal(
        "token --lifetime 0s",
        "Invalid value for '--lifetime': must be a whole number of seconds and at least 1s, "
        "not '0s'",
    ),
    Refusal(
        "token --lifetime long",
        "Invalid value for '--lifetime': 'long' is not a duration: write it like 500ms, 90s, "
        "10m, 1h30m, 90d or PT10M",
    ),
    Refusal(
        "wait --timeout long",
        "Invalid value for '--timeout': 'long' is not a duration: write it like 500ms, 90s, "
        "10m, 1h30m, 90d or PT10M",
    ),
    Refusal(
        "world delete",
        "Missing argument 'NAME'; for example: `hosting-emulator world delete checkout`",
    ),
    Refusal(
        "world create --clock scaled",
        "Invalid value for '--clock': 'scaled' is not a clock: use real, frozen, skip or "
        "scaled:RATE, such as scaled:60",
    ),
    Refusal("start --watch", "--watch needs --scenario with a file"),
    Refusal("start --watch --scenario stuck-operation", "--watch needs --scenario with a file"),
    Refusal("fault add", "use either EFFECT or --json-fault"),
    Refusal("fault add timeout --json-fault {}", "use either EFFECT or --json-fault"),
    Refusal(
        "fault add --json-fault {} --times 2",
        "--json-fault contains the whole fault: omit all other options of the fault",
    ),
    Refusal("fault add --json-fault {", "Invalid value for --json-fault: not JSON: …"),
    Refusal(
        "fault add --json-fault [1]",
        'Invalid value for --json-fault: write an object, such as {"timeout": {}, "times": 1}',
    ),
    Refusal(
        "fault add abort --code x",
        "No such option '--code': write an effect's options without dashes, as code=VALUE.",
    ),
    Refusal(
        "requests list --limit many",
        "Invalid value for '--limit': 'many' is not a whole number from 1 to 1000",
    ),
    Refusal("requests show 0", "Invalid value for 'N': '0' is not a whole number of at least 1"),
    Refusal(
        "fault add abort code",
        "Invalid value for '[OPTION=VALUE]...': 'code' is not of the form NAME=VALUE; for "
        "example: `hosting-emulator fault add latency delay_ms=200 jitter_ms=50 --project "
        "shop`",
    ),
    Refusal(
        "outcome add",
        "Missing argument 'KIND'; for example: `hosting-emulator outcome add cancel "
        "phase=building --times 3`",
    ),
    Refusal(
        "token owner",
        "Got unexpected extra argument (owner); for example: `hosting-emulator token --user "
        "reader --lifetime 5m`",
    ),
    Refusal(
        "--port 4700",
        "No such option '--port'; options follow the command, as in `hosting-emulator start "
        "--port …`",
    ),
    Refusal("fault add timeout --nonsense x", "No such option '--nonsense'."),
    Refusal(
        "requests list --whole", "--whole needs --json; `requests show N` shows one request in full"
    ),
    Refusal(
        "fault add timeout --times two",
        "Invalid value for '--times': 'two' is not a valid integer.",
    ),
    Refusal(
        "fault add timeout --header X",
        "Invalid value for '--header': 'X' is not of the form NAME=VALUE",
    ),
    Refusal(
        "fault remove",
        "Missing argument 'FAULT...'; for example: `hosting-emulator fault remove fault-1`",
    ),
    Refusal(
        "intervene",
        "Missing argument 'NAME'; for example: `hosting-emulator intervene stick_operation "
        "project=shop`",
    ),
    Refusal("intervene kinds project=shop", "`intervene kinds` takes no fields"),
    Refusal(
        "intervene stick_operation project",
        "Invalid value for '[FIELD=VALUE]...': 'project' is not of the form NAME=VALUE; for "
        "example: `hosting-emulator intervene stick_operation project=shop`",
    ),
    Refusal(
        "scenario show no-such-thing",
        "the library has no scenario 'no-such-thing'; `hosting-emulator scenario list` lists "
        "all scenarios",
    ),
    Refusal(
        "scenario show stuck-operatio",
        "the library has no scenario 'stuck-operatio'; did you mean stuck-operation?",
    ),
    Refusal("scenario check no/such.yaml", "cannot read no/such.yaml: No such file or directory"),
    Refusal("scenario load no/such.yaml", "cannot read no/such.yaml: No such file or directory"),
    Refusal(
        "scenario run",
        "Missing argument 'SCENARIO...'; for example: `hosting-emulator scenario run "
        "provider-outage`",
    ),
    Refusal("scenario record /", "Invalid value for 'FILE': File '/' is a directory."),
    Refusal(
        "token --api-key --without-session",
        "--without-session and --lifetime cannot be used with --api-key",
    ),
    Refusal(
        "token --api-key --lifetime 5m",
        "--without-session and --lifetime cannot be used with --api-key",
    ),
    Refusal("requests list --text '\udce9'", "'\\udce9' is not valid UTF-8 text"),
    Refusal("token --permission dns.read", "--permission needs --api-key"),
    Refusal(
        "world add project docs2",
        "a project belongs to an organization: add --organization ORGANIZATION",
    ),
    Refusal(
        "world add key owner",
        "a key needs a value: add --value phk_…, or let `token --api-key` generate a key",
    ),
    Refusal(
        "doctor --url nonsense",
        "Invalid value for --url: 'nonsense' is not an address such as http://127.0.0.1:4620",
    ),
    *(
        Refusal(f"{line} ''", f"a name or id is empty, so no request is sent to worlds/{path}")
        for line, path in (
            ("fault remove", "default/faults/"),
            ("outcome remove", "default/outcomes/"),
            ("world reset", "/reset"),
            ("world delete", ""),
            ("why", "default/operations//why"),
        )
    ),
    *(
        Refusal(
            f"start {option} ''",
            f"Invalid value for '{option}': the name is empty: specify a file, or omit the option",
        )
        for option in ("--data-dir", "--ready-file", "--scenario", "--import")
    ),
    Refusal("start --ready-file no/ready.json", "cannot write no/ready.json: no such directory"),
    # Commands that are run around an emulator.
    Refusal("exec", "give a command to run: hosting-emulator exec -- CMD [ARGS]..."),
    Refusal("exec -- ''", "CMD is empty; give the name of a program to run"),
    Refusal(
        "exec --export HOSTING_BASE_URL x",
        "Invalid value for '--export': 'HOSTING_BASE_URL' is not of the form NAME=OTHER, "
        "such as HOSTING_BASE_URL=API_URL",
    ),
    Refusal(
        "exec --export 'HOSTING_BASE_URL=A URL' x",
        "Invalid value for '--export': 'HOSTING_BASE_URL=A URL' is not of the form "
        "NAME=OTHER, such as HOSTING_BASE_URL=API_URL",
    ),
    Refusal(
        "exec --export HOSTING_BASEURL=A x",
        "Invalid value for '--export': there is no variable 'HOSTING_BASEURL'; did you mean "
        "HOSTING_BASE_URL?",
    ),
    Refusal(
        "exec --export X=A x",
        "Invalid value for '--export': there is no variable 'X'; choose from HOSTING_BASE_URL, …",
    ),
    Refusal(
        "exec --kill-after soon x",
        "Invalid value for '--kill-after': 'soon' is not a duration: write it like 500ms, "
        "90s, 10m, 1h30m, 90d or PT10M",
    ),
    Refusal(
        "exec --clock soon x",
        "Invalid value for '--clock': 'soon' is not a clock: use real, frozen, skip or "
        "scaled:RATE, such as scaled:60",
    ),
    Refusal(
        "exec --failed-world no/such/folder.json x",
        "cannot write no/such/folder.json: no such directory",
    ),
    Refusal(
        "exec --skip-rule polled-too-early x",
        "--skip-rule needs --conduct=report or --conduct=error",
    ),
    Refusal("exec --shrink x", "--shrink needs --vary SEED"),
    *(
        refusal
        for line in ("exec {} x", "start {}", "scenario run {} x")
        for refusal in (
            Refusal(line.format("--vary-only page-size"), "--vary-only needs --vary SEED"),
            Refusal(
                line.format("--vary 7 --vary-only page-sizes"),
                "Invalid value for '--vary-only' (env var: 'HOSTING_EMULATOR_VARY_ONLY'): there is "
                "no variation point 'page-sizes'; did you mean page-size?",
            ),
        )
    ),
    Refusal("judge", "give a command to run: hosting-emulator judge -- CMD [ARGS]..."),
    Refusal(
        "judge -- .venv/bin/hosting-emulator exec -- x",
        "judge starts an emulator itself, and sees no request to the one that `exec` starts; leave "
        "out `exec`: hosting-emulator judge -- CMD [ARGS]...",
    ),
    Refusal(
        "judge --budget 0s x",
        "Invalid value for '--budget': '0s' leaves no time: use a duration such as 10s",
    ),
    Refusal(
        "judge --budget 60 x",
        "Invalid value for '--budget': '60' has no unit: write 60s for seconds",
    ),
    Refusal(
        "judge --severity fatal x",
        "Invalid value for '--severity': 'fatal' is not one of 'note', 'warning', 'error'.",
    ),
    Refusal(
        "judge --trial nonsense x",
        "Invalid value for '--trial': 'nonsense' is not a trial: write clean, clean/scaled, "
        "clean/base-path, phases, vary/SEED, vary/SEED/POINT,..., alter/CALL/CLASS/CHANGE:PART, "
        "accept/CALL#N or CALL#N/FAULT/PHASE",
    ),
    Refusal(
        "judge --trial clean --json x",
        "--trial makes one trial and writes no reports: leave out --json, --junit and --html",
    ),
    Refusal(
        "judge --html no/such/folder.html x", "cannot write no/such/folder.html: no such directory"
    ),
    Refusal("judge --clock skip x", "No such option '--clock'."),
    Refusal("explore", "give a command to run: hosting-emulator explore -- CMD [ARGS]..."),
    Refusal(
        "explore -- hosting-emulator exec --quiet x",
        "explore starts an emulator itself, and sees no request to the one that `exec` starts; leave "
        "out `exec`: hosting-emulator explore -- CMD [ARGS]...",
    ),
    Refusal(
        "explore --faults timeot x",
        "Invalid value for '--faults': there is no fault 'timeot'; did you mean timeout?",
    ),
    Refusal(
        "explore --faults abort:rate_limit x",
        "Invalid value for '--faults': there is no fault 'abort:rate_limit'; did you mean "
        "abort:rate_limited?",
    ),
    Refusal(
        "explore --call list_deployment x",
        "Invalid value for '--call': there is no call 'list_deployment'; did you mean "
        "list_deployments?",
    ),
    Refusal(
        "explore --trial nonsense x",
        "Invalid value for '--trial': 'nonsense' is not a point: write CALL#N/FAULT/PHASE, "
        "such as create_user_api_key#1/timeout/after_commit",
    ),
    Refusal(
        f"explore --trial '{POINT}' --json x",
        "--trial makes one trial and writes no reports: leave out --json, --results, --junit and "
        "--html",
    ),
    Refusal(
        "explore --time-limit 0s x",
        "Invalid value for '--time-limit': '0s' leaves no time: use a duration such as 10s",
    ),
    Refusal(
        "explore --time-limit 2 x",
        "Invalid value for '--time-limit': '2' has no unit: write 2s for seconds",
    ),
    Refusal(
        "explore --conduct loud x",
        "Invalid value for '--conduct': 'loud' is not one of 'off', 'report', 'error'.",
    ),
    Refusal(
        "explore --budget soon x",
        "Invalid value for '--budget': 'soon' is not a duration: write it like 500ms, 90s, "
        "10m, 1h30m, 90d or PT10M",
    ),
    Refusal(
        "explore --html no/such/folder.html x",
        "cannot write no/such/folder.html: no such directory",
    ),
    Refusal(
        "explore -j 0 x",
        "Invalid value for '-j' / '--jobs': '0' is not a whole number from 1 to 64",
    ),
    # The contract check.
    Refusal(
        "contract check",
        "Missing option '--base-url' (env var: 'HOSTING_BASE_URL'); for example: "
        "`hosting-emulator exec -- hosting-emulator contract check --allow all`",
    ),
    check_refusal(
        "--project shop",
        "--project: 'shop' is not a Ulid, 26 characters of 0-9 and A-Z without I, L, O, U",
    ),
    check_refusal(
        "--organization acme",
        "--organization: 'acme' is not a Ulid, 26 characters of 0-9 and A-Z without I, L, O, U",
    ),
    check_refusal(
        "--base-url a.example",
        "--base-url: 'a.example' is not an address: write it like https://api.example",
    ),
    check_refusal(
        "--base-url http://x/v1?y=1",
        "--base-url: 'http://x/v1?y=1' is not an address: write it like https://api.example",
    ),
    check_refusal(
        "--base-url http://[",
        "--base-url: 'http://[' is not an address: write it like https://api.example",
    ),
    check_refusal(
        "--base-url http://x:99999",
        "--base-url: 'http://x:99999' is not an address: write it like https://api.example",
    ),
    check_refusal(
        "--origin-url ftp://x",
        "--origin-url: 'ftp://x' is not an address: write it like https://api.example",
    ),
    check_refusal(
        "--allow flags", "Invalid value for '--allow': unknown word 'flags'; did you mean flag?"
    ),
    check_refusal(
        "--timeout soon",
        "Invalid value for '--timeout': 'soon' is not a duration: write it like 500ms, 90s, "
        "10m, 1h30m, 90d or PT10M",
    ),
    check_refusal(
        "--timeout 0s",
        "Invalid value for '--timeout': '0s' leaves no time: use a duration such as 10s",
    ),
    check_refusal("--token 'a\nb'", "--token cannot be sent: it is not plain text of one line"),
    check_refusal("--ca-file /no/such/file", "--ca-file: cannot read /no/such/file"),
    check_refusal(
        "--assume operation_path=/jobs",
        "operation_path '/jobs' is not a path below /v1 with {operation_id}",
    ),
    check_refusal(
        "--assume operation_pth=x",
        "the check does not take 'operation_pth'; it takes operation_path, cursor_parameter, "
        "limit_parameter, environment_parameter",
    ),
    check_refusal(
        "--assume 'limit_parameter=a b'",
        "assumption limit_parameter cannot be 'a b': it must match …",
    ),
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
    settings_refusal(
        "prot: 4711",
        "hosting-emulator.yaml:1: there is no setting 'prot'; did you mean port?",
        line="exec x",
    ),
    settings_refusal(
        "5: 4711", "hosting-emulator.yaml:1: there is no setting '5'; there are host, port, …"
    ),
    settings_refusal(
        "replace: true",
        "hosting-emulator.yaml:1: there is no setting 'replace'; there are host, port, …",
    ),
    settings_refusal(
        "clock: skip\nport: 70000",
        "hosting-emulator.yaml:2: port must be a port from 0 to 65535, such as 4711; it is 70000",
    ),
    settings_refusal(
        "clock: slow",
        "hosting-emulator.yaml:1: Invalid value for '--clock': 'slow' is not a clock: use "
        "real, frozen, skip or scaled:RATE, such as scaled:60",
    ),
    settings_refusal("port: [", "hosting-emulator.yaml:1:8: this is not YAML: …"),
    settings_refusal("at: 2030-02-31", "hosting-emulator.yaml: day …"),
    settings_refusal(
        "port: true",
        "hosting-emulator.yaml:1: port must be a port from 0 to 65535, such as 4711; it is true",
    ),
    settings_refusal(
        "allow-origin: {a: b}",
        "hosting-emulator.yaml:1: allow-origin must be an origin or a list of them, such as "
        '["http://app.test:3000"]; it is {"a": "b"}',
    ),
    # A key of a merged mapping has no line of its own.
    settings_refusal(
        "<<: {port: 70000}",
        "hosting-emulator.yaml: port must be a port from 0 to 65535, such as 4711; it is 70000",
    ),
    settings_refusal(
        f"log-level: {'a' * 58}",
        "hosting-emulator.yaml:1: log-level must be error, warning, info or debug; it is "
        f'"{58 * "a"}"',
    ),
    settings_refusal(
        f"log-level: {'a' * 59}",
        "hosting-emulator.yaml:1: log-level must be error, warning, info or debug; it is "
        f'"{59 * "a"}…',
    ),
    settings_refusal(
        "at: 2030-01-31",
        "hosting-emulator.yaml:1: Invalid value for '--at': '2030-01-31' is not a timestamp: "
        "write it like 2026-01-31T09:30:00Z (with Z or an offset)",
    ),
    settings_refusal(
        "{vary: 7, vary-only: page-sise}",
        "hosting-emulator.yaml:1: Invalid value for '--vary-only' (env var: "
        "'HOSTING_EMULATOR_VARY_ONLY'): there is no variation point 'page-sise'; did you "
        "mean page-size?",
    ),
    settings_refusal(
        "assume: 5",
        "hosting-emulator.yaml:1: assume must be a mapping of names to values, such as "
        "{accepted_status: 200}; it is 5",
    ),
    settings_refusal(
        "scenario: [a]",
        "hosting-emulator.yaml:1: scenario must be the name of a scenario or a YAML file, "
        'such as ours.yaml; it is ["a"]',
    ),
    settings_refusal(
        "log-level: loud",
        'hosting-emulator.yaml:1: log-level must be error, warning, info or debug; it is "loud"',
    ),
    settings_refusal(
        "{port: 1, control-token: [s3cret]}",
        "hosting-emulator.yaml:1: control-token must be a string of printable ASCII",
    ),
    Refusal(
        "start",
        "pyproject.toml:4 [tool.hosting-emulator]: watch must be true or false; it is 7",
        files={"pyproject.toml": "[project]\nname = 'x'\n[tool.hosting-emulator]\nwatch = 7\n"},
    ),
    Refusal(
        "start",
        "pyproject.toml [tool.hosting-emulator]: Invalid value (at line 2, column 8)",
        files={"pyproject.toml": "[tool.hosting-emulator]\nport = \n"},
    ),
    # The line of a key that is written with escapes is not found.
    Refusal(
        "start",
        "pyproject.toml [tool.hosting-emulator]: port must be a port from 0 to 65535, such as 4711; "
        "it is 70000",
        files={"pyproject.toml": '[tool.hosting-emulator]\n"\\u0070ort" = 70000\n'},
    ),
    settings_refusal(
        "port", "hosting-emulator.yaml contains no settings: write them like `port: 4711`"
    ),
    settings_refusal(
        r'scenario: "a\0b.yaml"',
        "hosting-emulator.yaml:1: Invalid value for '--scenario': 'a\\x00b.yaml' contains a "
        "NUL character, which no file name can contain",
    ),
    settings_refusal(
        r'data-dir: "a\0b"',
        "hosting-emulator.yaml:1: Invalid value for '--data-dir': 'a\\x00b' contains a NUL "
        "character, which no file name can contain",
    ),
    settings_refusal(b'seed: "\xff"\n', "hosting-emulator.yaml: not UTF-8 text"),
    Refusal(
        "start",
        "pyproject.toml [tool.hosting-emulator]: not UTF-8 text",
        files={"pyproject.toml": b'[tool.hosting-emulator]\nseed = "\xff"\n'},
    ),
    # Variables.
    Refusal(
        "start",
        "the variable HOSTING_EMULATOR_PORT: Invalid value for '--port': 'abc' is not a "
        "whole number from 0 to 65535",
        variables={"HOSTING_EMULATOR_PORT": "abc"},
    ),
    Refusal(
        "status",
        "Invalid value for the variable HOSTING_EMULATOR_PORT: 'http://127.0.0.1:abc' is not "
        "an address such as http://127.0.0.1:4620",
        variables={"HOSTING_EMULATOR_PORT": "abc", "HOSTING_EMULATOR_URL": ""},
    ),
    # Documents.
    Refusal("world import no.json", "cannot read no.json: No such file or directory"),
    Refusal(
        "world import a.json", "a.json: the JSON is nested too deeply", files={"a.json": DEEP_JSON}
    ),
    Refusal("world import a.json", "a.json:2:1: not JSON: …", files={"a.json": '{"a": 1,\n}'}),
    Refusal("world import a.json", "a.json: not JSON: …", files={"a.json": b"\xff\xfe\xfa"}),
    Refusal(
        "world import a.json",
        "a.json is not an exported world: it must be a JSON object",
        files={"a.json": "[1]"},
    ),
    Refusal("scenario check a.yaml", "a.yaml: not UTF-8 text", files={"a.yaml": b"\xff\xfe"}),
    *(
        Refusal("world add --file own.yaml", f"own.yaml{message}", files={"own.yaml": text})
        for text, message in (
            (
                "name: x\ndescription: y\n",
                ":1:1: there is no world here: define `world` as in a scenario file",
            ),
            ("- 1\n", ":1:1: there is no world here: define `world` as in a scenario file"),
            ("world: [", ":1:9: this is not YAML: …"),
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
    assert result.stderr.count("\n") == 1
    expected = f"Error: {refusal.message}\n"
    if refusal.message.endswith(" …"):
        expected = expected.removesuffix("…\n")
        assert result.stderr.startswith(expected)
    else:
        assert result.stderr == expected
