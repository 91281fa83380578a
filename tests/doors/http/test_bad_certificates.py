"""Certificates that clients refuse, at the TLS port of an emulator."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.calls import Response
from tests.support.emulator_process import Client, Process, StartFailed, emulator


@pytest.fixture
def process() -> Iterator[Process]:
    """An emulator with a TLS port, and a world whose clock is frozen."""
    with emulator("--ephemeral", "--clock", "frozen", "--tls-port", "0") as process:
        yield process


def verification_error(process: Process, host: str) -> str | None:
    """Shake hands with the TLS port for a host. Return why the certificate is refused; None: it is not."""
    port = urlsplit(process.ready["tls_url"]).port
    context = ssl.create_default_context(cafile=process.ready["ca_file"])
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        try:
            context.wrap_socket(connection, server_hostname=host).close()
        except ssl.SSLCertVerificationError as error:
            return error.verify_message
    return None


def dev_host(client: Client, process: Process, world: str = "default") -> str:
    """Return the dev host of the default project of a world."""
    prefix = "" if world == "default" else f"/worlds/{world}"
    token = client.token(world=world)
    project_id = next(
        id_
        for id_, project in client.state(world)["tables"]["projects"].items()
        if project["alias"] == "shop"
    )
    path = f"{prefix}/v1/projects/{project_id}/dev-access-tickets"
    ticket = client.send("POST", path, None, {"Authorization": f"Bearer {token}"})
    host = urlsplit(ticket.json["origin"]).hostname
    assert host is not None
    return host


def arm(client: Client, world: str = "default", **fault: Any) -> Response:
    """Arm a certificate that has expired."""
    document = {"bad_certificate": {"reason": "expired"}, **fault}
    return client.send("POST", f"/_emulator/worlds/{world}/faults", document)


def counts(client: Client, world: str = "default") -> tuple[int, int]:
    """Return how many handshakes the only fault of a world matched and acted on."""
    [fault] = client.control("GET", f"worlds/{world}/faults")["items"]
    return fault["seen"], fault["hits"]


def test_a_bad_certificate_of_a_project_is_shown_at_its_dev_origin_only(process: Process):
    client = process.client()
    host = dev_host(client, process)

    armed = arm(client, project="shop", times=1)

    assert "note" not in armed.json
    assert verification_error(process, "localhost") is None
    assert verification_error(process, host) == "certificate has expired"
    assert verification_error(process, host) is None
    assert counts(client) == (2, 1)


def test_a_bad_certificate_without_a_project_is_shown_for_every_host(process: Process):
    client = process.client()
    host = dev_host(client, process)

    armed = arm(client)

    assert "every host on the TLS port" in armed.json["note"]
    for name in (host, "localhost", "127.0.0.1"):
        assert verification_error(process, name) == "certificate has expired"
    assert counts(client) == (3, 3)  # the plain port still has the control API
    client.control("DELETE", "worlds/default/faults")
    assert verification_error(process, "localhost") is None


def test_an_unused_bad_certificate_says_that_there_was_no_handshake(process: Process):
    client = process.client()
    arm(client, project="shop")
    client.send("GET", "/v1/projects")

    [fault] = client.control("GET", "worlds/default/faults")["items"]

    assert (fault["considered"], fault["unused"]) == (
        0,
        "there was no TLS handshake while the fault was armed",
    )


def test_the_worlds_of_one_port_meet_only_their_own_bad_certificates(process: Process):
    client = process.client()
    client.control("POST", "worlds", {"name": "other"})
    host = dev_host(client, process)
    other_host = dev_host(client, process, "other")

    refused = arm(client, "other")
    armed = arm(client, "other", project="shop")

    assert (refused.status, refused.json["title"]) == (409, "Fault refused")
    assert "'default', which is in use: name a project" in refused.json["detail"]
    assert armed.status == 201
    assert verification_error(process, host) is None
    assert verification_error(process, other_host) == "certificate has expired"


def test_a_world_that_no_client_uses_does_not_forbid_a_bad_certificate(process: Process):
    client = process.client()
    client.control("POST", "worlds", {"name": "other"})

    assert arm(client, "other").status == 201
    assert verification_error(process, "localhost") == "certificate has expired"


def test_a_bad_certificate_needs_a_tls_port():
    scenario = {"text": SCENARIO}
    with emulator("--ephemeral") as process:
        client = process.client()

        refusals = [
            arm(client, project="shop"),
            client.send("POST", "/_emulator/worlds/default/scenario", scenario),
            client.send("POST", "/_emulator/worlds", {"scenario": scenario}),
        ]

    for refusal in refusals:
        assert refusal.status == 400
        assert "start it with --tls-port" in refusal.json["detail"]


def test_a_scenario_with_a_bad_certificate_does_not_start_without_a_tls_port(tmp_path):
    path = tmp_path / "expired.yaml"
    path.write_text(SCENARIO)

    with pytest.raises(StartFailed, match="acts at the TLS port: start with --tls-port"):
        Process("--ephemeral", "--scenario", str(path))
    with emulator("--ephemeral", "--scenario", str(path), "--tls-port", "0") as process:
        assert verification_error(process, "localhost") == "certificate has expired"


SCENARIO = """
name: expired
description: The certificate of the TLS port has expired.
faults: [{bad_certificate: {reason: expired}}]
"""
