"""The declarations of the emulated service that its pages must agree with."""

from hosting_emulator.calls.dev_access import TICKET_LIFETIME_MS
from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.engine.sign_ins import REFRESH_LIFETIME_S
from hosting_emulator.identity.tokens import TOOL_TOKEN_LIFETIME_S
from hosting_emulator.world.default_population import DEFAULT_POPULATION
from hosting_emulator.world.dns_authorizations import LIFETIME
from hosting_emulator.world.lifecycles import LIFECYCLES
from hosting_emulator.world.sessions import KEY_LIFETIME_MS

#: How long things are valid by default, as the pages say it and in milliseconds.
LIFETIMES = {
    "ten years": (TOOL_TOKEN_LIFETIME_S * 1000, 3_650 * 86_400_000),
    "one hour": (parse_duration_ms(Assumptions().token_lifetime), 3_600_000),
    "refresh token: 30 days": (REFRESH_LIFETIME_S * 1000, 30 * 86_400_000),
    "90 days": (KEY_LIFETIME_MS, 90 * 86_400_000),
    "valid for 30 more days": (parse_duration_ms(LIFETIME), 30 * 86_400_000),
    "ten-minute": (TICKET_LIFETIME_MS, 600_000),
}

__all__ = [
    "DEFAULT_POPULATION",
    "LIFECYCLES",
    "LIFETIMES",
    "parse_profile",
]
