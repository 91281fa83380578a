"""Bootstrap: the one place that builds everything from settings, opens the sockets and closes them.

It decides nothing about a request. `logs` and `inspection` are the other entry points of commands.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import os
import secrets
import signal
import socket
import tempfile
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from ssl import SSLContext
from typing import Self, cast
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT, __version__
from hosting_emulator.app import App
from hosting_emulator.calls.inputs import load_models as load_models
from hosting_emulator.contract.assumption_table import warnings_of
from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine, anchored
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.redaction import keep_secret
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.engine.world_variation import vary
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.http.addresses import (
    host_name,
    host_of_origin,
    is_loopback,
    is_this_machine,
)
from hosting_emulator.http.endpoint import Facts
from hosting_emulator.http.file_limits import FileLimitReports, raise_file_limit
from hosting_emulator.http.guard import Site
from hosting_emulator.http.protocol import ServerFunctions
from hosting_emulator.http.server import Server
from hosting_emulator.logs import log_to_stderr, log_worlds
from hosting_emulator.messages import ClockMode
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.library import ScenarioLibrary, read_file
from hosting_emulator.scenario.reading import Scenario, read_scenario
from hosting_emulator.settings import Ready, Settings, StartError
from hosting_emulator.storage.directory import DataDirectory
from hosting_emulator.storage.export import import_state
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
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import User, Variation, WorldSource
from hosting_emulator.world.tables import PROJECTS, SINGLETON_KEY, USERS, VARIATION
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator")
#: How many real seconds open connections may take to finish when the emulator stops. Those that do
#: not are cancelled, for which they get the same time again.
_GRACE_S = 0.2
#: The interval of checks of the data directory's files, in real seconds.
_CHECK_FILES_S = 0.5
#: How many real seconds threads may still run after everything is stored.
_THREADS_GRACE_S = 2.0
_WILDCARDS = ("0.0.0.0", "::", "")
#: Exceptions whose message tells the user what is wrong with settings, state or a scenario.
_REFUSALS = (
    StartError,
    StateRefused,
    StoreFailed,
    ScenarioError,
    ClockRefused,
    AssumptionRefused,
)


class Emulator:
    """A whole emulator in this process: an async context manager, or `start` and `stop`.

    Raises StartError for settings that contradict each other or the stored state, which then stays
    unchanged.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._library = ScenarioLibrary(settings.library)
        self._watch: asyncio.Task[None] | None = None
        self._servers: list[tuple[asyncio.Server, SSLContext | None]] = []
        #: Reopens the ports that a fault closed.
        self._reopening: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        #: Releases the data directory and other resources at the end.
        self._resources = ExitStack()
        self._ca_file: str | None = None
        self._site = Site(public_url=_public_url(settings), token=control_token(settings))
        if self._site.token is not None:
            keep_secret(self._site.token)
        for origin in settings.allowed_origins:
            if not host_of_origin(origin):
                raise StartError(f"--allow-origin {origin!r} is not like http://app.test:3000")
        self._variation: Variation | None = None
        if settings.vary is not None:
            try:
                self._variation = read_variation(settings.vary, settings.vary_only or None)
            except VariationRefused as error:
                raise StartError(f"--vary: {error}") from None
        # All checks come before the data directory is created, so that a failed start leaves no trace.
        state = None
        if settings.state is not None:
            state = _read_state(settings.state, settings.state_seed)
        _check_beginning(settings)
        if settings.data_dir is not None and not settings.data_dir.exists():
            _check_ports(settings)
        self._directory: DataDirectory | None = None
        try:
            if settings.data_dir is not None:
                self._directory = DataDirectory(
                    settings.data_dir, settings.durability, _log.warning, salvage=settings.salvage
                )
                self._resources.callback(self._directory.close)
            self.worlds = Worlds(self._directory, rebuild=_rebuild)
            self._is_new = self._open_worlds(state)
            self._warn_of_assumptions()
        except (*_REFUSALS, OSError) as error:
            self._resources.close()
            if isinstance(error, OSError):
                where = error.filename or "the data directory"
                raise StartError(f"{where}: {error.strerror}") from None
            raise StartError(str(error)) from None
        log_worlds(settings, self.worlds)

    def _open_worlds(self, state: World | None) -> bool:
        """Open the worlds and begin the default one. Returns whether its state is new."""
        settings = self._settings
        source = settings.state or settings.scenario
        is_new = self.worlds.open(settings.seed, _world_source(settings))
        if source is None:
            self._vary()
            return is_new
        if state is not None:
            world = state
            title = f"begun from {source}"
        else:
            world, title = self._build(self._library.find(str(source)))
        if is_new:
            self._load(world, title)
            return True
        if settings.replace:
            self._warn_of_replacement()
            self._load(world, title)
            return True
        if not settings.only_new:
            raise self._replacement_refusal()
        _log.warning(
            "continuing with the kept world in %s; %s is not loaded (--replace loads it)",
            settings.data_dir,
            source,
        )
        self._vary()
        return False

    def _warn_of_replacement(self) -> None:
        """Warn of a changed world that is replaced, and name the command that restores it."""
        if not self._default.has_changed:
            return
        _log.warning(
            "the kept world in %s was replaced; while this emulator runs, `%s` restores it",
            self._settings.data_dir,
            _command(self._settings, f"world rewind {self._default.world.commit}"),
        )

    def _replacement_refusal(self) -> StartError:
        """Return the refusal to replace a kept world without `--replace`."""
        settings = self._settings
        option = "--scenario" if settings.state is None else "--import"
        export_command = _command(settings, "world export --with-seed --output old.json")
        import_command = _command(settings, "world import old.json --replace")
        return StartError(
            f"{settings.data_dir} already has a kept world, which {option} would replace: start "
            f"without {option} to continue with it, with --ephemeral to keep nothing, with "
            "--data-dir for another directory, or with --replace to replace it by "
            f"{settings.state or settings.scenario}. To be able to get it back, start without "
            f"{option} first and run `{export_command}`: `{import_command}` restores it"
        )

    def _load(self, world: World, title: str) -> None:
        """Replace the default world. Raises StoreFailed."""
        self._default.replace_world(world, title, reason="loaded")
        self._vary()

    def become(self, other: Emulator) -> None:
        """Replace the default world by a copy of another emulator's. Raises StoreFailed."""
        self._default.replace_world(other._default.world, "copied", reason="loaded")

    def _build(self, scenario: Scenario) -> tuple[World, str]:
        """Build a scenario's world, with the clock and assumptions of the settings; return its title.

        A reset drops these overrides. Raises ScenarioError.
        """
        # Imported here: few starts have a scenario, and it takes milliseconds.
        from hosting_emulator.scenario.build import build_world

        now_ms = machine_ms()
        mode, rate = _clock_of(self._settings)
        # A scenario without a seed takes that of the default world.
        world = build_world(scenario, DEFAULT_WORLD, now_ms, self._default.world.seed)
        assumptions = self._settings.assumptions
        world = with_overrides(world, now_ms, mode=mode, rate=rate, assumptions=assumptions)
        return world, f"scenario {scenario.part.name}"

    def _warn_of_assumptions(self) -> None:
        for warning in warnings_of(self._default.world.assumptions):
            _log.warning("%s", warning)

    def _vary(self) -> None:
        if self._variation is not None:
            vary(self._default, self._variation, self._settings.assumptions)

    @property
    def _data_dir(self) -> str | None:
        return None if self._directory is None else str(self._directory.path)

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
        """Open the sockets. Raises StartError if a port is taken or an address is not this machine's."""
        settings = self._settings
        site = self._site
        allowed = {*settings.allowed_hosts, settings.host} - set(_WILDCARDS)
        if site.public_url:
            allowed.add(host_name(urlsplit(site.public_url).netloc))
        site.names = frozenset(name.lower() for name in allowed)
        site.origins = frozenset(origin.lower() for origin in settings.allowed_origins)
        # Whoever reaches it from outside comes through a proxy.
        site.is_behind_proxy = is_reached_from_outside(site.public_url)
        facts = Facts(
            version=__version__,
            data_dir=self._data_dir,
            durability=settings.durability if self._data_dir else "none",
            started_at=format_timestamp(machine_ms()),
            seed=settings.seed,
            variation=self._variation,
            storage_problem=lambda: None if self._directory is None else self._directory.problem,
        )
        app = App(self.worlds, site, facts, self._library)
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
            await self.stop()
            raise

    async def _check_files(self) -> None:
        """Detect files of the data directory that are deleted while the emulator uses them."""
        assert self._directory is not None
        while True:
            await asyncio.sleep(_CHECK_FILES_S)
            self._directory.check_files()

    async def _load_when_changed(self, path: Path) -> None:
        """Load a scenario whenever its file changes. An error is logged and changes nothing."""
        from watchfiles import awatch

        # Watch the folder, because editors replace the file by a new one.
        async for _ in awatch(path.parent, watch_filter=lambda _, changed: Path(changed) == path):
            try:
                world, title = self._build(read_file(path))
                self._load(world, title)
                _log.warning("%s changed: reloaded", path)
                self._warn_of_assumptions()
            except _REFUSALS as error:
                _log.warning("%s; the world is unchanged", error)

    async def _listen(self, port: int, context: SSLContext | None) -> asyncio.Server:
        host = self._settings.host
        # The command line has checked this, but other callers have not.
        if not 0 <= port <= 65535:
            raise StartError(f"port {port} is not a port: use 0 to 65535")
        try:
            server = await asyncio.get_running_loop().create_server(
                self._http, host or None, port, ssl=context, backlog=1024
            )
        except OSError as error:
            raise _cannot_listen(host, port, error) from None
        self._servers.append((server, context))
        return server

    def _refuse(self, for_s: float) -> None:
        """Close the ports for this many seconds. Open connections stay open."""

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
        # Imported here: few emulators serve TLS, and it loads cryptography.
        from hosting_emulator.http.tls import LocalAuthority

        if self._directory is not None:
            folder = self._directory.path / "tls"
        else:
            temporary = tempfile.TemporaryDirectory(prefix="hosting-emulator-")
            folder = Path(self._resources.enter_context(temporary))
        try:
            authority = LocalAuthority(folder, is_stored=self._directory is not None)
        except OSError as error:
            raise StartError(f"{folder} cannot be used: {error.strerror}") from None
        self._ca_file = str(authority.ca_file)
        return authority.server_context()

    def ready(self) -> Ready:
        """Return what a client needs, with a new access token.

        Raises StartError if the user of the settings does not exist.
        """
        base_url = self._site.own_url
        world = self._default.world
        user = self._ready_user(world)
        token = ""
        organization_id = None
        if user is not None:
            organization_id = home_of(world, user)
            token = self._default.mint(user, organization_id, base_url)
        all_projects = in_order(world, PROJECTS)
        projects = [
            project for project in all_projects if project.organization_id == organization_id
        ]
        project = next(iter([*projects, *all_projects]), None)
        if organization_id is None and project is not None:
            organization_id = project.organization_id
        tls_port = self._site.tls_port
        variation = world.get(VARIATION, SINGLETON_KEY)
        return Ready(
            base_url=base_url,
            dev_base_url=base_url,
            control_url=f"{base_url}/_emulator",
            docs_url=f"{base_url}/_emulator/docs",
            openapi_url=f"{base_url}/_emulator/contract/openapi.json",
            tls_url=None if tls_port is None else f"https://localhost:{tls_port}",
            ca_file=self._ca_file,
            token=token,
            organization_id=organization_id or "",
            project_id="" if project is None else project.id,
            user="" if user is None else user.alias,
            data_dir=self._data_dir,
            world=DEFAULT_WORLD,
            pid=os.getpid(),
            control_token=self._site.token,
            fresh=self._is_new,
            local_url=self._site.local_url,
            clock=world.clock.mode,
            now=format_timestamp(self._default.now_ms()),
            vary=None if variation is None else variation.seed,
            vary_only=None if variation is None else variation.only,
        )

    def _ready_user(self, world: World) -> User | None:
        """Return the user of the settings, or the world's default user. Raises StartError."""
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
            engine.feed.end()  # otherwise the shutdown would wait for its listeners
        if self._servers:
            self._http.pre_shutdown()
            await self._http.shutdown(_GRACE_S)
        try:
            self.worlds.rest()
        except StoreFailed as error:
            _log.error("%s", error)
        finally:
            self._resources.close()


