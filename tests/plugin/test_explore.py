"""`hosting_explore` repeats a test with a failure at each point and fails with the points that break it."""

from __future__ import annotations

import shlex

import pytest

from pytest_hosting_emulator import BackgroundEmulator
from tests.plugin.conftest import Suite

CLIENT = '''
import http.client
import json
import urllib.error
import urllib.request

import pytest


def ask(emulator, method, path, body=None, *, keys=("one", "one", "one"), timeout_s=20):
    """Ask with one key after the other, until an answer comes whole."""
    for n, key in enumerate(keys, 1):
        request = urllib.request.Request(
            emulator.base_url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={
                **emulator.headers("owner"),
                "Idempotency-Key": key,
                "Content-Type": "application/json",
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=timeout_s) as answer:
                return json.loads(answer.read())
        except (OSError, ValueError, http.client.HTTPException) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
            if n == len(keys):
                raise


def make_key(emulator, **how):
    path = f"/v1/organizations/{emulator.organization}/user-api-keys"
    found = ask(emulator, "POST", path, {"name": "ci"}, **how)
    if found["value"] is None:  # it was lost: make another
        found = ask(emulator, "POST", path, {"name": "ci-2"}, keys=["other"])
    return found
'''
MARK = '@pytest.mark.hosting_explore(faults=["connection_reset", "abort"])'
DOUBLING = f"""
import pytest
from client import make_key

{MARK}
def test_key(hosting_emulator):
    make_key(hosting_emulator, keys=("one", "two"))
"""
POINT = "create_user_api_key#1/connection_reset/after_commit"


@pytest.fixture
def explored(suite: Suite) -> Suite:
    """A folder of tests that can import a client."""
    suite.write(client=CLIENT)
    return suite


def test_a_test_that_survives_its_exploration_is_one_passed_test(explored: Suite):
    explored.write(
        test_it=f"""
            import pytest
            from client import ask, make_key

            worlds = []

            {MARK}
            def test_key(hosting_emulator):
                worlds.append(hosting_emulator.name)
                make_key(hosting_emulator)

            def test_after(hosting_emulator):
                assert len(worlds) == len(set(worlds)) == 2 + 7
        """
    )

    result = explored.passes("-rP")

    assert result.parseoutcomes() == {"passed": 2}
    result.stdout.fnmatch_lines(["*hosting emulator: explored*", "7 runs: 7 survived."])


def test_a_fault_that_is_not_survived_fails_the_test_with_the_matrix(explored: Suite):
    explored.write(test_it=DOUBLING)

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(
        [
            "hosting_explore: 6 of 7 runs failed",
            "*503*reset",
            "create_user_api_key#1 *M2*",
            "*doubled at 3 points: 2 API keys, *1: 'ci' of owner in acme",
            f"  repeat: pytest test_it.py::test_key --hosting-emulator-trial '{POINT}'",
            "FAILED test_it.py::test_key - hosting_explore: 6 of 7 runs failed",
        ]
    )


def test_the_printed_command_repeats_a_reported_point(explored: Suite):
    explored.write(test_it=DOUBLING)
    line = f"test_it.py::test_key --hosting-emulator-trial '{POINT}'"

    repeated = explored.run(*shlex.split(line))
    survived = "create_user_api_key#1/abort:rate_limited/before_commit"
    at_survived_point = explored.run(*shlex.split(line.replace(POINT, survived)))

    assert repeated.parseoutcomes() == {"failed": 1}
    repeated.stdout.fnmatch_lines([f"{POINT}  doubled: 2 API keys, *1: *"])
    assert at_survived_point.parseoutcomes() == {"passed": 1}


def test_a_point_that_fails_the_test_shows_its_own_failure(explored: Suite):
    explored.write(test_it=DOUBLING.replace('("one", "two")', '("one",)'))

    result = explored.run("--hosting-emulator-trial", POINT)

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["*make_key(hosting_emulator, keys=*", "*lost (connection_reset)*"])


def test_a_test_that_fails_without_faults_fails_as_usual(explored: Suite):
    explored.write(test_it=f"import pytest\n\n{MARK}\ndef test_it(hosting_emulator):\n    assert 0")

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["*assert 0*", "*no requests*"])


