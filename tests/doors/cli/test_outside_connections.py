"""`exec`, `judge` and `explore` report connections of their command to other machines.

The tests run in a network of their own, in which a connection to 192.0.2.2 neither succeeds nor fails
until the command gives up.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.examples.programs import need
from tests.support.exec_process import environment
from tests.support.namespaces import need_namespaces
from tests.support.warm import COMMAND

NETWORK = """
ip link set lo up
ip address add 192.0.2.1/32 dev lo
ip route add 192.0.2.2/32 dev lo
exec "$@"
"""
#: Waits long enough for several looks, even on a busy machine.
CONNECT = """
import socket
try:
    socket.create_connection(("192.0.2.2", 443), timeout=2)
except TimeoutError:
    pass
"""
#: Sends a request to the emulator first, so that there is something to explore.
REQUEST_AND_CONNECT = f"""
import os
from urllib.request import Request, urlopen
url = os.environ["HOSTING_BASE_URL"] + "/v1/projects/" + os.environ["HOSTING_PROJECT_ID"] + "/edge-dns"
headers = {{"Authorization": "Bearer " + os.environ["HOSTING_TOKEN"]}}
urlopen(Request(url, headers=headers)).close()
{CONNECT}
"""
ADDRESS = "192.0.2.2:443"


@pytest.fixture(autouse=True)
def _programs() -> None:
    need_namespaces()
    need("ip")


def run(*arguments: str, program: str = CONNECT) -> subprocess.CompletedProcess[str]:
    """Run the CLI in the network of the tests, with a program that connects to another machine."""
    return subprocess.run(
        [
            *("unshare", "--user", "--net", "--map-root-user", "sh", "-e", "-c", NETWORK, "sh"),
            *(COMMAND, *arguments, "--", sys.executable, "-c", program),
        ],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("option", [("--conduct", "report"), ("--report", "always")])
def test_exec_reports_connections_to_other_machines(option: tuple[str, ...]) -> None:
    result = run("exec", *option)

    assert result.returncode == 0, result.stderr
    assert f" to {ADDRESS}. --sealed prevents this." in result.stderr


def test_exec_without_a_report_mentions_no_connections() -> None:
    result = run("exec")

    assert (result.returncode, ADDRESS in result.stderr) == (0, False)


@pytest.mark.slow
def test_a_judgment_has_a_remark_about_connections_to_other_machines() -> None:
    result = run("judge")

    assert result.returncode == 2, result.stderr
    assert f" to {ADDRESS}. --sealed prevents this." in result.stdout


@pytest.mark.slow
def test_an_exploration_has_a_remark_about_connections_to_other_machines() -> None:
    result = run(
        *("explore", "--faults", "gateway_error", "--max-runs", "1"), program=REQUEST_AND_CONNECT
    )

    assert result.returncode == 1, result.stderr
    assert f" to {ADDRESS}. --sealed prevents this." in result.stdout


def test_explore_names_the_connections_of_a_command_that_sends_no_request() -> None:
    result = run("explore")

    assert result.returncode == 2, result.stderr
    assert f" to {ADDRESS}. --sealed prevents this." in result.stderr
    assert "the command sends no request to the emulator" in result.stderr