def _read_state(path: Path, seed: str | None) -> World:
    """Return the default world of an exported state. Raises StartError with the file and the place."""
    try:
        world = import_state(read_json(path.read_bytes()), DEFAULT_WORLD, 0, seed)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise StartError(f"{path} cannot be read: {reason}") from None
    except JsonRefused as error:
        raise StartError(f"{path} {error}") from None
    except StateRefused as error:
        raise StartError(f"{path}: {error}") from None
    return anchored(world, world.at_ms, machine_ms())


def _rebuild(world: World, source: WorldSource, now_machine_ms: int) -> World:
    """Build a scenario's world again, from the text in its source. Raises ScenarioError."""
    # Imported here: few worlds have a scenario, and it takes milliseconds.
    from hosting_emulator.scenario.build import build_world

    scenario = read_scenario(str(source.scenario), source.scenario_file or "scenario.yaml")
    return build_world(scenario, world.name, now_machine_ms, world.seed)


def _world_source(settings: Settings) -> WorldSource:
    """Return the source of a new default world."""
    mode, rate = _clock_of(settings)
    at_ms = None
    if settings.at is not None:
        at_ms = parse_timestamp(settings.at)
    assumptions = Assumptions().changed(settings.assumptions)
    return WorldSource(mode or "real", rate, at_ms, assumptions, chosen=tuple(settings.assumptions))


