"""Endpoints that list a world's commits and rewind the world to one of them."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control.commit_summaries import summarize_commit
from hosting_emulator.control.world_summaries import world_summary
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import Commit, SavedState
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Body, Context, Example, require
from hosting_emulator.http.query import Limit
from hosting_emulator.messages import CommitEntry, CommitHistory, WorldSummary
from hosting_emulator.world.value import World


class Rewind(Body):
    """The commit to rewind to."""

    commit: int


async def list_history(context: Context, engine: Engine, limit: Limit = 100) -> web.StreamResponse:
    """List the latest commits, newest first. `first` is the number of the oldest stored commit.

    `summary` describes the changes in a commit. It is empty if the title already describes them.
    Commits that only count requests, for faults and the rate limit, are not listed, so rewinding to
    the first item does not undo their counts.
    """
    engine.run_due()
    listed = [commit for commit in reversed(engine.history) if commit.is_listed]
    document = CommitHistory(first=engine.history[0].number, items=[])
    items = map(_commit_entry, listed[:limit])
    return await responses.json_list(context.request, document, "items", items)


def _commit_entry(commit: Commit) -> CommitEntry:
    return CommitEntry(
        commit=commit.number,
        at=format_timestamp(commit.world.at_ms),
        title=commit.title,
        summary=summarize_commit(commit),
    )


def find_state(engine: Engine, commit: int) -> World:
    """Return the world as it was after a commit.

    Raises ControlRefusal 404 if the commit is no longer stored.
    """
    first = engine.history[0].number
    last = engine.world.commit
    detail = f"commit {commit} is not in the history, which contains the commits {first} to {last}"
    return require(engine.history.state_after(commit), "No such commit", detail)


def rewind(
    context: Context, engine: Engine, body: Annotated[Rewind, Example({"commit": 1})]
) -> WorldSummary:
    """Rewind a world to its state after a commit.

    The rewind is itself a new commit. The status is 404 if the commit is no longer stored.
    """
    rewind_world(engine, body.commit)
    return world_summary(context, engine)


def rewind_world(engine: Engine, commit: int) -> None:
    """Rewind a world to its state after a commit. Raises ControlRefusal 404."""
    state = find_state(engine, commit)
    engine.restore(SavedState(state, state.at_ms), f"rewound to {commit}")
