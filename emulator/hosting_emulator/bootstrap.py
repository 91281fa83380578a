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
from hosting_emulator.control.story_pages import respond_to_page
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
from hosting_emulator.scenario.document import Scenario, ScenarioLibrary, read_file, read_scenario
from hosting_emulator.scenario.source import ScenarioError
from hosting_emulator.settings import Ready, Settings, StartError
from hosting_emulator.storage.directory import DataDirectory
from hosting_emulator.storage.documents import import_state
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
from hosting_emulator.world.records import Variation, WorldSource
from hosting_emulator.world.tables import PROJECTS, SINGLETON_KEY, USERS, VARIATION
from hosting_emulator.world.value import World

#: Answers a story's request to a page; the floors above a scenario hand it down.
visit_page = respond_to_page
_log = logging.getLogger("hosting_emulator")
#: How long open connections may finish when the emulator stops, in seconds of real time; one that
#: does not is given the same time again to be cancelled.
_GRACE_S = 0.2
#: How often the files of the data directory are checked, in seconds of real time.
_CHECK_FILES_S = 0.5
#: How long threads may go on once everything is kept, in seconds of real time.
_LAST_S = 2.0
_WILDCARDS = ("0.0.0.0", "::", "")
#: What is wrong with settings, with what is kept, or with a scenario, in a sentence.
_REFUSALS = (
    *(StartError, StateRefused, StoreFailed),
    *(ScenarioError, ClockRefused, AssumptionRefused),
)


