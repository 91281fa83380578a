"""A long record is made as short as can be and still shows what it is to show."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hosting_emulator.replay import (
    Beginning,
    NotShown,
    Recording,
    Shows,
    Shrunk,
    curl_lines,
    like_recorded,
    read_record,
    replay,
    shrink,
)
from hosting_emulator.sdk import ControlClient, HostingEmulator
from hosting_emulator_cli.main import cli
from tests.conftest import Api
from tests.contract.raw_http import wire
from tests.examples.programs import need
from tests.warm import programs

REUSED = "status=409 code=idempotency_key_reused"
Run = Callable[..., Result]


def long_walk(api: Api) -> None:
    """Ask sixty things, of which only two matter: the 13th and the 60th."""
    for n in range(59):
        if n == 12:
            api.apply_domains(key="deploy")
        elif n % 7 == 0:
            api.create_key(f"key {n}", key=f"key-{n}")
        elif n % 5 == 0:
            api.set_flag(n % 2 == 0, key=f"flag-{n}")
        else:
            api.dns()
    api.emulator.clock.advance("1m")
    api.initialize(1, key="deploy")


def recorded(api: Api) -> Recording:
    return read_record(api.emulator.requests.har(state=True))


def shrunk(api: Api, shows: str, **options: Any) -> Shrunk:
    return shrink(api.emulator.control, recorded(api), Shows(shows), **options)


def worlds(control: ControlClient) -> set[str]:
    return {world["name"] for world in control.worlds()}


def test_sixty_requests_become_the_two_that_matter(api: Api):
    long_walk(api)
    control = api.emulator.control
    before = worlds(control)

    found = shrunk(api, REUSED)

    assert [one.n for one in found.requests] == [13, 60]
    assert (found.of, found.shortest) == (60, True)
    assert found.runs < 40
    assert worlds(control) == before


def test_what_requests_came_to_is_shown_as_well(api: Api):
    for n in range(9):
        api.dns()
        api.create_key("ci" if n in (3, 6) else f"key {n}", key=f"key-{n}")
    api.create_key("key 5", key="key-5")  # whose value was lost, say
    api.set_flag(True, key="key-8")

    def numbers(shows: str) -> list[int]:
        return [one.n for one in shrunk(api, shows).requests]

    assert numbers("doubled=create_user_api_key") == [8, 14]
    assert numbers("blind=create_user_api_key") == [12, 19]
    assert numbers("conduct=key-reused-for-another-request") == [18, 20]
    with pytest.raises(NotShown, match="after any request"):
        numbers("conduct=secret-in-url")


def test_what_is_left_is_a_record_that_answers_the_same(api: Api):
    long_walk(api)
    control = api.emulator.control
    record = read_record(shrunk(api, REUSED).har)

    with like_recorded(control, record, Beginning()) as fresh:
        report = replay(control, record, control.world(fresh.name))

    assert [one.answer.status for one in report.requests if one.answer] == [202, 409]
    assert report.differing == []


def test_ids_follow_what_is_left_out(api: Api):
    first = api.apply_domains(project="blog", key="a").json["id"]
    api.emulator.clock.advance("1m")
    second = api.apply_domains(key="b").json["id"]
    api.poll(first)
    api.emulator.clock.advance("1m")
    api.poll(second)

    found = shrunk(api, "status=200 call=get_operation n=4")

    # An operation that nobody started is not found: what started it stays.
    assert [one.n for one in found.requests] == [2, 4]


def test_an_answer_that_needs_nothing_is_left_alone(api: Api):
    api.dns()
    api.dns(who="reader")
    api.ticket(who="reader")

    found = shrunk(api, "code=forbidden")

    assert [one.n for one in found.requests] == [3]


def test_it_ends_after_as_many_runs_as_it_may_take_and_says_so(api: Api):
    long_walk(api)

    found = shrunk(api, REUSED, max_runs=4)

    assert found.shortest is False
    assert found.runs <= 6
    assert found.requests[-1].n == 60


def test_a_request_that_is_not_sent_is_said_to_be_left_out_and_why(api: Api):
    api.deployments(f"access_token={api.emulator.token()}")

    with pytest.raises(NotShown) as refused:
        shrunk(api, "n=1")

    assert "now it is not sent: a secret was cut out of its address" in str(refused.value)


@pytest.mark.parametrize(
    ("shows", "words"),
    [
        ("status=418", "no request gets this response; request 3 gets 409 idempotency_key_"),
        ("status=200 n=3", "request 3 gets 409 idempotency_key_reused"),
        ("call=list_deployments", "no request of the recording matches"),
        (
            "conduct=polled-to-early",
            "there is no rule 'polled-to-early'; did you mean polled-too-early",
        ),
        (
            "n=1 status=503",
            "request 1 got this response when recorded, but now it gets",
        ),
    ],
)
def test_what_is_not_shown_is_said_with_what_is_nearest(api: Api, shows: str, words: str):
    armed = api.emulator.fault("abort", code="service_unavailable", times=1)
    api.dns()
    armed.remove()
    api.apply_domains(key="k")
    api.set_flag(True, key="k")

    with pytest.raises(NotShown) as refused:
        shrunk(api, shows, beginning=Beginning(seed="seed"))

    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "name a response"),
        ("status", "'status' is not one of status=…, code=…"),
        ("statu=4", "'statu=4' is not one of"),
        ("status=4xx", "status is a number, not '4xx'"),
        ("n=", "'n=' is not one of"),
        ("call=list_deploymnts", "did you mean list_deployments"),
    ],
)
def test_words_that_mean_no_answer_are_refused(text: str, words: str):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        Shows(text)


# --- On the command line --------------------------------------------------------------------------


@pytest.fixture
def run(api: Api, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line in this test's world."""
    emulator: HostingEmulator = api.emulator
    monkeypatch.setenv(
        "HOSTING_EMULATOR_URL", emulator.control.control_url.removesuffix("/_emulator")
    )
    monkeypatch.setenv("HOSTING_EMULATOR_WORLD", emulator.name)

    def run(*arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(cli, arguments, input=stdin, prog_name="hosting-emulator")

    return run


def test_a_record_is_written_shrunk_and_replayed_on_the_command_line(
    api: Api, run: Run, tmp_path: Path
):
    long_walk(api)
    long, short = str(tmp_path / "long.har"), str(tmp_path / "short.har")

    assert run("requests", "har", "--output", long).exit_code == 0
    same = run("requests", "replay", long)
    left = run("requests", "shrink", long, "--shows", REUSED, "--output", short)
    again = run("requests", "replay", short)

    assert same.exit_code == 0
    assert "60 same, 0 differ" in same.stdout
    assert left.exit_code == 0
    assert left.stdout.count("curl -s") == 2
    assert "hosting-emulator clock advance 60000ms" in left.stdout
    assert "2 of 60 requests show it (#13, #60)" in left.stderr
    assert again.exit_code == 0
    assert "2 same, 0 differ" in again.stdout


def with_keys(api: Api) -> None:
    """Make keys, and ask by each."""
    first = api.create_key("first", key="first").json["value"]
    api.dns()
    second = api.create_key("second", key="second").json["value"]
    api.dns(token=second)
    api.deployments("?limit=0", token=first)
    api.create_key("third", key="third", token=second)


@pytest.mark.parametrize(
    ("shows", "variables", "status"),
    [
        # Nothing but a key is needed: the request that made it is left out, another is made.
        ("code=interactive_login_required", ["API_KEY=$(hosting-emulator token"], "403"),
        ("status=400", ["API_KEY=$(hosting-emulator token"], "400"),
    ],
)
def test_a_line_sent_with_a_key_that_was_left_out_can_be_run(
    api: Api, run: Run, shows: str, variables: list[str], status: str
):
    with_keys(api)

    lines = run("requests", "shrink", "--shows", shows).stdout.splitlines()

    assert [line[: len(start)] for line, start in zip(lines, variables, strict=False)] == variables
    assert len(lines) == 2
    assert f'"status":{status}' in shell(api, lines)


def test_the_time_before_the_first_line_passes_too(api: Api, run: Run):
    api.emulator.clock.advance("20d")
    api.dns()
    api.emulator.clock.advance("11d")
    api.dns()

    lines = run("requests", "shrink", "--shows", "call=get_dns_authorization n=2").stdout.split(
        "\n"
    )

    assert lines[0] == "hosting-emulator clock advance 950400000ms"
    with api.emulator.fork(commit=1) as again:
        again.clock.advance("20d")  # the record begins where its first request did
        assert '"status":"expired"' in _shell(again, lines[:2])


#: Requests that curl would send otherwise than they were, were it not told.
ODD: list[tuple[str, str, dict[str, str], bytes | None, str]] = [
    ("GET", "/v1/projects/[x]{a,b}/../edge-dns", {}, None, "404"),
    ("GET", "/v1/projects/$HOME/edge-dns", {}, None, "404"),
    ("GET", "edge-dns", {}, b"{}", "200"),
    ("DELETE", "edge-dns", {}, None, "405"),
    ("PUT", "domains", {"Idempotency-Key": ""}, None, "400"),
    ("PUT", "powered-by-flag", {"Idempotency-Key": "a"}, b'{"enabled": true}', "400"),
    (
        "PUT",
        "powered-by-flag",
        {"Idempotency-Key": "it's", "Content-Type": "application/json"},
        b'{"enabled": "it\'s $HOME `x`"}',
        "400",
    ),
]


@pytest.mark.parametrize(("method", "path", "headers", "body", "status"), ODD)
def test_an_odd_request_is_sent_again_as_it_was(
    api: Api, method: str, path: str, headers: dict[str, str], body: bytes | None, status: str
):
    target = path if path.startswith("/") else api.project_path(path)
    sent = [*api.emulator.headers().items(), *headers.items()]
    with wire(api.emulator.base_url) as connection:
        connection.ask(method, target, sent, body or b"")
        connection.answer(method)

    before = recorded(api)
    with api.emulator.fork(commit=1) as again:
        _shell(again, list(curl_lines(before)))
        after = recorded(Api(again))

    first, second = before.requests[0], after.requests[0]
    assert first.answer is not None
    assert second.answer is not None
    assert str(first.answer.status) == status
    for one in ("method", "target", "body", "who"):
        assert getattr(first, one) == getattr(second, one)
    assert (first.answer.status, first.answer.code) == (second.answer.status, second.answer.code)


def test_a_line_is_sent_as_who_sent_it_for_the_same_organization(api: Api):
    api.emulator.intervene("add_member", organization="hobby", person="owner", role="owner")
    for token in (
        api.emulator.token(),
        api.emulator.token(organization="hobby"),
        api.emulator.token(interactive=False),
        api.emulator.token("reader"),
    ):
        api.create_key(organization="hobby", token=token)

    before = recorded(api)
    with api.emulator.fork(commit=2) as again:
        _shell(again, list(curl_lines(before)))
        after = recorded(Api(again))

    assert [one.who for one in before.requests] == [one.who for one in after.requests]


def test_a_line_that_makes_a_key_keeps_it_for_a_later_one(api: Api):
    with_keys(api)
    lines = list(curl_lines(recorded(api)))

    told = shell(api, [*lines, 'echo "$API_KEY $API_KEY_2"'])

    assert [line.partition("=")[0] for line in lines if line.startswith("API_")] == [
        "API_KEY",
        "API_KEY_2",
    ]
    assert "token --api-key" not in "".join(lines)
    assert '"status":400' in told
    assert '"status":403' in told
    first, second = told.split()[-2:]
    assert first != second
    assert first.startswith("phk_")


def shell(api: Api, lines: list[str]) -> str:
    """Run lines as they were printed, in a world that begins as the recorded one did."""
    control = api.emulator.control
    with HostingEmulator.fresh(control) as emulator:
        return _shell(emulator, lines)


def _shell(emulator: HostingEmulator, lines: list[str]) -> str:
    need("curl")
    url = emulator.control.control_url.removesuffix("/_emulator")
    outer = {"HOSTING_EMULATOR_URL": url, "HOSTING_EMULATOR_WORLD": emulator.name}
    path = os.pathsep.join((str(programs()), os.environ["PATH"]))
    script = "\n".join(('eval "$(hosting-emulator env)"', *(f"{line}; echo" for line in lines)))
    done = subprocess.run(
        ["sh", "-euc", script],
        env={**os.environ, **outer, "PATH": path},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def test_differences_are_told_and_end_in_1(api: Api, run: Run, tmp_path: Path):
    api.apply_domains()
    api.dns(who="reader")
    file = str(tmp_path / "r.har")
    run("requests", "har", "--output", file)

    told = run("requests", "replay", file, "--assume", "accepted_status=200")
    document = run("requests", "replay", file, "--assume", "accepted_status=200", "--json")

    assert told.exit_code == document.exit_code == 1
    assert "#1  differs  200  PUT" in told.stdout
    assert "status: was 202, now 200" in told.stdout
    assert "1 same, 1 differ" in told.stdout
    assert '"recorded": 202' in document.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["replay", "nowhere.har"], "cannot read nowhere.har"),
        (["replay", "-"], "stdin: this is not a recording of requests"),
        (["replay", "-", "--world", "default", "--seed", "x"], "leave out --fresh, --scenario"),
        (["replay", "99"], "no request '99'"),
        (["replay", "99", "--seed", "x"], "only --same-key goes with N"),
        (["replay", "-", "--same-key"], "--same-key goes with N"),
        (["shrink", "--shows", "x=1"], "'x=1' is not one of"),
        (["shrink", "--shows", "status=418"], "no request to /v1 in it"),
    ],
)
def test_what_cannot_be_done_is_one_clear_line(run: Run, arguments: list[str], words: str):
    result = run("requests", *arguments, stdin="{}")

    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert words in result.stderr


def test_ids_of_a_running_worlds_log_are_those_of_a_copy_of_it(api: Api, run: Run):
    api.initialize(1, key="left-out")
    operation = api.apply_domains(key="k").json["id"]
    api.poll(operation)

    lines = run("requests", "shrink", "--shows", "method=GET status=200").stdout.splitlines()

    assert len(lines) == 2
    with api.emulator.fork(commit=1) as again:
        assert _shell(again, lines).count('"state":"queued"') == 2


def test_the_log_of_a_running_world_is_shrunk_without_a_file(api: Api, run: Run):
    api.dns()
    api.set_flag(True, key="k")
    api.dns()
    api.apply_domains(key="k")

    result = run("requests", "shrink", "--shows", REUSED, "--json")

    assert result.exit_code == 0
    assert '"shortest": true' in result.stdout
    assert "    2,\n    4\n" in result.stdout
