"""Interventions, which change a world from outside the contract.

Each module declares the interventions for one topic, as functions. A function's parameters are the
fields of the document. If a parameter's type is a record, the document contains the record's alias
or id.
"""

# Keep the modules in this order. Lists show interventions in the order of these imports.
# isort: off
import hosting_emulator.faults.interventions.adding
import hosting_emulator.faults.interventions.operations
import hosting_emulator.faults.interventions.deployments
import hosting_emulator.faults.interventions.credentials
import hosting_emulator.faults.interventions.organizations
import hosting_emulator.faults.interventions.projects
import hosting_emulator.faults.interventions.clocks  # noqa: F401

# isort: on
from hosting_emulator.faults.interventions.declaration import (
    INTERVENTIONS,
    describe_interventions,
    read_intervention,
)

__all__ = ["INTERVENTIONS", "describe_interventions", "read_intervention"]
