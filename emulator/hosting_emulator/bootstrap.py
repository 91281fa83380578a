"""Builds a complete emulator from its settings, and opens and closes its sockets.

This module makes no decisions about requests. Invalid settings are refused in `start_checks`, and
the default world is built in `default_world`. The other modules that commands use directly are
`logs`, `inspection` and `stories`.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from secrets import token_hex
from ssl import SSLContext
from typing import Self
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT, __version__
from hosting_emulator.app import App
from hosting_emulator.calls.inputs import load_models as load_models
from hosting_emulator.conduct.observation import Observations
from hosting_emulator.contract.assumption_table import warnings_of
from hosting_emulator.contract.assumptions import AssumptionRefused
from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.default_world import (
    build_scenario_world,
    read_state,
    rebuild,
    unused_settings,
    world_source,
)
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.redaction import keep_secret
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.engine.triggers import rule_triggers
from hosting_emulator.engine.world_variation import vary
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.http.addresses import (
    host_name,
)
from hosting_emulator.http.endpoint import Facts
from hosting_emulator.http.file_limits import FileLimitReports, raise_file_limit
from hosting_emulator.http.guard import Site
from hosting_emulator.http.protocol import ServerFunctions
from hosting_emulator.http.server import Server
from hosting_emulator.identity.tokens import TOOL_TOKEN_LIFETIME_S
from hosting_emulator.inspection import stored_world
from hosting_emulator.logs import log_to_stderr, log_worlds
from hosting_emulator.running_emulators import EmulatorRecord, registered
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.library import ScenarioLibrary, read_file
from hosting_emulator.scenario.reading import Scenario
from hosting_emulator.settings import Ready, Settings, StartError
from hosting_emulator.start_checks import (
    cannot_listen,
    check_beginning,
    check_different_ports,
    check_origins,
    check_ports,
    check_user,
    control_token,
    is_reached_from_outside,
    public_url,
)
from hosting_emulator.storage.directory import DataDirectory
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.variation.points import VariationRefused
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.naming import (
    DEFAULT_WORLD,
    default_user,
    id_of,
    in_order,
    not_found_message,
)
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import User, Variation, WorldSource
from hosting_emulator.world.tables import PROJECTS, SINGLETON_KEY, USERS, VARIATION
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator")
#: When the emulator stops, open connections have this many real seconds to finish. Connections that
#: are still open after that are cancelled, and get another _GRACE_S seconds to close.
_GRACE_S = 0.2
#: How often the files in the data directory are checked: the interval in real seconds.
_CHECK_FILES_S = 0.5
#: How long threads may continue to run after everything has been stored, in real seconds.
_THREADS_GRACE_S = 2.0
_WILDCARDS = ("0.0.0.0", "::", "")
#: Exceptions whose messages tell the user what is wrong with the settings, the state or a scenario.
_REFUSALS = (
    StartError,
    StateRefused,
    StoreFailed,
    ScenarioError,
    ClockRefused,
    AssumptionRefused,
)


class Emulator:
    """A complete emulator in this process. Use it as an async context manager, or call `start` and
    `stop`.

    The constructor raises StartError if the settings contradict each other or the stored state, or
    if a port is in use. The stored state is then unchanged. However, if another process takes the
    port between the constructor and `start`, `start` fails after the constructor has already
    replaced the stored world.

    If `copy_of` is another emulator, the default world is a copy of that emulator's default world.
    The settings must then not contain a data directory, a scenario or an imported state.

    The control API calls `request_stop` to stop the emulator. If it is None, the control API cannot
    stop the emulator.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        request_stop: Callable[[], object] | None = None,
        copy_of: Emulator | None = None,
    ) -> None:
        self._settings = settings
        self._request_stop = request_stop
        self._instance = token_hex(16)
        self._library = ScenarioLibrary(settings.library)
        self._observations = Observations()
        self._watch: asyncio.Task[None] | None = None
        self._servers: list[tuple[asyncio.Server, SSLContext | None]] = []
        #: The task that reopens ports after a fault has closed them.
        self._reopening: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        #: The resources to release at the end, such as the data directory.
        self._resources = ExitStack()
        # Make these checks before the data directory is created, so that a start that fails them
        # leaves no trace.
        checked = _check_options(settings)
        self._site = Site(public_url=checked.public_url, token=checked.control_token)
        if self._site.token is not None:
            keep_secret(self._site.token)
        self._variation = checked.variation
        #: The commit of the default world after this start has stored it, or None if it was already
        #: stored, or if nothing is stored.
        self._stored_commit: int | None = None
        is_stored = settings.data_dir is not None and settings.data_dir.exists()
        if settings.data_dir is not None and not is_stored:
            check_ports(settings)
        self._directory: DataDirectory | None = None
        try:
            if settings.data_dir is not None:
                self._directory = DataDirectory(
                    settings.data_dir, settings.durability, _log.warning, salvage=settings.salvage
                )
                self._resources.callback(self._directory.close)
                # Check the ports before any world is changed, because a start that cannot open its
                # ports must not change anything.
                if is_stored:
                    check_ports(settings)
            self.worlds = Worlds(self._directory, rebuild=rebuild)
            if copy_of is None:
                self._is_new = self._open_worlds(checked.state)
            else:
                self._is_new = True
                self._copy(copy_of)
            self._warn_of_assumptions()
        except (*_REFUSALS, OSError) as error:
            self._resources.close()
            if isinstance(error, StartError):
                raise
            if isinstance(error, OSError):
                where = error.filename or "the data directory"
                raise StartError(f"{where}: {error.strerror}") from None
            raise StartError(str(error)) from None
        log_worlds(settings, self.worlds)

    def _open_worlds(self, state: World | None) -> bool:
        """Open the stored worlds, and create or replace the default world according to the
        settings.

        Returns whether the default world has a new state.
        """
        settings = self._settings
        source = world_source(settings)
        is_stored = self.worlds.open(settings.seed, source)
        seed = settings.seed
        if is_stored:
            seed = self._default.world.seed
            if not settings.replace:
                self._warn_of_unused_settings(source)
        first = _first_world(settings, self._library, state, seed)
        if first is not None and is_stored and not settings.replace:
            if not settings.only_new:
                raise self._replacement_refusal()
            _log.warning(
                "continuing with the stored world in %s; %s is not loaded (use --replace to load it)",
                settings.data_dir,
                settings.state or settings.scenario,
            )
            first = None
        # Make all checks before a world is created or replaced, because the next start would
        # continue with a world that a failed start had stored.
        if first is not None:
            check_user(settings, first.world)
        elif is_stored:
            check_user(settings, self._default.world)
        elif settings.user is not None:
            check_user(settings, self.worlds.default(DEFAULT_WORLD, seed, source))
        self.worlds.create_default()
        if first is None:
            self._vary()
        else:
            if is_stored:
                self._warn_of_replacement()
            self._load(first.world, first.title)
        if not is_stored and self._directory is not None:
            self._stored_commit = self._default.world.commit
        return not is_stored or first is not None

    def _warn_of_unused_settings(self, source: WorldSource) -> None:
        """Warn that settings for a new world do not change the stored world."""
        names = unused_settings(self._settings, source, self._default.world)
        if names:
            _log.warning(
                "continuing with the stored world in %s, which keeps its own values: only a new world uses "
                "%s (start with --ephemeral or another --data-dir for a new world)",
                self._settings.data_dir,
                " and ".join(f"--{name}" for name in names),
            )

    def _warn_of_replacement(self) -> None:
        """Warn that a world that had changed was replaced, and say which command restores it."""
        if not self._default.has_changed:
            return
        _log.warning(
            "the stored world in %s was replaced; while this emulator runs, `%s` restores the old world",
            self._settings.data_dir,
            _command(self._settings, f"world rewind {self._default.world.commit}"),
        )

    def _replacement_refusal(self) -> StartError:
        """Return the error for a start that would replace a stored world without `--replace`."""
        settings = self._settings
        option = "--import"
        if settings.state is None:
            option = "--scenario"
        export_command = _command(settings, "world export --with-seed --output old.json")
        import_command = _command(settings, "world import old.json --replace")
        return StartError(
            f"{settings.data_dir} already has a stored world, which {option} would replace. Start "
            f"without {option} to continue with the stored world, with --ephemeral to store nothing, "
            "with --data-dir to use another directory, or with --replace to replace the stored world "
            f"by {settings.state or settings.scenario}. To keep a copy of the stored world, start "
            f"without {option} first and run `{export_command}`; `{import_command}` restores the copy"
        )

    def _load(self, world: World, title: str) -> None:
        """Replace the default world. Raises StoreFailed."""
        self._default.replace_world(world, title, reason="loaded")
        self._vary()

    def _copy(self, other: Emulator) -> None:
        """Create the default world as a copy of another emulator's default world.

        If this emulator's settings specify a variation, the copy uses it.
        """
        self.worlds.add(other._default.world, ephemeral=False, begins=True)
        if self._variation != other._variation:
            self._vary()

    def _warn_of_assumptions(self) -> None:
        for warning in warnings_of(self._default.world.assumptions):
            _log.warning("%s", warning)

    def _vary(self) -> None:
        if self._variation is not None:
            vary(self._default, self._variation, self._settings.assumptions)

    @property
    def _data_dir(self) -> str | None:
        if self._directory is None:
            return None
        return str(self._directory.path)

    def watch_requests(self, listener: Callable[[str], None]) -> None:
        """Call `listener` after each later exchange, with the name of its world.

        The listener runs in the emulator's event loop, so it must not block. Exchanges are logged as
        before.
        """
        log = self.worlds.tally.listener

        def listen(world: World, entry: Entry) -> None:
            if log is not None:
                log(world, entry)
            listener(world.name)

        self.worlds.tally.listener = listen

    @property
    def _default(self) -> Engine:
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        return engine

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """Open the sockets.

        Raises StartError if a port is in use or an address is not on this machine.
        """
        settings = self._settings
        site = self._site
        allowed = {*settings.allowed_hosts, settings.host} - set(_WILDCARDS)
        if site.public_url:
            allowed.add(host_name(urlsplit(site.public_url).netloc))
        site.names = frozenset(name.lower() for name in allowed)
        site.origins = frozenset(origin.lower() for origin in settings.allowed_origins)
        # If the public URL is on another machine, requests arrive through a proxy.
        site.is_behind_proxy = is_reached_from_outside(site.public_url)
        app = App(self.worlds, site, self._facts(), self._library, self._observations)
        functions = ServerFunctions(app.docs_url, app.date_s, app.request_id, self._refuse)
        self._http = Server(app.handle, functions)
        try:
            server = await self._listen(settings.port, None)
            port = server.sockets[0].getsockname()[1]
            site.url = f"http://{_url_host(settings.host or '0.0.0.0')}:{port}"
            if settings.tls_port is not None:
                server = await self._listen(settings.tls_port, self._server_context())
                site.tls_port = server.sockets[0].getsockname()[1]
            if self._directory is not None:
                self._checking = asyncio.create_task(self._check_files())
            if settings.watch and settings.scenario is not None:
                path = Path(settings.scenario).resolve()
                self._watch = asyncio.create_task(self._load_when_changed(path))
        except BaseException:
            self._delete_new_world()
            await self.stop()
            raise

    def _delete_new_world(self) -> None:
        """Delete the default world if this start stored it and nothing has changed it since.

        Otherwise, the next start would continue with this world, and ignore the settings for a new
        one.
        """
        if self._stored_commit is None or self._default.world.commit != self._stored_commit:
            return
        try:
            self.worlds.delete(DEFAULT_WORLD)
        except StoreFailed as error:
            _log.error("%s", error)

    def has_seen_nothing(self, observation_id: str) -> bool:
        """Return whether an observation exists and is still as it began.

        Since it began, no request has arrived, and no world has changed. Another thread may call this
        while nothing sends requests.
        """
        return self._observations.has_seen_nothing(observation_id)

    def _facts(self) -> Facts:
        """Return the information about this process that the control API needs."""
        durability = "none"
        if self._directory is not None:
            durability = self._settings.durability
        return Facts(
            version=__version__,
            instance=self._instance,
            data_dir=self._data_dir,
            durability=durability,
            started_at=format_timestamp(machine_ms()),
            seed=self._settings.seed,
            variation=self._variation,
            storage_problem=self._storage_problem,
            request_stop=self._request_stop,
        )

    def _storage_problem(self) -> str | None:
        """Return the problem with the data directory, or None if there is none."""
        if self._directory is None:
            return None
        return self._directory.problem

    async def _check_files(self) -> None:
        """Detect if files in the data directory are deleted while the emulator is using them."""
        assert self._directory is not None
        while True:
            await asyncio.sleep(_CHECK_FILES_S)
            self._directory.check_files()

    async def _load_when_changed(self, path: Path) -> None:
        """Reload a scenario whenever its file changes. If this fails, log the error and keep the world."""
        # Imported here because this package is needed only with `--watch`.
        from watchfiles import awatch

        # Watch the folder, because editors replace a file with a new one.
        async for _ in awatch(path.parent, watch_filter=lambda _, changed: Path(changed) == path):
            try:
                seed = self._default.world.seed
                changed = _scenario_world(read_file(path), self._settings, seed)
                self._load(changed.world, changed.title)
                _log.warning("%s changed: reloaded", path)
                self._warn_of_assumptions()
            except _REFUSALS as error:
                _log.warning("%s; the world is unchanged", error)

    async def _listen(self, port: int, context: SSLContext | None) -> asyncio.Server:
        host = self._settings.host
        # Check the port again, because not all callers have checked it, as the command line has.
        if not 0 <= port <= 65535:
            raise StartError(f"port {port} is not a valid port: use 0 to 65535")
        try:
            server = await asyncio.get_running_loop().create_server(
                self._http, host or None, port, ssl=context, backlog=1024
            )
        except OSError as error:
            option = "--port" if context is None else "--tls-port"
            raise cannot_listen(host, port, error, option) from None
        self._servers.append((server, context))
        return server

    def _refuse(self, for_s: float) -> None:
        """Close the ports for `for_s` real seconds. Open connections stay open."""

        async def reopen() -> None:
            await asyncio.sleep(for_s)
            self._servers.clear()
            for port, context in ports:
                await self._listen(port, context)
            self._reopening = None

        if self._reopening is None:
            ports = [
                (server.sockets[0].getsockname()[1], context) for server, context in self._servers
            ]
            for server, _ in self._servers:
                server.close()
            self._reopening = asyncio.create_task(reopen())

    def _server_context(self) -> SSLContext:
        # Imported here because few emulators serve TLS, and the import loads cryptography, which
        # takes 60 ms.
        from hosting_emulator.http.handshakes import certificate_problem
        from hosting_emulator.http.tls import LocalAuthority

        if self._directory is not None:
            folder = self._directory.path / "tls"
        else:
            temporary = tempfile.TemporaryDirectory(prefix="hosting-emulator-")
            folder = Path(self._resources.enter_context(temporary))
        try:
            authority = LocalAuthority(
                folder,
                is_stored=self._directory is not None,
                problem_of=partial(certificate_problem, self.worlds),
            )
        except OSError as error:
            raise StartError(f"{folder} cannot be used: {error.strerror}") from None
        if self._directory is not None:
            self._directory.keep_files("the certificate authority", authority.repair)
        self._site.ca_file = str(authority.ca_file)
        return authority.server_context()

    def publish(self) -> None:
        """Make it possible for commands to find this emulator, through its data directory and the
        user's registry.
        """
        record = EmulatorRecord(
            url=self._site.local_url,
            instance=self._instance,
            pid=os.getpid(),
            folder=str(Path.cwd()),
            data_dir=self._data_dir,
        )
        if self._directory is not None:
            self._directory.publish_address(record.to_json())
        self._resources.enter_context(registered(record))

    def ready(self) -> Ready:
        """Report that the emulator is running, with its addresses and a new access token.

        Raises StartError if the user in the settings no longer exists.
        """
        base_url = self._site.own_url
        world = self._default.world
        user = self._ready_user(world)
        token = ""
        organization_id = None
        if user is not None:
            organization_id = home_of(world, user)
            token = self._default.mint(
                user, organization_id, base_url, lifetime_s=TOOL_TOKEN_LIFETIME_S
            )
        all_projects = in_order(world, PROJECTS)
        projects = [
            project for project in all_projects if project.organization_id == organization_id
        ]
        project = next(iter([*projects, *all_projects]), None)
        if organization_id is None and project is not None:
            organization_id = project.organization_id
        project_id = ""
        if project is not None:
            project_id = project.id
        user_alias = ""
        if user is not None:
            user_alias = user.alias
        tls_url = None
        if self._site.tls_port is not None:
            tls_url = f"https://localhost:{self._site.tls_port}"
        vary_seed = None
        vary_only = None
        variation = world.get(VARIATION, SINGLETON_KEY)
        if variation is not None:
            vary_seed = variation.seed
            vary_only = variation.only
        armed = [
            trigger.id
            for category in (FAULT, OUTCOME)
            for trigger in rule_triggers(self._default, category)
            if not trigger.spent
        ]
        return Ready(
            base_url=base_url,
            dev_base_url=base_url,
            control_url=f"{base_url}/_emulator",
            docs_url=f"{base_url}/_emulator/docs",
            openapi_url=f"{base_url}/_emulator/contract/openapi.json",
            tls_url=tls_url,
            ca_file=self._site.ca_file,
            token=token,
            organization_id=organization_id or "",
            project_id=project_id,
            user=user_alias,
            data_dir=self._data_dir,
            world=DEFAULT_WORLD,
            pid=os.getpid(),
            control_token=self._site.token,
            fresh=self._is_new,
            local_url=self._site.local_url,
            clock=world.clock.mode,
            now=format_timestamp(self._default.now_ms()),
            vary=vary_seed,
            vary_only=vary_only,
            armed=tuple(armed),
        )

    def _ready_user(self, world: World) -> User | None:
        """Return the user named in the settings or, if none is named, the world's default user.
        Raises StartError.
        """
        name = self._settings.user
        if name is None:
            return default_user(world)
        user = world.get(USERS, id_of(world, USERS, name))
        if user is None:
            raise StartError(not_found_message(world, USERS, name))
        return user

    async def stop(self) -> None:
        """Close the sockets, store everything and release the data directory."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._reopening is not None:
            self._reopening.cancel()
        if self._checking is not None:
            self._checking.cancel()
        for server, _ in self._servers:
            server.close()
        for engine in self.worlds:
            engine.feed.end()  # otherwise, the shutdown would wait for the feed's listeners
        if self._servers:
            self._http.pre_shutdown()
            await self._http.shutdown(_GRACE_S)
        try:
            self.worlds.rest()
        except StoreFailed as error:
            _log.error("%s", error)
        finally:
            self._resources.close()


@dataclass(frozen=True, slots=True)
class _CheckedOptions:
    """Values that were read from valid settings.

    `state` is the imported default world, or None if the settings import none.
    """

    public_url: str | None
    control_token: str | None
    variation: Variation | None
    state: World | None


def _check_options(settings: Settings) -> _CheckedOptions:
    """Check the settings that are valid or invalid whatever the data directory contains. Raises
    StartError.
    """
    checked_url = public_url(settings)
    token = control_token(settings)
    check_origins(settings)
    variation = None
    if settings.vary is not None:
        try:
            variation = read_variation(settings.vary, settings.vary_only or None)
        except VariationRefused as error:
            raise StartError(f"--vary: {error}") from None
    state = None
    if settings.state is not None:
        state = read_state(settings.state, settings.state_seed)
    check_beginning(settings)
    check_different_ports(settings)
    return _CheckedOptions(checked_url, token, variation, state)


@dataclass(frozen=True, slots=True)
class _FirstWorld:
    """The world of a scenario or an import, and the title of the commit that loads it."""

    world: World
    title: str


def _first_world(
    settings: Settings, library: ScenarioLibrary, state: World | None, seed: str
) -> _FirstWorld | None:
    """Return the world of the scenario or the import in the settings, or None if there is neither.

    `state` is the imported world. Raises the errors of `_scenario_world`, or ScenarioError if the
    scenario does not exist.
    """
    if state is not None:
        return _FirstWorld(state, f"created from {settings.state}")
    if settings.scenario is None:
        return None
    return _scenario_world(library.find(settings.scenario), settings, seed)


def _scenario_world(scenario: Scenario, settings: Settings, seed: str) -> _FirstWorld:
    """Return a scenario's world. `seed` is used if the scenario has no seed.

    Raises ScenarioError if the scenario is invalid, ClockRefused or AssumptionRefused if it does
    not allow the settings, or StartError if it contains a TLS handshake fault but there is no TLS
    port.
    """
    world = build_scenario_world(scenario, settings, seed)
    if settings.tls_port is None:
        for fault in faults_in_order(world):
            if stage_of(fault) == "handshake":
                raise StartError(f"{fault.kind} acts at the TLS port: start with --tls-port")
    return _FirstWorld(world, f"scenario {scenario.part.name}")


def check_settings(settings: Settings) -> None:
    """Make the checks with which a start begins, without changing anything. Raises StartError.

    The ports and the condition of the data directory are not checked. If a running emulator is
    using the data directory, or its default world cannot be read, the user is not checked.
    """
    checked = _check_options(settings)
    try:
        source = world_source(settings)
        default = new_world(DEFAULT_WORLD, settings.seed, source, machine_ms())
        library = ScenarioLibrary(settings.library)
        first = _first_world(settings, library, checked.state, settings.seed)
    except _REFUSALS as error:
        raise StartError(str(error)) from None
    world = default
    if first is not None:
        world = first.world
    if settings.data_dir is not None and not settings.replace:
        try:
            world = stored_world(settings.data_dir, DEFAULT_WORLD) or world
        except (StateRefused, OSError):
            return
    check_user(settings, world)


def _command(settings: Settings, words: str) -> str:
    """Return a command line that applies to the default world of an emulator with these settings.

    If the system chooses the port, the default port is used, because the actual port is not known
    before the start.
    """
    host = settings.host
    if host in _WILDCARDS:
        host = "127.0.0.1"
    port = settings.port or DEFAULT_PORT
    return command_line(words, f"http://{_url_host(host)}:{port}", DEFAULT_WORLD)


def _url_host(host: str) -> str:
    """Return a host in the form used in URLs, with brackets around an IPv6 address."""
    if ":" in host:
        return f"[{host}]"
    return host


def run(
    settings: Settings, announce: Callable[[Ready], None], *, is_published: bool = False
) -> None:
    """Run an emulator until SIGINT or SIGTERM is received. Call `announce` when it is ready. Raises
    StartError.

    With `is_published`, commands can find the emulator, and the control API can stop it.
    """

    async def serve(end: threading.Timer) -> None:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopping.set)
        raise_file_limit()
        loop.set_exception_handler(FileLimitReports())
        request_stop = None
        if is_published:
            request_stop = partial(loop.call_soon_threadsafe, stopping.set)
        async with Emulator(settings, request_stop=request_stop) as emulator:
            if is_published:
                emulator.publish()
            # Use a thread, because `ready` loads cryptography, and requests should not have to wait
            # for that.
            announce(await asyncio.to_thread(emulator.ready))
            await warm_up()
            await stopping.wait()
        # Everything has been stored, so the process must not wait for a thread that is still
        # working, for example on reading a large scenario.
        end.start()

    log_to_stderr(settings)
    end = threading.Timer(_THREADS_GRACE_S, os._exit, (0,))
    end.daemon = True
    try:
        asyncio.run(serve(end))
    finally:
        end.cancel()


async def warm_up() -> None:
    """Load the models for request bodies, and exclude all objects loaded so far from garbage collection."""
    # Ignore OSError: if no more files can be opened, the models are loaded when a request needs
    # them.
    with suppress(OSError):
        await asyncio.to_thread(load_models)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
