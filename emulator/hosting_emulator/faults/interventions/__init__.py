"""Interventions: changes of a world from outside the contract. Each has a name and does one thing.

A module declares the interventions of one topic, each as one function. Its parameters are the fields of
the document. A parameter whose type is a record is named in the document, by its alias or id.
"""

# Interventions are listed in the order in which these modules are imported.
# isort: off
import hosting_emulator.faults.interventions.adding
import hosting_emulator.faults.interventions.operations
import hosting_emulator.faults.interventions.deployments
import hosting_emulator.faults.interventions.credentials
import hosting_emulator.faults.interventions.organizations
import hosting_emulator.faults.interventions.projects  # noqa: F401

# isort: on
from hosting_emulator.faults.interventions.declaration import (
    INTERVENTIONS,
    describe_interventions,
    read_intervention,
)

__all__ = ["INTERVENTIONS", "describe_interventions", "read_intervention"]
