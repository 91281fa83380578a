"""A sign-in whose tokens clients will refuse, by the time of their own machine, is warned of."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from hosting_emulator_cli.options import timestamp
from tests.support.sign_in_client import Browser


@pytest.fixture
def browser(hosting_emulator: HostingEmulator) -> Browser:
    """A browser at the world's identity provider."""
    return Browser(hosting_emulator.summary["issuer"])


def sign_in(browser: Browser) -> None:
    """Sign in as an OpenID client does."""
    assert "id_token" in browser.redeem(browser.choose("owner").answer["code"]).json


def warned(caplog: pytest.LogCaptureFixture) -> list[str]:
    found = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
    return [text for text in found if "signed in" in text]


def test_a_world_of_another_time_is_warned_of_once(
    hosting_emulator: HostingEmulator, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        sign_in(browser)

    [told] = warned(caplog)
    assert f"world {hosting_emulator.name} at world time 2026-01-01T00:00:00.000Z" in told
    assert "--at now" in told
    world = f"--world {hosting_emulator.name} --url http://127.0.0.1:"
    assert f"`hosting-emulator clock set now {world}" in told
    [line] = re.findall("`hosting-emulator (.*?)`", told)
    assert CliRunner().invoke(cli, line.split()).exit_code == 0


@pytest.mark.parametrize(
    ("ahead", "count"),
    [(timedelta(minutes=-50), 0), (timedelta(seconds=30), 0), (timedelta(minutes=10), 1)],
)
def test_what_clients_bear_is_not_warned_of(
    hosting_emulator: HostingEmulator,
    browser: Browser,
    caplog: pytest.LogCaptureFixture,
    ahead: timedelta,
    count: int,
) -> None:
    hosting_emulator.clock.change({"at": (datetime.now(UTC) + ahead).isoformat()})

    sign_in(browser)

    assert len(warned(caplog)) == count


def test_now_is_a_moment() -> None:
    before = datetime.now(UTC).timestamp() * 1000 - 1

    assert before <= parse_timestamp(timestamp("now")) <= datetime.now(UTC).timestamp() * 1000