@pytest.mark.parametrize(
    ("mark", "keys", "outcome"),
    [
        ("", ("one", "two"), "xfailed"),
        ("", ("one", "one"), "xpassed"),
        ("strict=True", ("one", "one"), "failed"),
    ],
)
def test_an_xfail_is_about_the_exploration(
    explored: Suite, mark: str, keys: tuple[str, ...], outcome: str
):
    explored.write(
        test_it=f"""
            import pytest
            from client import make_key

            @pytest.mark.xfail(reason="issue 7", {mark})
            {MARK}
            def test_key(hosting_emulator):
                make_key(hosting_emulator, keys={keys + keys[-1:]})
        """
    )

    assert explored.run("-rxX").parseoutcomes() == {outcome: 1}


def test_outcomes_are_explored_and_giving_up_is_right(explored: Suite):
    explored.write(
        test_it="""
            import urllib.error

            import pytest
            from client import ask, make_key

            MARK = pytest.mark.hosting_explore(outcomes=True)

            @MARK
            def test_clear(hosting_emulator):
                make_key(hosting_emulator, keys=["one"])

            @MARK
            def test_blind(hosting_emulator):
                try:
                    make_key(hosting_emulator, keys=["one"])
                except urllib.error.HTTPError:
                    pass
        """
    )
    point = "create_user_api_key#1/abort:forbidden/lasting"

    result = explored.run()

    assert result.parseoutcomes() == {"passed": 1, "failed": 1}
    result.stdout.fnmatch_lines(["create_user_api_key#1  blind success at *", f"*{point}'"])
    line = ("--hosting-emulator-trial", point)
    assert explored.run("test_it.py::test_blind", *line).parseoutcomes() == {"failed": 1}
    assert explored.run("test_it.py::test_clear", *line).parseoutcomes() == {"passed": 1}


def test_a_test_that_ignores_a_failed_operation_is_reported_as_blind(explored: Suite):
    explored.write(
        test_it="""
            import pytest
            from client import ask

            @pytest.mark.hosting_explore(faults=["fail", "long"])
            def test_domains(hosting_emulator):
                path = f"/v1/projects/{hosting_emulator.project}/domains"
                begun = ask(hosting_emulator, "PUT", path, None, keys=["one"])
                ask(hosting_emulator, "GET", f"/v1/operations/{begun['id']}", None, keys=["two"])

            @pytest.mark.hosting_explore(faults=["fail", "long"])
            def test_who_leaves_it_to_others(hosting_emulator):
                path = f"/v1/projects/{hosting_emulator.project}/domains"
                ask(hosting_emulator, "PUT", path, None, keys=["one"])
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"passed": 1, "failed": 1}
    ended = "apply_project_domains of shop failed (operation_failed)"
    result.stdout.fnmatch_lines([f"apply_project_domains#1  blind success at 1 point: *{ended}"])


@pytest.mark.parametrize("renews", [True, False])
def test_a_token_that_has_expired_may_be_renewed(explored: Suite, renews: bool):
    renewed = 'hosting_emulator.mint_token("owner").access_token' if renews else "token"
    explored.write(
        test_it=f"""
            import urllib.error, urllib.request
            import pytest

            @pytest.mark.hosting_explore(faults=["token_expired"])
            def test_dns(hosting_emulator):
                token = hosting_emulator.token("owner")
                for _ in range(4):
                    request = urllib.request.Request(
                        hosting_emulator.url("/v1/projects/{{project}}/edge-dns"),
                        headers={{"Authorization": f"Bearer {{token}}"}},
                    )
                    try:
                        urllib.request.urlopen(request, timeout=20).close()
                        return
                    except urllib.error.HTTPError as error:
                        error.close()
                        token = {renewed}
                raise RuntimeError("no response")
        """
    )

    result = explored.run()

    result.assert_outcomes(**{"passed" if renews else "failed": 1})
    if not renews:
        result.stdout.fnmatch_lines(["get_dns_authorization#1  repeated at 1 point: *"])


def test_a_skipped_test_is_skipped(explored: Suite):
    skipped = f'import pytest\n\n{MARK}\ndef test_it(hosting_emulator):\n    pytest.skip("later")'
    explored.write(test_it=skipped)

    assert explored.run().parseoutcomes() == {"skipped": 1}


def test_a_test_that_cannot_be_explored_is_refused_in_one_line(explored: Suite):
    messages = {
        "faults=['timeot']": "timeout[?]",
        "faults=5": "faults must be a list of names",
        "calls=['nothing']": "there is no call 'nothing'",
        "max_run=1": "'max_run': use faults, outcomes, calls, quick or max_runs",
        "max_runs=0": "max_runs must be a whole number greater than 0, not 0",
        "'timeout'": "use faults=[[]...[]], outcomes=True, calls=[[]...[]], quick=True or max_runs=N",
        "calls=['list_deployments']": "the test sends no request to the emulator",
    }
    tests = "".join(
        f"@pytest.mark.hosting_explore({mark})\ndef test_{n}(hosting_emulator):\n"
        "    make_key(hosting_emulator)\n\n"
        for n, mark in enumerate(messages)
    )
    explored.write(test_it=f"import pytest\nfrom client import make_key\n\n{tests}")

    result = explored.run()

    assert result.parseoutcomes() == {"failed": len(messages)}
    result.stdout.fnmatch_lines([f"hosting_explore: *{message}*" for message in messages.values()])


def test_a_test_without_the_fixture_cannot_be_explored(explored: Suite):
    explored.write(test_it=f"import pytest\n\n{MARK}\ndef test_it():\n    pass")

    result = explored.run()

    result.stdout.fnmatch_lines(["hosting_explore: the test does not use the * fixture"])


def test_a_wrong_point_is_refused_before_any_test(explored: Suite):
    explored.write(test_it=DOUBLING)

    result = explored.run("--hosting-emulator-trial", "nonsense")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--hosting-emulator-trial=nonsense: *"])


def test_a_test_that_hangs_is_ended(explored: Suite):
    explored.write(
        test_it="""
            import pytest
            from client import make_key
            from hosting_emulator_lab.judge import time_limits

            time_limits.SHORTEST_LIMIT_S = 0.5

            @pytest.mark.hosting_explore(faults="timeout")
            def test_key(hosting_emulator):
                make_key(hosting_emulator, timeout_s=None)
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["*hung at 2 points: * s"])


