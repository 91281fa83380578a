"""Golden file with what a finding of each rule says, with the requests that it names.

Each section of `findings.txt` is a client that breaks a rule. ULIDs are replaced by `ID`. `make record`
renews the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.judged_world import JudgedWorld
from tests.support.recorded_texts import HEADER, without_ids

GOLDEN_FILE = Path(__file__).with_name("findings.txt")
STORIES: list[tuple[str, Callable[[], JudgedWorld]]] = []


def story(client: Callable[[], JudgedWorld] = JudgedWorld) -> Callable[..., None]:
    """Register a function that lets a client send requests. Its docstring says what the client does."""

    def register(play: Callable[[JudgedWorld], object]) -> None:
        def run() -> JudgedWorld:
            world = client()
            play(world)
            return world

        STORIES.append((str(play.__doc__), run))

    return register


def real_clock() -> JudgedWorld:
    return JudgedWorld("real")


# --- Idempotency ----------------------------------------------------------------------------------


@story()
def _(client: JudgedWorld) -> None:
    """Mutations are sent without an Idempotency-Key."""
    client.apply_domains(key=None)
    client.initialize(1, key=None)


@story()
def _(client: JudgedWorld) -> None:
    """A mutation whose response was lost is sent again with a new key."""
    client.lose_response()
    client.apply_domains(key="first")
    client.apply_domains(key="second")


@story()
def _(client: JudgedWorld) -> None:
    """A mutation that was refused with 503 is sent again with a new key, five minutes later."""
    client.fault(abort={"code": "service_unavailable"})
    client.create_key(key="first")
    client.engine.move_by(300_000)
    client.change_connection()
    client.create_key(key="second")


@story()
def _(client: JudgedWorld) -> None:
    """A key is sent again with another body, with another call and with another project."""
    client.set_flag(True, key="a")
    client.set_flag(False, key="a")
    client.initialize(1, key="b")
    client.apply_domains(key="b")
    client.apply_domains(key="c")
    client.apply_domains(key="c", project="blog")


@story()
def _(client: JudgedWorld) -> None:
    """The key of a refused request is sent again with another body."""
    client.set_flag("yes", key="a")
    client.set_flag(True, key="a")


@story()
def _(client: JudgedWorld) -> None:
    """A key is sent again after the flag was changed with another key."""
    client.set_flag(True, key="on")
    client.set_flag(False, key="off")
    client.set_flag(True, key="on")


@story()
def _(client: JudgedWorld) -> None:
    """Two connections create the same API key at about the same time."""
    for connection, key in ((1, "first"), (2, "second")):
        client.connection = connection
        client.create_key(key=key)
        client.pass_time(0.1)


@story()
def _(client: JudgedWorld) -> None:
    """The response with the value of an API key is lost."""
    client.lose_response()
    client.create_key("ci", key="a")
    client.create_key("ci", key="a")


# --- Retries --------------------------------------------------------------------------------------


@story()
def _(client: JudgedWorld) -> None:
    """A refused request is sent again unchanged."""
    client.set_flag(True, key="a", user="reader")
    client.set_flag(True, key="a", user="reader")


@story(real_clock)
def _(client: JudgedWorld) -> None:
    """A request that exceeded the rate limit is sent again before the wait is over."""
    client.fault(abort={"code": "rate_limited", "retry_after_seconds": 5})
    client.dns()
    client.pass_time(4.9)
    client.dns()


# --- Polling and lists ----------------------------------------------------------------------------


@story(real_clock)
def _(client: JudgedWorld) -> None:
    """An operation is polled too early, and then no more."""
    operation = client.start_operation()
    client.pass_time(1)
    client.poll(operation)


@story(real_clock)
def _(client: JudgedWorld) -> None:
    """An operation is polled after it has ended."""
    operation = client.start_operation()
    client.engine.move_by(60_000)
    for _ in range(4):
        client.poll(operation)
        client.pass_time(5)


@story(lambda: JudgedWorld("real", progress_phases="queued,building,warming_up,verifying,done"))
def _(client: JudgedWorld) -> None:
    """A client stops at an unknown phase of an operation."""
    operation = client.start_operation()
    client.pass_time(3)
    client.poll(operation)


@story(
    lambda: JudgedWorld(deployment_statuses="queued,building,deploying,live,failed,gone,replaced")
)
def _(client: JudgedWorld) -> None:
    """A client stops at a page with an unknown status."""
    client.deployments("?limit=2")


@story(lambda: JudgedWorld(default_page_size=2))
def _(client: JudgedWorld) -> None:
    """Only the first page of a list is read."""
    client.deployments()


@story()
def _(client: JudgedWorld) -> None:
    """The second page of a list is the last that is read."""
    cursor = client.deployments("?limit=1").json["next_cursor"]
    client.deployments(f"?limit=1&cursor={cursor}")


# --- Tickets --------------------------------------------------------------------------------------


@story()
def _(client: JudgedWorld) -> None:
    """A client tries to redeem a ticket twice."""
    url = client.ticket().json["redeem_url"]
    client.redeem(url)
    client.redeem(url)


@story()
def _(client: JudgedWorld) -> None:
    """A client tries to redeem a ticket after ten minutes."""
    url = client.ticket().json["redeem_url"]
    client.engine.move_by(600_000)
    client.redeem(url)


@story()
def _(client: JudgedWorld) -> None:
    """A client tries to redeem a replaced ticket."""
    url = client.ticket().json["redeem_url"]
    client.ticket()
    client.redeem(url)


@story()
def _(client: JudgedWorld) -> None:
    """A ticket replaces a ticket that was never redeemed."""
    client.ticket()
    client.ticket()


# --- Credentials ----------------------------------------------------------------------------------


@story()
def _(client: JudgedWorld) -> None:
    """A word for no value is sent as a token."""
    client.dns(token="undefined")


@story()
def _(client: JudgedWorld) -> None:
    """API keys are created with an API key, and with a token without a session."""
    value = client.create_key().json["value"]
    client.create_key("another", token=value)
    client.create_key("third", token=client.token(interactive=False))


@story()
def _(client: JudgedWorld) -> None:
    """Secrets are sent in URLs, and in headers other than Authorization."""
    token = client.token("reader")
    ticket = client.ticket().json["redeem_url"].partition("ticket=")[2]
    client.call("GET", client.project_path(f"edge-dns?access_token={token}"))
    client.call("GET", client.project_path(f"edge-dns/{ticket}"))
    client.dns(headers={"Referer": f"https://app.example/?token={token}"})
    client.dns(headers={"X-Auth": f"token={token}"})


@story()
def _(client: JudgedWorld) -> None:
    """An access token and an API key are sent to a dev origin."""
    for token in (client.token(), client.create_key().json["value"]):
        headers = {"Host": "dev-a-b-c.dev.localhost", "Authorization": f"Bearer {token}"}
        client.redeem(client.ticket().json["redeem_url"], headers)


@story()
def _(client: JudgedWorld) -> None:
    """A token is sent to the host of a redirect."""
    client.fault(redirect={"location": "http://localhost:8080/v1/elsewhere"})
    client.dns(headers={"Host": "127.0.0.1:8080"})
    client.call("GET", "/v1/elsewhere", headers={"Host": "localhost:8080"})


# --- The content of requests ----------------------------------------------------------------------


@story()
def _(client: JudgedWorld) -> None:
    """Cursors are made up, or belong to another project."""
    client.deployments("?cursor=abc")
    cursor = client.deployments("?limit=20").json["next_cursor"]
    client.deployments(f"?limit=20&cursor={cursor}", project="blog")


@story()
def _(client: JudgedWorld) -> None:
    """Calls without an Idempotency-Key get one."""
    client.ticket(key="a")
    client.dns(key="b")


@story()
def _(client: JudgedWorld) -> None:
    """Parameters, fields and bodies are sent that no call reads."""
    client.deployments("?page_size=100")
    client.deployments("?after=abc&limit=100")
    client.call("GET", client.project_path(f"edge-dns?verbose=1&{'x' * 61}=1"))
    client.dns(body={"verbose": True})
    path = f"/v1/organizations/{client.organization_id()}/user-api-keys"
    client.call("POST", path, key="a", body={"name": "ci", "scopes": ["all"]})
    client.ticket(body={"minutes": 60})
    client.apply_domains(body={})


def _text(title: str, client: JudgedWorld) -> str:
    text = f"\n# {title}\n"
    for finding in client.findings(final=True):
        numbers = " ".join(f"#{number}" for number in finding.requests)
        text += f"{finding.rule} ({finding.severity}, {numbers}): {finding.message}\n"
    return text


def golden_text() -> str:
    """Return the text that the golden file must have."""
    return HEADER + without_ids("".join(_text(title, run()) for title, run in STORIES))


if __name__ == "__main__":
    GOLDEN_FILE.write_text(golden_text(), encoding="utf-8")
