"""The verdict of a test covers every world and every request, whatever the test does with its worlds."""

from __future__ import annotations

import json
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import CALLING, Suite, reader_variables, run_pytest
from tests.support import warm

ERROR = "--hosting-emulator-conduct=error"
#: Uses of worlds and requests by a test whose client makes a mistake: it sends a mutation without
#: an Idempotency-Key.
MISTAKES = {
    "in_a_world_that_the_test_closes": """
        def test_it(hosting_emulator, hosting_emulator_worlds):
            world = hosting_emulator_worlds()
            ask(world, "domains", "PUT")
            world.close()
    """,
    "in_its_own_world_that_the_test_closes": """
        def test_it(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator.close()
    """,
    "in_a_world_that_the_test_deletes": """
        def test_it(hosting_emulator_worlds):
            world = hosting_emulator_worlds()
            ask(world, "domains", "PUT")
            world.delete()
    """,
    "in_a_fork": """
        def test_it(hosting_emulator):
            with hosting_emulator.fork() as fork:
                ask(fork, "domains", "PUT")
    """,
    "in_a_fork_of_a_fork": """
        def test_it(hosting_emulator):
            with hosting_emulator.fork() as fork, fork.fork() as fork_of_the_fork:
                ask(fork_of_the_fork, "domains", "PUT")
    """,
    "in_a_world_that_the_test_creates_over_http": """
        def test_it(hosting_emulator_server):
            from hosting_emulator.sdk import HostingEmulator

            control = hosting_emulator_server.control
            control.create_world(name="checkout")
            ask(HostingEmulator(control, "checkout"), "domains", "PUT")
            control.ask("DELETE", "/worlds/checkout")
    """,
    "in_a_world_that_the_test_resets": """
        def test_it(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator.reset()
    """,
    "before_a_scenario_is_loaded": """
        def test_it(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator.load_scenario(name="provider-outage")
    """,
    "before_a_thousand_other_requests": """
        def test_it(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            for _ in range(1_010):
                ask(hosting_emulator, "edge-dns")
    """,
    "in_the_default_world": """
        def test_it(hosting_emulator, hosting_emulator_server):
            ask(hosting_emulator_server.control.world(), "domains", "PUT")
    """,
    "in_a_request_that_the_client_gives_up": """
        import socket
        from urllib.parse import urlsplit

        def test_it(hosting_emulator):
            hosting_emulator.arm({"latency": {"delay_ms": 60_000}})
            address = urlsplit(hosting_emulator.base_url)
            path = f"{address.path}/v1/projects/{hosting_emulator.project}/domains"
            with socket.create_connection((address.hostname, address.port)) as client:
                lines = [f"PUT {path} HTTP/1.1", "Host: localhost", "Content-Length: 0"]
                lines += [f"{k}: {v}" for k, v in hosting_emulator.headers("owner").items()]
                client.sendall("\\r\\n".join([*lines, "", ""]).encode())
                while hosting_emulator.requests.total == 0:
                    pass
    """,
}


def write(suite: Suite, test: str) -> None:
    """Write a test file with one test, which may call `ask` and `apply_domains`."""
    suite.write(test_it=module_of(test))


def module_of(test: str) -> str:
    """Return a test file with one test, which may call `ask` and `apply_domains`."""
    lines = "\n".join(line.removeprefix(" " * 8) for line in test.splitlines())
    return f"from calling import apply_domains, ask\nimport pytest\n{lines}"


def without_mistake(test: str) -> str:
    """Return a test that sends reads where it sent mutations."""
    careful = test.replace(', "domains", "PUT")', ', "edge-dns")')
    return careful.replace("PUT", "GET").replace("/domains", "/edge-dns")


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ElementTree.Element]:
    """Run all tests with a mistake and all without, in one run; return the result of each file."""
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "calling.py").write_text(CALLING)
    for name, test in MISTAKES.items():
        (folder / f"test_{name}.py").write_text(module_of(test))
        (folder / f"test_careful_{name}.py").write_text(module_of(without_mistake(test)))
    run_pytest(folder, ERROR, "--junitxml=junit.xml", variables=reader_variables())
    cases = list(ElementTree.parse(folder / "junit.xml").iter("testcase"))
    results = {str(case.get("classname")): case for case in cases}
    assert len(cases) == len(results) == 2 * len(MISTAKES)
    return results


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_of_the_client_fails_the_test(
    verdicts: dict[str, ElementTree.Element], mistake: str
):
    case = verdicts[f"test_{mistake}"]

    [error] = case
    assert error.tag == "error"
    assert "missing-idempotency-key" in str(error.text)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_careful_client_passes_in_each_world(
    verdicts: dict[str, ElementTree.Element], mistake: str
):
    case = verdicts[f"test_careful_{mistake}"]

    assert list(case) == []


