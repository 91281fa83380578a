"""Reads the DNS authorization and the database compute as the owner."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator_lab.contract_check.checks.parameter_names import discover_name
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse, same_value
from hosting_emulator_lab.contract_check.run import CheckRun

_COMPUTE_KEYS = ("compute.call", "compute.query")
#: The fields that may change between two reads of one database.
_DATABASE_STATES = {"state", "pending_state"}


@declare_check()
def read_dns(run: CheckRun) -> None:
    """Read the DNS authorization as the owner."""
    response = run.read()
    if not run.expect.success("dns.call", response):
        run.unreadable = f"{response}: the DNS authorization cannot be read"
        return
    run.evidence.holds("bearer", response)
    issued_at_ms = run.behavior.record_audience(run.options.token)
    if issued_at_ms is not None:
        run.times.record_event(issued_at_ms)
    with_parameter = run.read("an unknown query parameter", query="?hosting-emulator-check=1")
    run.expect.ignored_or_refused("unknown_query_parameters", with_parameter)


@declare_check()
def read_compute(run: CheckRun) -> None:
    """Read database compute for dev and prod, after discovering the name of the parameter."""
    plain = _read(run, purpose="without an environment")
    if plain.ok:
        run.behavior.record("missing_environment", plain["environment"])
    elif plain.is_invalid_input:
        run.behavior.record("missing_environment", "refused")
    responses: dict[str, tuple[ServerResponse, ServerResponse]] = {}

    def works(name: str) -> bool:
        responses[name] = (_read(run, f"?{name}=dev"), _read(run, f"?{name}=prod"))
        dev, prod = responses[name]
        if dev["environment"] == "dev" and prod["environment"] == "prod":
            return True
        # Even if the responses are wrong, the name is right if the server requires the parameter or
        # refuses other values of it.
        if not {dev.text("environment"), prod.text("environment")} <= {"dev", "prod"}:
            return False
        return plain.is_invalid_input or _read(run, f"?{name}=staging").is_invalid_input

    name = discover_name(
        run, "environment_parameter", works, _COMPUTE_KEYS, "chooses the environment"
    )
    if name is None:
        if not plain.refused:
            run.expect.success(_COMPUTE_KEYS, plain)
        return
    _judge_environments(run, *responses[name])
    run.expect.invalid_input(
        "compute.query", _read(run, f"?{name}=staging", "an unknown environment")
    )
    _judge_shared_data(run, *responses[name])


def _judge_environments(run: CheckRun, dev: ServerResponse, prod: ServerResponse) -> None:
    for environment, response in (("dev", dev), ("prod", prod)):
        if run.expect.success(_COMPUTE_KEYS, response):
            is_right = same_value(response["environment"], environment)
            fault = f"it is not the compute of {environment}"
            run.evidence.judge("compute.query", is_right, response, fault)


def _judge_shared_data(run: CheckRun, dev: ServerResponse, prod: ServerResponse) -> None:
    """Judge whether both environments show the same database, if both say that data is shared."""
    if _is_shared(dev) and _is_shared(prod):
        run.evidence.judge(
            "compute.data_mode",
            _is_same_database(dev["database"], prod["database"]),
            prod,
            "data is shared, but dev and prod show different databases",
        )


def _read(run: CheckRun, query: str = "", purpose: str = "") -> ServerResponse:
    return run.call("read_database_compute", purpose, query)


def _is_shared(compute: ServerResponse) -> bool:
    return compute["data_mode"] == "shared" and "database" in compute.fields


def _is_same_database(dev: Any, prod: Any) -> bool:
    """Return whether two databases have the same settings, ignoring settings that only one contains."""
    if not isinstance(dev, dict) or not isinstance(prod, dict):
        return bool(dev == prod)
    names = RESOURCES["DatabasePlacement"].names & dev.keys() & prod.keys()
    return all(dev[name] == prod[name] for name in names - _DATABASE_STATES)
