"""Deployments move only along their lifecycle."""

from __future__ import annotations

import pytest

from hosting_emulator.world.deployments import move_deployment
from hosting_emulator.world.tables import DEPLOYMENTS, OPERATIONS
from hosting_emulator.world.value import Change
from tests.support.in_process import InProcess


def test_a_deployment_moves_only_along_its_lifecycle() -> None:
    world = InProcess()
    operation_id = world.initialize(1).json["id"]
    change = Change(world.world, 0)
    operation = change.row(OPERATIONS, operation_id)
    assert operation.deployment_id is not None

    move_deployment(change, operation, "failed")

    assert change.row(DEPLOYMENTS, operation.deployment_id).status == "failed"
    with pytest.raises(ValueError, match="failed"):
        move_deployment(change, operation, "ready")