def test_each_mistake_is_reported_for_its_own_test_only(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask
        from pytest_hosting_emulator import world_fixture

        shop = world_fixture("module")

        def test_careful_before(hosting_emulator, shop):
            ask(shop, "edge-dns")

        def test_careless(hosting_emulator, shop):
            with hosting_emulator.fork() as fork:
                ask(fork, "domains", "PUT")

        def test_careful_after(hosting_emulator, shop):
            ask(shop, "edge-dns")
        """
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=3, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_careless*"])


def test_a_mistake_after_tests_without_requests_is_reported_for_its_own_test_only(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask

        def test_careful(hosting_emulator):
            ask(hosting_emulator, "edge-dns")

        def test_without_emulator():
            pass

        def test_without_emulator_either():
            pass

        def test_careless(hosting_emulator_server):
            ask(hosting_emulator_server.control.world(), "domains", "PUT")

        def test_without_emulator_again():
            pass
        """
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=5, errors=1)
    result.stdout.fnmatch_lines(["*ERROR at teardown of test_careless*"])


@pytest.mark.parametrize(("server", "count"), [("thread", 3), ("process", 5)])
def test_an_observation_that_has_seen_nothing_serves_the_next_test(
    suite: Suite, server: str, count: int
):
    """An emulator in this process is asked without a request whether anything has happened."""
    suite.write(
        test_it=f"""
        from calling import ask

        def test_first(hosting_emulator):
            ask(hosting_emulator, "edge-dns")

        def test_without_emulator():
            pass

        def test_without_emulator_either():
            pass

        def test_last(hosting_emulator_server):
            with hosting_emulator_server.control.observe() as observation:
                assert observation.id == "observation-{count}"
        """
    )

    result = suite.run(f"--hosting-emulator-server={server}")

    result.assert_outcomes(passed=4)


