"""The declarations of the emulated service that its page must agree with."""

from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.world.default_population import DEFAULT_POPULATION
from hosting_emulator.world.lifecycles import LIFECYCLES
from hosting_emulator.world.plans import DEPLOYING_PLAN, PLAIN_PLAN

__all__ = ["DEFAULT_POPULATION", "DEPLOYING_PLAN", "LIFECYCLES", "PLAIN_PLAN", "parse_profile"]