class Emulator:
    """A whole emulator in this process, for the length of an `async with`, or `start` to `stop`.

    Raises StartError when the settings cannot be; nothing that is kept is then changed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._library = ScenarioLibrary(settings.library)
        self._watch: asyncio.Task[None] | None = None
        self._servers: list[tuple[asyncio.Server, SSLContext | None]] = []
        #: Opens the ports again that a fault closed.
        self._away: asyncio.Task[None] | None = None
        self._checking: asyncio.Task[None] | None = None
        #: The data directory and whatever else is let go of at the end.
        self._held = ExitStack()
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
        # First of all: a file that cannot be read leaves no trace.
        state = None if settings.state is None else _read_state(settings.state, settings.state_seed)
        _check_beginning(settings)
        if settings.data_dir is not None and not settings.data_dir.exists():
            _check_ports(settings)  # a start that fails leaves no trace either
        self._directory: DataDirectory | None = None
        try:
            if settings.data_dir is not None:
                self._directory = DataDirectory(
                    settings.data_dir, settings.durability, _log.warning, salvage=settings.salvage
                )
                self._held.callback(self._directory.close)
            self.worlds = Worlds(self._directory, rebuild=_rebuild)
            self._fresh = self._begin(state)
            self._warn_of_assumptions()
        except (*_REFUSALS, OSError) as error:
            self._held.close()
            if isinstance(error, OSError):
                where = error.filename or "the data directory"
                raise StartError(f"{where}: {error.strerror}") from None
            raise StartError(str(error)) from None
        log_worlds(settings, self.worlds)

    def _begin(self, state: World | None) -> bool:
        """Open the worlds, and put in place what the default one is to be; returns whether it is new."""
        settings = self._settings
        mode, rate = _clock_of(settings)
        at_ms = None if settings.at is None else parse_timestamp(settings.at)
        assumptions, chosen = (
            Assumptions().changed(settings.assumptions),
            tuple(settings.assumptions),
        )
        origin = WorldSource(mode or "real", rate, at_ms, assumptions, chosen=chosen)
        fresh = self.worlds.open(settings.seed, origin)
        other, option = settings.state or settings.scenario, "--scenario"
        if other is None:
            self._vary()
            return fresh
        if state is not None:
            option, begun = "--import", (state, f"begun from {other}")
        else:
            begun = self._built(self._library.find(str(other)))
        if fresh or settings.replace:
            if not fresh and self._default.has_changed:
                _log.warning(
                    "the kept world in %s was replaced; while this emulator runs, `%s` restores it",
                    settings.data_dir,
                    _command(settings, f"world rewind {self._default.world.commit}"),
                )
            self._become(*begun)
            return True
        if not settings.only_new:
            export = _command(settings, "world export --with-seed --output old.json")
            import_ = _command(settings, "world import old.json --replace")
            raise StartError(
                f"{settings.data_dir} already has a kept world, which {option} would replace: start "
                f"without {option} to continue with it, with --ephemeral to keep nothing, with "
                f"--data-dir for another directory, or with --replace to replace it by {other}. To "
                f"be able to get it back, start without {option} first and run `{export}`: `{import_}` "
                "restores it"
            )
        says = "continuing with the kept world in %s; %s is not loaded (--replace loads it)"
        _log.warning(says, settings.data_dir, other)
        self._vary()
        return False

    def _become(self, world: World, title: str) -> None:
        """Put a world in the default one's place. Raises StoreFailed."""
        self._default.replace_world(world, title, reason="loaded")
        self._vary()

    def become(self, pattern: Emulator) -> None:
        """Let the default world begin as that of another emulator is now. Raises StoreFailed."""
        self._default.replace_world(pattern._default.world, "copied", reason="loaded")

    def _built(self, scenario: Scenario) -> tuple[World, str]:
        """Build a scenario's world, the clock and assumptions asked for over its own; a reset drops these."""
        # Imported here: few starts have a scenario.
        from hosting_emulator.scenario.build import build_world

        now_ms, (mode, rate) = machine_ms(), _clock_of(self._settings)
        # For one that names no seed.
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
        """Open the sockets. Raises StartError when a port is taken or an address is not ours."""
        settings, site = self._settings, self._site
        allowed = {*settings.allowed_hosts, settings.host} - set(_WILDCARDS)
        if site.public_url:
            allowed.add(host_name(urlsplit(site.public_url).netloc))
        site.names = frozenset(name.lower() for name in allowed)
        site.origins = frozenset(origin.lower() for origin in settings.allowed_origins)
        # Reached from outside, it is behind a proxy.
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
            host = f"[{settings.host}]" if ":" in settings.host else settings.host or "0.0.0.0"
            site.url = f"http://{host}:{port}"
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
        """Notice files of the data directory that are deleted while they are used."""
        assert self._directory is not None
        while True:
            await asyncio.sleep(_CHECK_FILES_S)
            self._directory.check_files()

    async def _load_when_changed(self, path: Path) -> None:
        """Take in a scenario whenever its file changes; a broken one is said and changes nothing."""
        from watchfiles import awatch

        # The folder is watched: editors put a new file in the old one's place.
        async for _ in awatch(path.parent, watch_filter=lambda _, changed: Path(changed) == path):
            try:
                self._become(*self._built(read_file(path)))
                _log.warning("%s changed: reloaded", path)
                self._warn_of_assumptions()
            except _REFUSALS as error:
                _log.warning("%s; the world is unchanged", error)

    async def _listen(self, port: int, context: SSLContext | None) -> asyncio.Server:
        host = self._settings.host
        if not 0 <= port <= 65535:  # the command line has checked that, but Python may ask too
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
        """Close the ports for a while; the connections that there are stay."""

        async def come_back() -> None:
            await asyncio.sleep(for_s)
            self._servers.clear()
            for port, context in ports:
                await self._listen(port, context)
            self._away = None

        if self._away is None:
            ports = [(one.sockets[0].getsockname()[1], context) for one, context in self._servers]
            for server, _ in self._servers:
                server.close()
            self._away = asyncio.create_task(come_back())

    def _server_context(self) -> SSLContext:
        from hosting_emulator.http.tls import LocalAuthority

        if self._directory is not None:
            folder = self._directory.path / "tls"
        else:
            made = tempfile.TemporaryDirectory(prefix="hosting-emulator-")
            folder = Path(self._held.enter_context(made))
        try:
            authority = LocalAuthority(folder, is_stored=self._directory is not None)
        except OSError as error:
            raise StartError(f"{folder} cannot be used: {error.strerror}") from None
        self._ca_file = str(authority.ca_file)
        return authority.server_context()

    def ready(self) -> Ready:
        """Return what a person needs to know; mints an access token. Raises StartError for nobody."""
        base_url, world, name = self._site.own_url, self._default.world, self._settings.user
        user = default_user(world)
        if name is not None and (user := world.get(USERS, id_of(world, USERS, name))) is None:
            raise StartError(not_found_message(world, USERS, name))
        home = None if user is None else home_of(world, user)
        projects = in_order(world, PROJECTS)
        own = [project for project in projects if project.organization_id == home] or projects
        token = "" if user is None else self._default.mint(user, home, base_url)
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
            organization_id=home or next((p.organization_id for p in own), ""),
            project_id=next((project.id for project in own), ""),
            user="" if user is None else user.alias,
            data_dir=self._data_dir,
            world=DEFAULT_WORLD,
            pid=os.getpid(),
            control_token=self._site.token,
            fresh=self._fresh,
            local_url=self._site.local_url,
            clock=world.clock.mode,
            now=format_timestamp(self._default.now_ms()),
            vary=None if variation is None else variation.seed,
            vary_only=None if variation is None else variation.only,
        )

    async def stop(self) -> None:
        """Close the sockets, keep everything and let go of the directory."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._away is not None:
            self._away.cancel()
        if self._checking is not None:
            self._checking.cancel()
        for server, _ in self._servers:
            server.close()
        for engine in self.worlds:
            engine.feed.end()  # who listens would be waited for
        if self._servers:
            self._http.pre_shutdown()
            await self._http.shutdown(_GRACE_S)
        try:
            self.worlds.rest()
        except StoreFailed as error:
            _log.error("%s", error)
        finally:
            self._held.close()


def _read_state(path: Path, seed: str | None) -> World:
    """Return the default world of an exported state. Raises StartError, naming file and place."""
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


def _rebuild(world: World, origin: WorldSource, now_machine_ms: int) -> World:
    """Build a scenario's world again, from the text that its origin keeps. Raises ScenarioError."""
    from hosting_emulator.scenario.build import build_world

    scenario = read_scenario(str(origin.scenario), origin.scenario_file or "scenario.yaml")
    return build_world(scenario, world.name, now_machine_ms, world.seed)


