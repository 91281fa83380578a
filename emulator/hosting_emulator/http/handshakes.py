"""Applies TLS handshake faults, which determine which certificate a connection gets.

A handshake belongs to the world whose dev host the client names (SNI). A fault without a project
acts on every host in its world, and on hosts that belong to no world, such as localhost.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from hosting_emulator.calls.dev_access import project_at
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.fault_steps import decide_at, has_faults_of
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.faults.kinds.bad_certificate import BadCertificate, CertificateProblem
from hosting_emulator.faults.matching import FaultSubject
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change

_log = logging.getLogger("hosting_emulator.http")


def certificate_problem(worlds: Worlds, host: str) -> CertificateProblem | None:
    """Return the problem that a host's certificate must have, or None if it must be valid.

    If the handshake matches an armed fault, the fault's counts are updated. `host` is empty if the
    client names no host.
    """
    engines = [engine for engine in worlds if has_faults_of(engine, "handshake")]
    if not engines:
        return None
    owner = _owner_of(worlds, host)
    for engine in engines:
        project_id = None
        if owner is not None:
            if owner[0] is not engine:
                continue
            project_id = owner[1].id
        try:
            problem = _decide(engine, host, project_id)
        except StoreFailed as error:
            _log.error("a fault at the TLS handshake did not act: %s", error)
            continue
        if problem is not None:
            return problem
    return None


def _owner_of(worlds: Iterable[Engine], host: str) -> tuple[Engine, Project] | None:
    """Return the world and project of a dev host, or None if no project has this host."""
    for engine in worlds:
        project = project_at(Change(engine.world, engine.world.at_ms), host)
        if project is not None:
            return engine, project
    return None


def _decide(engine: Engine, host: str, project_id: str | None) -> CertificateProblem | None:
    subject = FaultSubject(
        call="tls_handshake",
        project=project_id,
        organization=None,
        principal="",
        method="TLS",
        path=host or "without a host name",
        headers=lambda *_: (),
    )
    decision = decide_at(engine, subject, engine.run_due(), "handshake")
    if isinstance(decision.effect, BadCertificate):
        return decision.effect.reason
    return None