def _clock_of(settings: Settings) -> tuple[ClockMode | None, float | None]:
    """Return the clock's mode and rate in the settings. None: the settings do not set it."""
    mode, _, rate = (settings.clock or "").partition(":")
    return cast("ClockMode | None", mode or None), float(rate) if rate else None


def _command(settings: Settings, words: str) -> str:
    """Return a command line for the default world of an emulator that starts with these settings.

    The line has no address if the system chooses the port, which is unknown before the start.
    """
    host = "127.0.0.1" if settings.host in _WILDCARDS else settings.host
    port = settings.port or DEFAULT_PORT
    return command_line(words, f"http://{_url_host(host)}:{port}", DEFAULT_WORLD)


def _url_host(host: str) -> str:
    """Return a host as URLs write it."""
    return f"[{host}]" if ":" in host else host


def _check_ports(settings: Settings) -> None:
    """Refuse ports that are taken. Another process may still take them before the start."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in filter(None, (settings.port, settings.tls_port)):
        try:
            socket.create_server((settings.host, port), family=family).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _cannot_listen(settings.host, port, error) from None


def _cannot_listen(host: str, port: int, error: OSError) -> StartError:
    """Return why the emulator cannot listen on a port, and what to do."""
    if error.errno != errno.EADDRINUSE:
        return StartError(f"cannot listen on {host} port {port}: {error.strerror or error}")
    free = "make run ARGS='--port 0'" if "MAKELEVEL" in os.environ else "--port 0"
    return StartError(
        f"port {port} on {host} is in use; stop what listens there, or use {free} for a free one"
    )


def _check_beginning(settings: Settings) -> None:
    """Refuse settings that contradict the source of the default world."""
    if settings.state is None:
        if settings.scenario is not None and settings.at is not None:
            raise StartError("--at cannot be used with a scenario, whose clock sets its start")
        return
    excluded = {
        "--scenario": settings.scenario,
        "--clock": settings.clock,
        "--at": settings.at,
        "--assume": settings.assumptions,
    }
    for option, value in excluded.items():
        if value:
            raise StartError(f"{option} cannot be used with --import, whose state sets it")


def control_token(settings: Settings) -> str | None:
    """Return the token that the control API requires. None: only this machine can reach it.

    Raises StartError for a token that no header can carry.
    """
    if settings.control_token is not None:
        token = settings.control_token
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise StartError("--control-token must be printable ASCII, and not empty")
        return token.strip()
    is_local = settings.host == "localhost" or is_loopback(settings.host)
    if is_local and not is_reached_from_outside(settings.public_url):
        return None
    return secrets.token_urlsafe(24)


def is_reached_from_outside(public_url: str | None) -> bool:
    """Return whether a public URL has a name or address that is not this machine's own."""
    if public_url is None:
        return False
    return not is_this_machine(host_name(urlsplit(public_url).netloc))