def test_fixtures_of_a_module_are_set_up_once_and_torn_down_at_its_end(explored: Suite):
    explored.write(
        test_it=f"""
            import pytest
            from client import make_key

            said = []

            @pytest.fixture(scope="module")
            def shared():
                said.append("up")
                yield
                assert said == ["up", *["own up", "own down"] * 9]
                raise RuntimeError("the module is over")

            @pytest.fixture
            def own(hosting_emulator):
                said.append("own up")
                yield hosting_emulator
                said.append("own down")

            {MARK}
            def test_key(shared, own):
                make_key(own)
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"passed": 1, "errors": 1}
    result.stdout.fnmatch_lines(["*RuntimeError: the module is over*"])


def test_requests_of_a_fixture_are_explored(explored: Suite):
    explored.write(
        test_it="""
            import pytest
            from client import make_key

            @pytest.fixture
            def tidy(hosting_emulator):
                yield hosting_emulator
                make_key(hosting_emulator, keys=["last"])

            @pytest.mark.hosting_explore(faults=["connection_reset"])
            def test_key(tidy):
                make_key(tidy)
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["create_user_api_key#2  failed at *", "  | teardown: *"])


def test_exploration_runs_in_workers_of_xdist(explored: Suite):
    explored.write(
        test_it=DOUBLING, test_other=DOUBLING.replace('("one", "two")', '("one", "one")')
    )

    result = explored.run(*explored.workers(2))

    assert result.parseoutcomes() == {"failed": 1, "passed": 1}
    result.stdout.fnmatch_lines([f"  repeat: pytest test_it.py::test_key * '{POINT}'"])


