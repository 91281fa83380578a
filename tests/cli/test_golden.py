"""The command line as a whole: what each command takes, and what commands print of one world.

`command_line.txt` is the golden file. `make record` renews it after an intended change.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from difflib import SequenceMatcher
from inspect import cleandoc
from pathlib import Path

import click
import pytest

from hosting_emulator import __version__
from hosting_emulator_cli.main import cli
from hosting_emulator_scenarios import FOLDER
from tests.support.emulator_in_thread import emulator_in_thread

SHOWN_LINES = 60
GOLDEN = Path(__file__).with_name("command_line.txt")
#: Command lines that are run one after another with one emulator whose clock is frozen.
LINES = """
world create checkout --clock skip --seed 42 --assume accepted_status=200
world create checkout
world create varied --vary 5 --vary-only page-size --clock frozen --at 2030-01-31T09:30:00Z --json
world list
status
scenario run stuck-operation plan-limit-reached
scenario run stuck-operation --world default
scenario run stuck-operation --json --vary 7 --vary-only page-size
scenario load stuck-operation --world checkout
requests list
requests list --status 4xx
requests list --json --limit 1
requests show 1
requests show 2 --json
requests har --limit 1 --no-state
requests resend 1
requests resend 1 --same-key --json
why 01HZZZZZZZZZZZZZZZZZZZZZZZ
why '#1'
why 9999
world create own --scenario stuck-operation
world create other --scenario zzz
world delete own
world add user zoe --email zoe@acme.example --organization acme --role owner
world add user zoe --json
world add user yan --organization amce
world add user yan --role owner
world add key zoe --value phk_ZoesKeyOfATestWhichIsNoSecretOfAnybody00000 --json
world add key zoe name=ci value=phk_short
world add project Site --organization acme
world add project site --organization acme deployments=3 flags=true
world add member member --project shop --role reader
world add gizmo x
world add
world history --limit 3
world history --limit 1 --json
world fork copy --commit 0 --ephemeral
world rewind 0 --world copy
world reset copy --json
world reset copy
world create staged --scenario stuck-operation
world reset staged
world reset staged --default
world delete staged
world delete copy
world delete default
clock show
clock advance 10m --json
clock advance 90s
clock scale 0.000001
clock freeze
clock advance --to 2000-01-01T00:00:00Z
clock skip --json
fault add abort code=service_unavailable --call apply_project_domains --times 2 --after-commit
fault add latency delay_ms=200 jitter_ms=50 --project shop --header x-a=* --json
fault add abort code=rate_limit
fault list
fault list --json
fault remove fault-1
fault remove fault-1
fault clear
fault clear
fault kinds
intervene stick_operation project=shop
intervene set_plan organization=acme plan=pro --json
intervene expire_ticket
intervene kinds
token --user reader --lifetime 5m
token --user nobody-such
token --api-key --permission dns.read --permission projects.read
token --api-key --json
env
env --shell powershell --user member
env --shell fish --project blog
env --shell dotenv --json
env --project nothing
wait --timeout 5s
scenario run {tmp}/rude.yaml --world default
conduct --final
conduct --json
conduct --skip-rule no-such-rule
conduct rules
contract problems
contract assumptions
contract assumptions --world checkout --url {url}
contract variation-points
scenario list
scenario show nothing
scenario check stuck-operation
world export --with-seed --output {tmp}/kept.json
world import {tmp}/kept.json --world again
world import {tmp}/kept.json --world again --json
world export --output {tmp}/no/such.json
scenario schema --output {tmp}/schema.json
contract openapi --output {tmp}/openapi.json
"""
#: A client with defects.
RUDE = """
name: rude
description: A client makes a change without a key, and polls before it is time.
story:
  - request: PUT /v1/projects/${project.shop}/domains
    expect: {status: 400}
  - sign_in: owner
    save: {token: access_token}
  - call: apply_project_domains
    save: {operation: id}
  - {poll: "${operation}", token: "${token}", times: 2}