def _public_url(settings: Settings) -> str | None:
    """Return the base URL for other machines, without a slash at its end. Raises StartError."""
    if settings.public_url is None:
        return None
    parts = urlsplit(settings.public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise StartError(f"--public-url {settings.public_url!r} is not like http://host:port")
    return settings.public_url.rstrip("/")


def run(settings: Settings, announce: Callable[[Ready], None]) -> None:
    """Run an emulator until SIGINT or SIGTERM. Raises StartError."""

    async def serve(end: threading.Timer) -> None:
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopping.set)
        raise_file_limit()
        loop.set_exception_handler(FileLimitReports())
        async with Emulator(settings) as emulator:
            # In a thread, because it loads cryptography, for which no request should wait.
            announce(await asyncio.to_thread(emulator.ready))
            await warm_up()
            await stopping.wait()
        # Everything is stored. The process must not wait for a thread that still works, such as one
        # that reads a large scenario.
        end.start()

    log_to_stderr(settings)
    end = threading.Timer(_THREADS_GRACE_S, os._exit, (0,))
    end.daemon = True
    try:
        asyncio.run(serve(end))
    finally:
        end.cancel()


async def warm_up() -> None:
    """Load the models of request bodies, and exclude loaded objects from garbage collection."""
    # If no file can be opened now, the models are loaded when a request needs them.
    with suppress(OSError):
        await asyncio.to_thread(load_models)
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