RUDE = """
import http.client
import json

import pytest

@pytest.mark.hosting_explore(faults=["rate_limit"])
def test_key(hosting_emulator):
    # By one connection, so that nobody takes the second attempt for one that was on its way.
    place, _, prefix = hosting_emulator.base_url.removeprefix("http://").partition("/")
    connection = http.client.HTTPConnection(place)
    path = f"/{prefix}/v1/organizations/{hosting_emulator.organization}/user-api-keys"
    headers = hosting_emulator.headers("owner", key="one")
    headers["Content-Type"] = "application/json"
    for _ in range(2):
        connection.request("POST", path, json.dumps({"name": "ci"}), headers)
        answer = connection.getresponse()
        if answer.read() and answer.status < 400:
            break
    connection.close()
    assert answer.status < 400
"""


def test_findings_of_explored_runs_are_reported_at_the_end(explored: Suite):
    explored.write(test_it=RUDE)

    result = explored.passes("--hosting-emulator-conduct=report")

    point = "create_user_api_key#1/rate_limit/before_commit"
    result.stdout.fnmatch_lines(
        [
            "*hosting emulator: conduct*",
            "test_it.py::test_key, explored:",
            f"    retried-too-soon: Retried too soon ({point})",
            f"    repeat: pytest test_it.py::test_key --hosting-emulator-trial '{point}' "
            "--hosting-emulator-conduct=report",
        ]
    )
    line = f"test_it.py::test_key --hosting-emulator-trial '{point}'"
    repeated = explored.passes(*shlex.split(line), "--hosting-emulator-conduct=report")
    repeated.stdout.fnmatch_lines(["test_it.py::test_key: 1 finding*", "*retried-too-soon*"])


def test_rules_that_are_left_out_are_not_reported_for_explored_runs(explored: Suite):
    explored.write(test_it=RUDE)
    off = "--hosting-emulator-skip-rule=retried-too-soon"

    result = explored.passes("--hosting-emulator-conduct=report", off)

    assert "retried-too-soon" not in result.stdout.str()


def test_a_test_that_passes_only_once_cannot_be_explored(explored: Suite):
    explored.write(
        test_it=f"""
            import pytest
            from client import make_key

            runs = []

            {MARK}
            def test_key(hosting_emulator):
                runs.append(make_key(hosting_emulator))
                assert len(runs) == 1
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    why = "the test does not pass when it runs a second time without faults"
    result.stdout.fnmatch_lines([f"hosting_explore: {why}"])


@pytest.mark.parametrize(
    ("last_run", "reason"),
    [
        (1, "hosting_explore: *no emulator responds*"),
        (3, "hosting_explore: create_user_api_key#1/*_commit: *no emulator responds*"),
    ],
    ids=["without faults", "at a point"],
)
def test_a_test_that_stops_the_emulator_cannot_be_explored(
    explored: Suite, last_run: int, reason: str
):
    explored.write(
        test_it=f"""
            import pytest
            from client import make_key

            runs = []

            {MARK}
            def test_key(hosting_emulator_server, hosting_emulator):
                runs.append(make_key(hosting_emulator))
                if len(runs) == {last_run}:
                    hosting_emulator_server.stop()
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines([reason])


def test_only_the_world_of_the_test_is_explored_in_an_emulator_that_runs_elsewhere(
    explored: Suite,
):
    explored.write(
        test_it="""
            import pytest
            from client import ask, make_key

            @pytest.mark.hosting_explore(faults="connection_reset", calls=["list_deployments"])
            def test_key(hosting_emulator, hosting_emulator_server):
                other = hosting_emulator_server.control.world()
                ask(other, "GET", f"/v1/projects/{other.project}/deployments")
                make_key(hosting_emulator)
        """
    )

    with BackgroundEmulator() as running:
        result = explored.run(f"--hosting-emulator-url={running.base_url}")

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["hosting_explore: the test sends no request to the emulator"])


def test_a_careless_client_without_faults_fails_its_exploration(explored: Suite):
    explored.write(
        test_it="""
            import pytest
            from client import ask, make_key

            @pytest.mark.hosting_explore(faults="connection_reset", calls=["create_user_api_key"])
            def test_key(hosting_emulator):
                make_key(hosting_emulator)
                with pytest.raises(OSError):
                    ask(hosting_emulator, "GET", "/v1/projects/phk_" + "x" * 43 + "/edge-dns")
        """
    )

    result = explored.run()

    assert result.parseoutcomes() == {"failed": 1}
    result.stdout.fnmatch_lines(["hosting_explore: the clean run itself has conduct findings"])