def _clock_of(settings: Settings) -> tuple[ClockMode | None, float | None]:
    """Return the mode and rate that were asked for; None for what was not."""
    mode, _, rate = (settings.clock or "").partition(":")
    return cast("ClockMode | None", mode or None), float(rate) if rate else None


def _command(settings: Settings, words: str) -> str:
    """Return a command line for the default world of an emulator that starts with these settings.

    The line has no address if the system chooses the port: nobody knows it before the start.
    """
    host = "127.0.0.1" if settings.host in _WILDCARDS else settings.host
    address = f"[{host}]" if ":" in host else host
    port = settings.port or DEFAULT_PORT
    return command_line(words, f"http://{address}:{port}", DEFAULT_WORLD)


def _check_ports(settings: Settings) -> None:
    """Refuse ports that are taken, as far as that can be told without keeping them."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in filter(None, (settings.port, settings.tls_port)):
        try:
            socket.create_server((settings.host, port), family=family).close()
        except OSError as error:
            if error.errno == errno.EADDRINUSE:
                raise _cannot_listen(settings.host, port, error) from None


def _cannot_listen(host: str, port: int, error: OSError) -> StartError:
    """Say why nothing can listen at a port, and what to do."""
    if error.errno != errno.EADDRINUSE:
        return StartError(f"cannot listen on {host} port {port}: {error.strerror or error}")
    free = "make run ARGS='--port 0'" if "MAKELEVEL" in os.environ else "--port 0"
    return StartError(
        f"port {port} on {host} is in use; stop what listens there, or use {free} for a free one"
    )


def _check_beginning(settings: Settings) -> None:
    """Refuse settings that contradict what the default world is to begin as."""
    if settings.state is None:
        if settings.scenario is not None and settings.at is not None:
            raise StartError("--at cannot be used with a scenario, whose clock sets its start")
        return
    beside = {
        "--scenario": settings.scenario,
        "--clock": settings.clock,
        "--at": settings.at,
        "--assume": settings.assumptions,
    }
    for option, given in beside.items():
        if given:
            raise StartError(f"{option} cannot be used with --import, whose state sets it")


def control_token(settings: Settings) -> str | None:
    """On this machine alone the control API needs no token; anywhere else it does."""
    if settings.control_token is not None:
        token = settings.control_token
        if not token.strip() or not token.isascii() or not token.isprintable():
            raise StartError("--control-token must be printable ASCII, and not empty")
        return token.strip()
    here = settings.host == "localhost" or is_loopback(settings.host)
    if here and not is_reached_from_outside(settings.public_url):
        return None
    return secrets.token_urlsafe(24)


def is_reached_from_outside(public_url: str | None) -> bool:
    """Tell whether others reach this server by a name or address that is not this machine's own."""
    return public_url is not None and not is_this_machine(host_name(urlsplit(public_url).netloc))


def _public_url(settings: Settings) -> str | None:
    """Return the base URL that others reach it by, without a slash at its end."""
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
            # In a thread, so that the first request need not wait for cryptography to be loaded.
            announce(await asyncio.to_thread(emulator.ready))
            await warm_up()
            await stopping.wait()
        # Everything is kept. A thread that still works, such as one that reads a large scenario,
        # would be waited for.
        end.start()

    log_to_stderr(settings)
    end = threading.Timer(_LAST_S, os._exit, (0,))
    end.daemon = True
    try:
        asyncio.run(serve(end))
    finally:
        end.cancel()


async def warm_up() -> None:
    """Load what the first requests need, and keep what was loaded out of garbage collection."""
    with suppress(OSError):  # no file to be opened just now: it is loaded when it is needed
        await asyncio.to_thread(load_models)
    gc.collect()
    gc.freeze()  # it never becomes garbage
    gc.set_threshold(50_000, 20, 50)