def test_a_fork_of_a_shared_world_is_judged_with_that_world(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask
        from pytest_hosting_emulator import world_fixture

        shop = world_fixture("module")

        def test_careless(shop):
            with shop.fork() as fork:
                ask(fork, "domains", "PUT")

        def test_careful(shop):
            ask(shop, "edge-dns")
        """
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=2, errors=1)
    assert result.stdout.str().count("was sent without an Idempotency-Key.") >= 1


def test_a_failure_report_shows_worlds_that_are_gone(suite: Suite):
    write(
        suite,
        """
        def test_it(hosting_emulator):
            with hosting_emulator.fork("branch") as fork:
                ask(fork, "edge-dns")
            assert False
        """,
    )

    result = suite.run()

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*world branch*", "*get_dns_authorization*"])


def test_worlds_that_are_gone_are_kept_in_files(suite: Suite):
    write(
        suite,
        """
        def test_it(hosting_emulator):
            with hosting_emulator.fork("branch") as fork:
                apply_domains(fork)
            assert False
        """,
    )

    suite.run("--hosting-emulator-keep=failed")

    states = [
        json.loads(path.read_text())
        for path in (suite.path / "hosting-emulator-worlds").glob("*.json")
    ]
    kinds = [
        [operation["kind"] for operation in state["tables"].get("operations", {}).values()]
        for state in states
    ]
    assert len(kinds) == 2
    assert sorted(row.count("apply_project_domains") for row in kinds) in ([0, 1], [1, 2])


def test_a_body_that_is_no_utf_8_does_not_hide_a_mistake(suite: Suite):
    write(
        suite,
        """
        import urllib.error, urllib.request

        def test_it(hosting_emulator):
            url = f"{hosting_emulator.base_url}/v1/organizations/{hosting_emulator.organization}"
            headers = {**hosting_emulator.headers("owner"), "Content-Type": "application/json"}
            request = urllib.request.Request(
                f"{url}/user-api-keys", '{"name":"José"}'.encode("latin-1"), headers
            )
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request)
            refused.value.close()
            assert refused.value.code == 400
        """,
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*missing-idempotency-key*"])


def test_an_emulator_that_refuses_connections_at_the_end_hides_no_mistake(suite: Suite):
    write(
        suite,
        """
        def test_it(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator.arm({"refuse_connections": {"for_ms": 5_000}})
            with pytest.raises(OSError):
                ask(hosting_emulator, "edge-dns")
        """,
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=1, errors=1)


def test_a_verdict_that_cannot_be_read_fails_the_test(suite: Suite):
    write(
        suite,
        """
        import os, signal

        def test_it(hosting_emulator, hosting_emulator_server):
            assert ask(hosting_emulator, "edge-dns") == 200
            info = hosting_emulator_server.control.info()
            os.kill(info.pid, signal.SIGKILL)
        """,
    )

    result = suite.run(ERROR, "--hosting-emulator-server=process")

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*no verdict*"])


def test_a_restart_of_an_emulator_that_was_killed_leaves_its_test_without_verdict(suite: Suite):
    write(
        suite,
        """
        import os, signal

        def test_it(hosting_emulator, hosting_emulator_server):
            os.kill(hosting_emulator_server.control.info().pid, signal.SIGKILL)
            hosting_emulator_server.start()

        def test_next(hosting_emulator):
            assert ask(hosting_emulator, "edge-dns") == 200
        """,
    )

    result = suite.run(ERROR, "--hosting-emulator-server=process")

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*no verdict*"])


def test_requests_of_an_emulator_that_the_test_stops_count(suite: Suite):
    write(
        suite,
        """
        def test_it(hosting_emulator, hosting_emulator_server):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator_server.stop()
        """,
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=1, errors=1)


def test_requests_of_an_emulator_that_was_restarted_count(suite: Suite):
    write(
        suite,
        """
        def test_it(hosting_emulator, hosting_emulator_server):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator_server.start()
        """,
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=1, errors=1)


def test_requests_to_a_world_of_the_module_count_although_its_emulator_was_restarted(suite: Suite):
    write(
        suite,
        """
        from pytest_hosting_emulator import world_fixture

        shop = world_fixture("module")

        def test_it(shop, hosting_emulator_server):
            ask(shop, "domains", "PUT")
            hosting_emulator_server.start()
        """,
    )

    result = suite.run(ERROR)

    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*?missing-idempotency-key?"])


def test_tests_inside_exec_use_its_emulator(suite: Suite):
    write(
        suite,
        """
        import os

        def test_it(hosting_emulator):
            assert hosting_emulator.base_url.startswith(os.environ["HOSTING_BASE_URL"])
            ask(hosting_emulator, "domains", "PUT")
        """,
    )

    completed = run_in_exec(suite, "--conduct", "error")

    assert completed.returncode == 1
    assert "missing-idempotency-key" in completed.stderr


def test_careful_tests_inside_exec_pass(suite: Suite):
    write(
        suite, "def test_it(hosting_emulator):\n    assert apply_domains(hosting_emulator) == 202"
    )

    completed = run_in_exec(suite, "--conduct", "error")

    assert completed.returncode == 0, completed.stdout + completed.stderr


def run_in_exec(suite: Suite, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a suite as the command of `hosting-emulator exec`."""
    tests = (sys.executable, "-m", "pytest", "-p", "hosting_emulator", "-p", "no:cacheprovider")
    return warm.run([warm.COMMAND, "exec", *options, "--", *tests, str(suite.path)])


def test_tests_inside_exec_find_the_emulator_under_any_variable_name(suite: Suite):
    write(suite, MISTAKES["in_a_fork"])

    completed = run_in_exec(suite, "--conduct", "error", "--export", "HOSTING_EMULATOR_URL=API")

    assert completed.returncode == 1
    assert "missing-idempotency-key" in completed.stderr
