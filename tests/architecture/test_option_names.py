"""Each option has one name, and each name one meaning, in all commands.

`MEANINGS` describes each name once. The test fails for a name that the table lacks, for two names
with one meaning, and for a command in which the value of an option has another form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from hosting_emulator_cli.main import cli
from hosting_emulator_cli.options import EmulatorOption
from hosting_emulator_cli.value_types import split_values
from pytest_hosting_emulator.options import OPTIONS

#: What each option says, in every command that has it.
MEANINGS = {
    "--after-commit": "whether a fault acts after the request has taken effect",
    "--all": "apply the command to everything it can apply to, instead of one thing",
    "--allow": "what the contract check may change",
    "--allow-host": "a Host name that the emulator accepts",
    "--allow-origin": "an origin whose web apps may use the emulator",
    "--api-key": "create a user API key instead of an access token",
    "--assume": "the value of an assumption",
    "--at": "the world time at which a new world starts",
    "--base-url": "the URL of the server to check",
    "--before": "the world time at which the selected part of the log ends",
    "--body": "the body field that a request must have",
    "--budget": "the real time after which a search stops",
    "--ca-file": "the certificate authorities to trust",
    "--call": "the call that a request must make",
    "--clock": "the mode of a new world's clock",
    "--commit": "the commit whose state is copied",
    "--conduct": "whether conduct is checked, and how strictly",
    "--connection": "whether a request uses a new connection",
    "--control-token": "the token of the control API",
    "--credentials": "the kind of credentials that a request must have",
    "--data-dir": "the data directory",
    "--default": "reset to the default world",
    "--detach": "run in the background",
    "--durability": "what a confirmed change survives",
    "--email": "the email of a user",
    "--ephemeral": "keep state in memory only",
    "--every": "act on every Nth match",
    "--export": "another name for a variable of the command's environment",
    "--failed-world": "the file for the world of a failed command",
    "--faults": "the faults to try",
    "--file": "a scenario file whose world is added",
    "--final": "judge what the client left unfinished",
    "--first": "the first request or commit of a recording",
    "--follow": "print again after each change",
    "--fresh": "use a temporary world",
    "--from": "the world time at which a trigger starts to act",
    "--header": "the header that a request must have",
    "--host": "the address to listen on",
    "--html": "the file for an HTML report",
    "--import": "the file of an exported world to start with",
    "--jobs": "the number of parallel runs",
    "--json": "print JSON",
    "--json-fault": "a whole fault as JSON",
    "--junit": "the file for a JUnit report",
    "--kill-after": "how long a command may take to end after a signal",
    "--last": "the last request or commit of a recording",
    "--lifetime": "the lifetime of a token",
    "--limit": "the largest number of rows",
    "--lines": "the number of earlier requests that are shown first",
    "--log-format": "the format of the log",
    "--log-level": "the lowest level that is logged",
    "--log-requests": "log each request",
    "--maintainer-token": "a maintainer's token",
    "--max-runs": "the largest number of runs",
    "--method": "the method that a request must have",
    "--no-organization-token": "a token without an organization",
    "--no-time": "do not reproduce the time between recorded requests",
    "--no-waiting": "never wait",
    "--optional": "do not report a trigger that never acts",
    "--organization": "an organization",
    "--origin-url": "the URL that serves the dev origins",
    "--outcomes": "try lasting failures",
    "--output": "the file for what goes to stdout otherwise",
    "--outsider-token": "a token for a user of another organization",
    "--path": "the path that a request must have",
    "--patience": "the longest time to wait in total",
    "--pause": "a time in which a trigger does not act",
    "--permission": "a permission of the new key",
    "--port": "the TCP port",
    "--probability": "the probability with which a trigger acts",
    "--project": "a project",
    "--public-url": "the address under which clients reach the emulator",
    "--query": "the query parameter that a request must have",
    "--quick": "make only the most informative runs",
    "--quiet": "print less",
    "--reader-token": "a reader's token",
    "--ready-file": "the file that says that the emulator is ready",
    "--replace": "replace a world on disk",
    "--report": "when a report is printed",
    "--results": "the file from which a search continues",
    "--role": "the role of a user",
    "--salvage": "start with the readable part of damaged state",
    "--same-key": "keep the Idempotency-Key",
    "--scenario": "the scenario of a new world",
    "--sealed": "run without any other network",
    "--seed": "the seed of a world",
    "--severity": "the severity from which the exit code is 1",
    "--shell": "the shell whose syntax is printed",
    "--shrink": "search for the fewest variation points",
    "--since": "the world time at which the selected part of the log begins",
    "--skip-first": "the number of matches that are skipped",
    "--skip-rule": "a conduct rule that is not checked",
    "--state": "include the state of the world",
    "--status": "the status that a response must have",
    "--step": "the step of a story that must be kept",
    "--text": "text that an exchange must contain",
    "--time-limit": "the real time after which a run is ended",
    "--timeout": "the real time after which the command gives up waiting for a response",
    "--times": "the largest number of times that a trigger acts",
    "--tls-port": "the TCP port for HTTPS",
    "--to": "the time to which the clock moves",
    "--token": "the owner's token",
    "--trial": "the only trial to make",
    "--ttl": "the real time without a request after which a world is deleted",
    "--unfinished": "only operations that have not ended",
    "--until": "the world time at which a trigger stops acting",
    "--until-operation": "the operation whose end stops the clock",
    "--url": "the address of the emulator",
    "--user": "a user",
    "--user-api-key": "a user API key that exists",
    "--value": "the value of a new key",
    "--vary": "the seed of the variation",
    "--vary-only": "a variation point",
    "--watch": "load the scenario again when its file changes",
    "--while": "a condition on the world",
    "--whole": "include headers and bodies",
    "--with-seed": "include the seed",
    "--without-session": "a token that has no login session",
    "--world": "the world",
    "--write-scenario": "the file for a scenario with the assumptions that differ from the defaults",
}
#: What each option of the pytest plugin says, by its name without `--hosting-emulator-`. An option of
#: the command line with the same name has the same meaning.
PLUGIN_MEANINGS = {
    "clock": "the mode of a new world's clock",
    "conduct": "whether conduct is checked, and how strictly",
    "control-token": "the token of the control API",
    "coverage": "report which parts of the contract were exercised",
    "coverage-append": "add to the coverage of earlier runs",
    "keep": "the tests whose worlds are written to files",
    "keep-dir": "the folder for the files of worlds",
    "report": "when a report is printed",
    "scenario": "the scenario of a new world",
    "seed": "the seed of a world",
    "server": "whether the emulator runs in a thread or in a process",
    "skip-rule": "a conduct rule that is not checked",
    "trial": "the only trial to make",
    "url": "the address of the emulator",
    "vary": "the seed of the variation",
    "vary-only": "a variation point",
}
#: Options whose value may have several forms: a name in one command, and an id in another.
FORMS = {
    "--project": {"PROJECT", "ID"},
    "--organization": {"ORGANIZATION", "ID"},
}


def uses() -> dict[str, list[click.Option]]:
    """Return each option of the command line, in each command that has it, by name."""
    by_name: dict[str, list[click.Option]] = defaultdict(list)
    for command in commands(cli):
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                by_name[max(parameter.opts, key=len)].append(parameter)
    return by_name


def commands(command: click.Command) -> Iterator[click.Command]:
    """Yield a command, and all commands below it."""
    yield command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            subcommand = command.get_command(context, name)
            assert subcommand is not None
            yield from commands(subcommand)


def test_each_option_has_one_meaning():
    names = {*uses()} - {"--version"}

    assert names - {*MEANINGS} == set(), "describe these options in MEANINGS"
    assert {*MEANINGS} - names == set(), "no command has these options"


def test_an_option_of_the_plugin_has_the_meaning_of_the_command_line():
    names = {name.replace("_", "-") for name in OPTIONS}
    shared = {name for name in names if f"--{name}" in uses()}

    assert names == {*PLUGIN_MEANINGS}
    assert {name: PLUGIN_MEANINGS[name] for name in shared} == {
        name: MEANINGS[f"--{name}"] for name in shared
    }
    assert not {PLUGIN_MEANINGS[name] for name in names - shared} & {*MEANINGS.values()}


def test_no_two_options_have_the_same_meaning():
    assert len({*MEANINGS.values()}) == len(MEANINGS)


@pytest.mark.parametrize("name", MEANINGS)
def test_the_value_of_an_option_has_the_same_form_in_each_command(name: str):
    forms = {option.metavar for option in uses()[name]}
    kinds = {(option.is_flag, option.multiple) for option in uses()[name]}

    assert len(forms) == 1 or forms == FORMS.get(name)
    assert (
        len(kinds) == 1 or name == "--call"
    )  # a fault has one call, and a search may have several


@pytest.mark.parametrize(
    ("text", "is_named", "values"),
    [
        ("a,b", False, ["a", "b"]),
        (r"a\,b,c", False, ["a,b", "c"]),
        ("a=1,b=2", True, ["a=1", "b=2"]),
        ("a=[1,2],b={},c=3", True, ["a=[1,2]", "b={}", "c=3"]),
        ('a={"b": "x,c=1"},d=2', True, ['a={"b": "x,c=1"}', "d=2"]),
        ("accept=text/html, */*", True, ["accept=text/html, */*"]),
        (r"cookie=a=1\,b=2,x-a=*", True, ["cookie=a=1,b=2", "x-a=*"]),
        ("key.name=ci*, body.x=1", True, ["key.name=ci*", " body.x=1"]),
    ],
)
def test_commas_separate_the_values_of_a_repeatable_option(
    text: str, is_named: bool, values: list[str]
):
    assert split_values(text, is_named=is_named) == values


def test_each_repeatable_option_takes_commas():
    for name, options in uses().items():
        for option in options:
            assert not option.multiple or isinstance(option, EmulatorOption), name
