"""`exec` reads its own options and nothing of the command's. (tests/crash runs it for real.)"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import executing
from hosting_emulator_cli.commands.exec import VARIABLES
from hosting_emulator_cli.executing import Executed, Execution
from hosting_emulator_scenarios import FOLDER

PLAIN = Execution(
    command=("node", "--test"),
    settings=Settings(port=0, data_dir=None, library=FOLDER),
    principal="owner",
    exports=(),
    report="failed",
    keep=None,
    patience_s=10.0,
    quiet=False,
)


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[Execution]:
    """What is executed; each ends with exit code 42."""
    found: list[Execution] = []

    def execute(execution: Execution) -> Executed:
        found.append(execution)
        return Executed(42)

    monkeypatch.setattr(executing, "execute", execute)
    return found


def test_no_options_keep_nothing_on_a_free_port(run, executed: list[Execution]):
    result = run("exec", "--", "node", "--test")

    assert (result.exit_code, result.output) == (42, "")
    assert executed == [PLAIN]


def test_every_option_is_heeded(run, executed: list[Execution], tmp_path: Path):
    keep = tmp_path / "kept.json"
    run(
        *("exec", "--scenario", "mine.yaml", "--seed", "42", "--clock", "skip"),
        *("--assume", "accepted_status=200", "--as", "reader"),
        *("--export", "HOSTING_BASE_URL=API_URL", "--export", "HOSTING_BASE_URL=OTHER"),
        *("--host", "0.0.0.0", "--port", "4700", "--tls-port", "0"),
        *("--report", "always", "--keep", str(keep), "--kill-after", "1m30s", "--quiet"),
        *("--", "node", "--test"),
    )

    settings = replace(
        PLAIN.settings,
        host="0.0.0.0",
        port=4700,
        tls_port=0,
        scenario="mine.yaml",
        seed="42",
        clock="skip",
        assumptions={"accepted_status": "200"},
    )
    assert executed == [
        replace(
            PLAIN,
            settings=settings,
            principal="reader",
            exports=(("HOSTING_BASE_URL", "API_URL"), ("HOSTING_BASE_URL", "OTHER")),
            report="always",
            keep=keep,
            patience_s=90.0,
            quiet=True,
        )
    ]


def test_state_and_moment_are_settings_too(run, executed: list[Execution]):
    run("exec", "--from", "kept.json", "true")
    run("exec", "--at", "2030-01-31T09:30:00Z", "true")

    assert executed[0].settings == replace(PLAIN.settings, state=Path("kept.json"))
    assert executed[1].settings == replace(PLAIN.settings, at="2030-01-31T09:30:00Z")


def test_quiet_tells_nothing_and_never_waits_for_ever(run, executed: list[Execution]):
    run("exec", "--quiet", "--kill-after", "never", "node", "--test")

    assert executed == [replace(PLAIN, quiet=True, report="never", patience_s=None)]


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        (("--", "a", "--", "-h"), ("a", "--", "-h")),
        (("a", "--quiet", "--help"), ("a", "--quiet", "--help")),
        (("--quiet", "--", "--odd"), ("--odd",)),
    ],
)
def test_what_follows_the_command_is_its_own(
    run, executed: list[Execution], typed: tuple[str, ...], command: tuple[str, ...]
):
    run("exec", *typed)

    assert executed[0].command == command


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ((), "say what to run: hosting-emulator exec -- CMD [ARGS]..."),
        (("--export", "HOSTING_BASE_URL"), "'HOSTING_BASE_URL' is not NAME=OTHER, such as"),
        (("--export", "HOSTING_BASE_URL=A URL"), "is not NAME=OTHER"),
        (("--export", "HOSTING_BASEURL=A"), "did you mean HOSTING_BASE_URL?"),
        (("--export", "X=A"), f"no variable is 'X'; there are {', '.join(VARIABLES)}"),
        (("--kill-after", "soon"), "'soon' is not a duration"),
        (("--clock", "soon"), "'soon' is not real, frozen, skip or scaled:RATE"),
        (("--keep", "no/such/folder.json", "true"), "no such directory"),
        (("--from", "a.json", "--seed", "42", "true"), "--seed has no place beside --from"),
    ],
)
def test_a_wrong_option_is_one_line(
    run, executed: list[Execution], arguments: tuple[str, ...], why: str
):
    result = run("exec", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert why in result.stderr
    assert result.stderr.count("\n") == 1
    assert executed == []
