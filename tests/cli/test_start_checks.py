"""Settings that are refused before a start, each with what to do instead."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from hosting_emulator import MAKE_RUN_VARIABLE, start_checks
from hosting_emulator.port_holders import Program
from hosting_emulator.running_emulators import EmulatorRecord
from hosting_emulator.settings import Settings, StartError
from hosting_emulator.start_checks import (
    cannot_listen,
    check_beginning,
    check_origins,
    control_token,
    public_url,
)

URL = "http://127.0.0.1:4620"
IN_USE = OSError(errno.EADDRINUSE, "Address already in use")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, None),
        ({"scenario": "early"}, None),
        ({"at": "now"}, None),
        (
            {"scenario": "early", "at": "now"},
            "--at cannot be used with a scenario, because the clock of the scenario sets the start time",
        ),
        ({"state": "x.json"}, None),
        *[
            (
                {"state": "x.json", name: value},
                f"{option} cannot be used with --import, because the imported state sets it",
            )
            for name, option, value in (
                ("scenario", "--scenario", "early"),
                ("clock", "--clock", "frozen"),
                ("at", "--at", "now"),
                ("assumptions", "--assume", {"rate_limit": None}),
            )
        ],
    ],
)
def test_settings_that_contradict_the_source_of_the_world_are_refused(
    settings: dict[str, Any], message: str | None
):
    assert refusal(lambda: check_beginning(Settings(**settings))) == message


def refusal(check: Any) -> str | None:
    """Return the message of the StartError that a check raises, or None if it raises none."""
    try:
        check()
    except StartError as error:
        return str(error)
    return None


def test_an_allowed_origin_must_be_an_origin():
    settings = Settings(allowed_origins=("http://app.test:3000", "app.test"))

    assert refusal(lambda: check_origins(settings)) == (
        "--allow-origin 'app.test' is not an origin such as http://app.test:3000"
    )


@pytest.mark.parametrize("url", ["ftp://h", "http://", "h:80", "http://h/path"])
def test_a_public_url_must_be_a_base_url(url: str):
    assert refusal(lambda: public_url(Settings(public_url=url))) == (
        f"--public-url {url!r} is not a URL such as http://host:port"
    )


@pytest.mark.parametrize("url", ["http://h:80", "https://h/", None])
def test_a_public_url_has_no_slash_at_its_end(url: str | None):
    assert public_url(Settings(public_url=url)) == (url and url.rstrip("/"))


@pytest.mark.parametrize("token", ["", " ", "tökén", "a\tb"])
def test_a_control_token_must_be_printable(token: str):
    assert refusal(lambda: control_token(Settings(control_token=token))) == (
        "--control-token must be printable ASCII, and not empty"
    )
    assert control_token(Settings(control_token=" secret ")) == "secret"


@pytest.fixture
def holders(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What listens on each port, as the errors find it: an emulator, a program, or nothing known."""
    holders: dict[str, Any] = {"emulator": None, "program": None}
    monkeypatch.delenv(MAKE_RUN_VARIABLE, raising=False)
    monkeypatch.setattr(start_checks, "emulator_at", lambda port: holders["emulator"])
    monkeypatch.setattr(start_checks, "program_at", lambda port: holders["program"])
    return holders


def message(option: str = "--port") -> str:
    return str(cannot_listen("127.0.0.1", 4620, IN_USE, option))


def test_the_error_of_a_port_in_use_names_what_listens_there(holders: dict[str, Any]):
    unknown = message("--tls-port")
    holders["program"] = Program("nginx", 4242)
    program = message()
    holders["emulator"] = EmulatorRecord(
        url=URL, instance="i", pid=4242, folder="/work/shop", data_dir=None
    )
    emulator = message()

    assert unknown == (
        "port 4620 on 127.0.0.1 is in use; stop the process that listens there, or use --tls-port 0 "
        "for a free port"
    )
    assert program == (
        "port 4620 on 127.0.0.1 is in use by nginx (process 4242); stop this process, or use --port 0 "
        "for a free port"
    )
    assert emulator == (
        "port 4620 on 127.0.0.1 is in use by the emulator that was started in /work/shop; use that "
        f"emulator ({URL}/_emulator), stop it with `hosting-emulator stop --url {URL}`, or use --port "
        "0 for a free port"
    )


def test_the_error_under_make_run_names_its_option(
    holders: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(MAKE_RUN_VARIABLE, "1")

    assert message().endswith("or run `make run ARGS='--port 0'` for a free port")


def test_another_error_of_a_port_is_given_as_it_is():
    denied = OSError(errno.EACCES, "Permission denied")

    assert str(cannot_listen("::", 80, denied)) == "cannot listen on :: port 80: Permission denied"
    assert str(cannot_listen("::", 80, OSError("odd"))) == "cannot listen on :: port 80: odd"
