"""What can be read without changing anything: DNS, database compute, and what is not there."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract_check.scene import NOWHERE, Scene, story
from hosting_emulator.contract_check.wire import Answer

#: Names that services give to the parameter that the contract does not name.
ENVIRONMENTS = ("environment", "env", "stage", "target", "database_environment")


@story("the DNS authorization is read")
def read_dns(scene: Scene) -> None:
    """Read it as the owner."""
    answer = scene.ask.call("get_dns_authorization")
    if scene.succeeded("dns.call", answer):
        scene.ledger.holds("bearer", answer.said)
        scene.observed.token(scene.options.token)
        if answer.header("X-Request-Id") is None:
            scene.observed.see("request_id_on_success", "absent")
    else:
        scene.unreadable = f"{answer.said}: what every story reads cannot be read"
        return
    asked = scene.ask.call(
        "get_dns_authorization", "?hosting-emulator-check=1", about="an unknown query parameter"
    )
    if asked.ok or asked.status == 400:
        scene.observed.see("unknown_query_parameters", "ignored" if asked.ok else "refused")


@story("database compute is read for dev and prod")
def read_compute(scene: Scene) -> None:
    """Find the name of the parameter, and hold what it does."""
    plain = scene.ask.call("read_database_compute", about="without an environment")
    if plain.ok:
        scene.observed.see("missing_environment", plain.fields.get("environment"))
    elif plain.status == 400:
        scene.observed.see("missing_environment", "refused")
    found = _find_environment(scene)
    if found is None:
        keys = "compute.call compute.query"
        if not plain.refused:
            scene.succeeded(keys, plain)
        names = ", ".join(ENVIRONMENTS)
        why = f"none of {names} chooses it: --assume environment_parameter=NAME names it"
        scene.ledger.skips(keys, why)
        return
    name, dev, prod = found
    scene.ledger.holds("compute.query", dev.said)
    other = scene.ask.call("read_database_compute", f"?{name}=staging", about="no environment")
    scene.wrong_input("compute.query", other)
    if dev.fields.get("data_mode") == prod.fields.get("data_mode") == "shared":
        same = _settings(dev) == _settings(prod)
        wrong = "data is shared, and the databases of dev and prod are not the same"
        scene.ledger.judge("compute.data_mode", same, prod.said, wrong)


def _find_environment(scene: Scene) -> tuple[str, Answer, Answer] | None:
    known = scene.options.assumed.get("environment_parameter")
    for name in (known,) if known else ENVIRONMENTS:
        dev, prod = (
            scene.ask.call("read_database_compute", f"?{name}={environment}")
            for environment in ("dev", "prod")
        )
        if dev.fields.get("environment") == "dev" and prod.fields.get("environment") == "prod":
            scene.observed.see("environment_parameter", name)
            return name, dev, prod
    return None


def _settings(answer: Answer) -> Any:
    """The database's settings, without the states it may go through between two requests."""
    database = answer.fields.get("database")
    if not isinstance(database, dict):
        return database
    return {name: database[name] for name in database if name not in ("state", "pending_state")}


@story("what is not there")
def read_nothing(scene: Scene) -> None:
    """Ask for projects that nobody has."""
    missing = scene.ask.call("get_dns_authorization", subject=NOWHERE, about="no such project")
    if scene.refused("condition.missing", missing, "resource_not_found"):
        link = missing.fields.get("type")
        if isinstance(link, str):
            parts = scene.options.base_url.split("/", 3)
            scene.observed.docs(link, "resource_not_found", "/".join(parts[:3]) + "/_emulator/docs")
    malformed = scene.ask.call(
        "get_dns_authorization", subject="not-a-ulid", about="an id that is no Ulid"
    )
    if scene.refused("ulid", malformed):
        found = {404: "not_found", 400: "invalid_request"}.get(malformed.status)
        if found is not None:
            scene.observed.see("malformed_project_id", found)


@story("X-Request-Id")
def request_ids(scene: Scene) -> None:
    """Send ones within and outside the bounds."""
    if scene.unreadable:
        scene.ledger.skips("request-id limit.request-id", scene.unreadable)
        return
    for length in (1, 128):
        sent = ("hosting-emulator-check-" * 6)[-length:]
        about = f"X-Request-Id of {length}"
        headers = {"X-Request-Id": sent}
        answer = scene.ask.call("get_dns_authorization", headers=headers, about=about)
        if scene.succeeded("request-id limit.request-id", answer):
            scene.ledger.holds("limit.request-id", answer.said)
            echoed = answer.header("X-Request-Id")
            scene.observed.see("request_id_on_success", "absent" if echoed is None else "echoed")
        scene.ask.call("get_dns_authorization", subject=NOWHERE, headers=headers, about=about)
    outside = [
        scene.ask.call("get_dns_authorization", headers={"X-Request-Id": sent}, about=about)
        for sent, about in (("", "X-Request-Id empty"), ("x" * 129, "X-Request-Id of 129"))
    ]
    if all(answer.ok for answer in outside):
        scene.observed.see("request_id_invalid", "ignored")
    elif all(answer.status == 400 for answer in outside):
        scene.observed.see("request_id_invalid", "refused")
    else:
        scene.observed.note(
            "an X-Request-Id that is empty is not treated like one that is too long"
        )
