"""The warning about a sign-in whose tokens clients refuse by the time of their own machine."""

from __future__ import annotations

import logging
import re
from datetime import UTC, datetime, timedelta

import pytest
from click.testing import CliRunner

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import cli
from tests.support.response_checks import read_timestamp
from tests.support.sign_in_client import Browser


@pytest.fixture
def browser(hosting_emulator: HostingEmulator) -> Browser:
    """A browser at the world's identity provider."""
    return Browser(hosting_emulator.summary.issuer)


def sign_in(browser: Browser) -> None:
    """Sign in as an OpenID client does."""
    assert "id_token" in browser.redeem(browser.choose("owner").parameters["code"]).json


def sign_in_warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Return the warnings about sign-ins that the emulator logged."""
    warnings = [
        record.getMessage() for record in caplog.records if record.levelno == logging.WARNING
    ]
    return [text for text in warnings if "signed in" in text]


def test_the_first_sign_in_in_a_world_of_another_time_logs_a_warning(
    hosting_emulator: HostingEmulator, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    sign_in(browser)
    sign_in(browser)

    [warning] = sign_in_warnings(caplog)
    assert hosting_emulator.name in warning
    assert "2026-01-01T00:00:00.000Z" in warning
    assert "--at now" in warning


def test_the_command_in_the_warning_sets_the_world_to_the_time_of_the_machine(
    hosting_emulator: HostingEmulator, browser: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    sign_in(browser)
    [command_line] = re.findall("`hosting-emulator (.*?)`", sign_in_warnings(caplog)[0])
    before = datetime.now(UTC) - timedelta(milliseconds=1)

    result = CliRunner().invoke(cli, command_line.split())

    assert result.exit_code == 0
    assert before <= read_timestamp(hosting_emulator.clock.now) <= datetime.now(UTC)


@pytest.mark.parametrize(
    ("ahead", "count"),
    [(timedelta(minutes=-50), 0), (timedelta(seconds=30), 0), (timedelta(minutes=10), 1)],
)
def test_a_sign_in_logs_a_warning_only_if_clients_will_refuse_its_tokens(
    hosting_emulator: HostingEmulator,
    browser: Browser,
    caplog: pytest.LogCaptureFixture,
    ahead: timedelta,
    count: int,
) -> None:
    hosting_emulator.clock.change({"at": (datetime.now(UTC) + ahead).isoformat()})

    sign_in(browser)

    assert len(sign_in_warnings(caplog)) == count
