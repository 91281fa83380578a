"""One world in a user's hands: what is in it, its time, its failures, its story.

For tests and scripts, with pytest or without. It goes through the control API like everybody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from hosting_emulator.sdk.addresses import read_address, read_control_token
from hosting_emulator.sdk.answers import ClockMode, ClockRequest, World
from hosting_emulator.sdk.beginning import begin_world
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.errors import ControlRefused, EmulatorUnreachable
from hosting_emulator.sdk.happening import Happening
from hosting_emulator.sdk.varying import VaryLike


class HostingEmulator(Happening):
    """A world: where it answers, who may ask, what is in it, and what happens to it.

    Made by `connect` or `fresh`, or given by the pytest plugin. What the emulator refuses is a
    `ControlRefused` with one clear line; without an emulator it is an `EmulatorUnreachable`.
    Threads may share a handle. `with` closes it at its end.
    """

    def __init__(
        self,
        control: ControlClient,
        world: World,
        *,
        throw_away: bool = False,
        own_connection: bool = False,
    ) -> None:
        """Hold a world by its summary; `close` deletes a `throw_away` one."""
        super().__init__(control, world)
        self._throw_away = throw_away
        self._own_connection = own_connection
        self._forks: list[HostingEmulator] = []

    def __repr__(self) -> str:
        return f"<HostingEmulator {self.name!r} at {self.base_url}>"

    # --- Opening and closing -----------------------------------------------------------------

    @classmethod
    def connect(
        cls,
        url: str | ControlClient | None = None,
        *,
        world: str | None = None,
        control_token: str | None = None,
    ) -> Self:
        """Hold a world that exists, which closing leaves as it is.

        `url` is the emulator's address or a world's, or a client to share; without it
        HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD hold, then http://127.0.0.1:4620. `world` is
        `default` unless named. `control_token` is HOSTING_EMULATOR_CONTROL_TOKEN's unless given.
        Raises ControlRefused (404) for a world that is not there, ValueError for no address.
        """
        control, named = _reach(url, control_token)
        if world is not None and named is not None and url is not None and world != named:
            raise ValueError(f"the address is of world {named!r}, and world is {world!r}")
        own = control is not url
        with _closing_on_error(control, own):
            return cls(control, control.world(world or named or "default"), own_connection=own)

    @classmethod
    def fresh(
        cls,
        url: str | ControlClient | None = None,
        *,
        scenario: str | Path | None = None,
        document: Mapping[str, Any] | None = None,
        document_name: str = "(inline)",
        state: Mapping[str, Any] | None = None,
        clock: ClockMode | ClockRequest | None = None,
        seed: str | None = None,
        assumptions: Mapping[str, Any] | None = None,
        name: str | None = None,
        vary: VaryLike | None = None,
        vary_only: str | Sequence[str] | None = None,
        control_token: str | None = None,
    ) -> Self:
        """Make a world that closing deletes. `url` and `control_token` as for `connect`.

        It begins as the default world, its clock frozen; or as a `scenario`: a name of the library
        or the path of a `.yaml`, `.yml` or `.json` file; or as a scenario's `document`, which may
        leave out name and description and which errors call `document_name`; or as an exported
        `state`. `clock` is a mode or `{mode, rate}`. `clock` and `assumptions` are laid over a
        scenario's. `vary` is a seed that its answers vary by, at the points in `vary_only` or at
        all, or both as a scenario writes them; HOSTING_EMULATOR_VARY and HOSTING_EMULATOR_VARY_ONLY
        hold where it is not given. Raises ValueError for what is no seed; ControlRefused, with
        `file:line:column`, for a scenario that is wrong.
        """
        control, _ = _reach(url, control_token)
        own = control is not url
        with _closing_on_error(control, own):
            world = begin_world(
                control,
                name=name,
                scenario=scenario,
                document=document,
                document_name=document_name,
                state=state,
                clock=clock,
                seed=seed,
                assumptions=assumptions,
                vary=vary,
                vary_only=vary_only,
            )
        return cls(control, world, throw_away=True, own_connection=own)

    def fork(self, name: str | None = None, *, commit: int | None = None) -> HostingEmulator:
        """Copy this world into one that lives on by itself; closed with this one.

        As it is now, or as it was after a `commit` of its `history` (ControlRefused, 404, if that
        is not kept). Tokens are of one world: the copy has its own.
        """
        copied = self.control.fork(self.name, name, ephemeral=True, commit=commit)
        fork = HostingEmulator(self.control, copied, throw_away=True)
        self._forks.append(fork)
        return fork

    def close(self) -> None:
        """Delete the forks, and the world if it is a throw-away one. Again is no error."""
        while self._forks:
            self._forks.pop().close()
        if self._throw_away:
            self._throw_away = False
            _delete(self.control, self.name)
        if self._own_connection:
            self.control.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _reach(
    url: str | ControlClient | None, control_token: str | None
) -> tuple[ControlClient, str | None]:
    """Return a client, and the world that the address names."""
    if isinstance(url, ControlClient):
        return url, None
    address = read_address(url)
    token = read_control_token(control_token)
    return ControlClient(address.control_url, token=token), address.world


@contextmanager
def _closing_on_error(control: ControlClient, own: bool) -> Iterator[None]:
    try:
        yield
    except BaseException:
        if own:
            control.close()
        raise


def _delete(control: ControlClient, world: str) -> None:
    # Gone already, or gone with its emulator: that is what was wanted.
    with suppress(EmulatorUnreachable):
        try:
            control.delete_world(world)
        except ControlRefused as refused:
            if refused.status != 404:
                raise