"""
#: Printed as on a terminal, but without colors.
TERMINAL_LINES = """
status
requests list
requests show 1
requests resend 1
conduct
"""
_VARYING = (
    (r"127\.0\.0\.1:\d+|localhost:\d+", "HOST:PORT"),
    (r"eyJ[\w.-]+", "TOKEN"),
    (re.escape(__version__), "VERSION"),
    (r"\b\d+\.\d+ ms", "N ms"),
    (r"polled after 0\.\d\d s", "polled after N s"),
    (r'("duration_us"|"pid"|"uptime_seconds"|"time"|"wait"): [\d.]+', r"\1: N"),
    (r"\x1b\[[\d;]*m", ""),
    (r"\b\d+, up \d+\w+ *", "PID, up N"),
    (r'"\d{4}-[^"]*Z"(?=,?\n)', '"TIME"'),
)


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the options and arguments of each command, independent of Click's layout."""
    yield f"=== {' '.join(path)}"
    yield unwrapped(command.help or "")
    for parameter in command.params:
        names = " ".join([*parameter.opts, *parameter.secondary_opts])
        facts = {
            "type": type_words(parameter.type),
            "metavar": parameter.metavar,
            "many": parameter.multiple or parameter.nargs != 1,
            "required": parameter.required,
            "default": None if callable(parameter.default) else parameter.default,
            "env": parameter.envvar,
            "shown": getattr(parameter, "show_default", None) or None,
        }
        parts = " ".join(f"{name}={value}" for name, value in facts.items() if is_shown(value))
        yield f"  {names}  {parts}  {getattr(parameter, 'help', None) or ''}"
    yield command.epilog or ""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand, (*path, name))


def unwrapped(text: str) -> str:
    """Return a text with each paragraph on one line, except those that Click leaves as they are."""
    paragraphs = cleandoc(text).split("\n\n")
    return "\n\n".join(
        paragraph if paragraph.startswith("\b") else " ".join(paragraph.split())
        for paragraph in paragraphs
    )


def type_words(kind: click.ParamType) -> str:
    if isinstance(kind, click.Path):
        if not kind.dir_okay:
            return "file"
        return "path" if kind.file_okay else "directory"
    return repr(kind) if isinstance(kind, click.Choice | click.IntRange) else kind.name


def is_shown(value: object) -> bool:
    """Return whether a fact of a parameter differs from the default of all parameters."""
    return not (value is None or value is False or value == () or "UNSET" in repr(value).upper())


def steady(text: str) -> str:
    for pattern, word in _VARYING:
        text = re.sub(pattern, word, text)
    return text


def printed(run, lines: str, places: dict[str, str]) -> Iterator[str]:
    for line in lines.strip().splitlines():
        result = run(*shlex.split(line.format(**places)))
        yield f"$ {line}"
        parts = (result.stdout, result.stderr, f"[{result.exit_code}]")
        text = steady("\n".join(part.rstrip("\n") for part in parts if part))
        for name, value in places.items():
            text = text.replace(value, f"{{{name}}}")
        if line.startswith("requests list"):
            text = re.sub(r"  \d+\.\d+  ", "  N  ", re.sub(" {2,}", "  ", text))
        yield text if len(text) < 2000 else f"{text[:1200]}\n… {text.count(chr(10))} lines …"


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    with emulator_in_thread(at="2030-01-31T09:30:00Z", library=FOLDER) as emulator:
        monkeypatch.setenv("HOSTING_EMULATOR_URL", emulator.base_url)
        yield emulator.base_url


def test_the_command_line_is_as_recorded(
    run, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    places = {"url": url, "tmp": str(tmp_path)}
    (tmp_path / "rude.yaml").write_text(RUDE, "utf-8")
    lines = [*commands(cli, ("hosting-emulator",)), "", *printed(run, LINES, places)]
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    lines += ["", "--- on a terminal", *printed(run, TERMINAL_LINES, places)]
    text = "\n".join(lines) + "\n"

    if os.environ.get("RENEW_GOLDEN_FILES"):
        GOLDEN.write_text(text, "utf-8")
    recorded = GOLDEN.read_text("utf-8")
    if text != recorded:
        raise AssertionError(description_of_differences(recorded, text))


def description_of_differences(recorded: str, current: str) -> str:
    """Return each changed line below the command that prints it."""
    lines = [f"The command line differs from {GOLDEN.name}. Lines with - are recorded, + are now."]
    before = recorded.splitlines()
    after = current.splitlines()
    for tag, start, end, new_start, new_end in SequenceMatcher(
        None, before, after, autojunk=False
    ).get_opcodes():
        if tag != "equal":
            lines += ["", heading_above(after, new_start)]
            lines += [f"- {line}" for line in before[start:end]]
            lines += [f"+ {line}" for line in after[new_start:new_end]]
    lines = lines[:SHOWN_LINES]
    lines += [
        "",
        "If the change is intended, run `make record` and read the diff of the golden file.",
    ]
    return "\n".join(lines)


def heading_above(lines: list[str], index: int) -> str:
    """Return the last line before an index that names a command."""
    above = reversed(lines[: index + 1])
    return next((line for line in above if line.startswith(("$ ", "=== ", "--- "))), "")
