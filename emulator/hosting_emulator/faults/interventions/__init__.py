"""Interventions: changes of a world from outside the contract, each one small thing with a name."""

import hosting_emulator.faults.interventions.table  # noqa: F401 - it declares them all
from hosting_emulator.faults.interventions.declaration import (
    INTERVENTIONS,
    describe_interventions,
    read_intervention,
)

__all__ = ["INTERVENTIONS", "describe_interventions", "read_intervention"]
