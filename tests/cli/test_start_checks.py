"""Settings that are refused before a start, each with what to do instead."""

from __future__ import annotations

import errno
from typing import Any

import pytest

from hosting_emulator import MAKE_RUN_VARIABLE
from hosting_emulator.port_holders import Program
from hosting_emulator.running_emulators import EmulatorRecord
from tests.support.start_refusals import check, listen_error, set_port_holders

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
    assert check("beginning", **settings) == message


def test_an_allowed_origin_must_be_an_origin():
    assert check("origins", allowed_origins=("http://app.test:3000", "app.test")) == (
        "--allow-origin 'app.test' is not an origin such as http://app.test:3000"
    )


@pytest.mark.parametrize("url", ["ftp://h", "http://", "h:80", "http://h/path"])
def test_a_public_url_must_be_a_base_url(url: str):
    assert check("public URL", public_url=url) == (
        f"--public-url {url!r} is not a URL such as http://host:port"
    )


@pytest.mark.parametrize("url", ["http://h:80", "https://h/", None])
def test_a_public_url_has_no_slash_at_its_end(url: str | None):
    assert check("public URL", public_url=url) == (url and url.rstrip("/"))


@pytest.mark.parametrize("token", ["", " ", "tökén", "a\tb"])
def test_a_control_token_must_be_printable(token: str):
    assert check("control token", control_token=token) == (
        "--control-token must be printable ASCII, and not empty"
    )
    assert check("control token", control_token=" secret ") == "secret"


def message(option: str = "--port") -> str:
    return listen_error("127.0.0.1", 4620, IN_USE, option)


def test_the_error_of_a_port_in_use_names_what_listens_there(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(MAKE_RUN_VARIABLE, raising=False)
    nginx = Program("nginx", 4242)
    record = EmulatorRecord(url=URL, instance="i", pid=4242, folder="/work/shop", data_dir=None)

    set_port_holders(monkeypatch, None, None)
    unknown = message("--tls-port")
    set_port_holders(monkeypatch, None, nginx)
    program = message()
    set_port_holders(monkeypatch, record, nginx)
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


def test_the_error_under_make_run_names_its_option(monkeypatch: pytest.MonkeyPatch):
    set_port_holders(monkeypatch, None, None)
    monkeypatch.setenv(MAKE_RUN_VARIABLE, "1")

    assert message().endswith("or run `make run ARGS='--port 0'` for a free port")


def test_another_error_of_a_port_is_given_as_it_is():
    denied = OSError(errno.EACCES, "Permission denied")

    assert listen_error("::", 80, denied) == "cannot listen on :: port 80: Permission denied"
    assert listen_error("::", 80, OSError("odd")) == "cannot listen on :: port 80: odd"
