"""The endpoint that copies a world to a new world."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.control.history import find_state
from hosting_emulator.control.tokens import NewToken, token_claims
from hosting_emulator.control.world_replacement import new_world_name
from hosting_emulator.control.world_starts import is_ephemeral, start_world
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Body, Context, Example, WorldName
from hosting_emulator.messages import WorldSummary


class NewFork(Body):
    """The copy of a world to create. `commit` selects the commit to copy (default: the latest).

    If `token` is present, even as `{}`, the response contains an access token.
    """

    name: WorldName | None = None
    ephemeral: bool | None = None
    commit: int | None = None
    token: NewToken | None = None


def fork_world(
    context: Context,
    engine: Engine,
    body: Annotated[NewFork, Example({"token": {"user": "member"}})],
) -> WorldSummary:
    """Copy a world to a new, independent world."""
    name = new_world_name(context, body.name)
    state = None
    if body.commit is not None:
        state = find_state(engine, body.commit)
    claims = None
    if body.token is not None:
        claims = token_claims(state or engine.world, body.token)
    ephemeral = is_ephemeral(body.name, body.ephemeral)
    fork = context.worlds.fork(engine, name, ephemeral=ephemeral, state=state)
    return start_world(context, fork, engine.ttl_ms, claims)
