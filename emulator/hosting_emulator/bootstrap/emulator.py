"""The emulator in one piece: its worlds, its sockets and what they are told, built from settings."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from ssl import SSLContext
from urllib.parse import urlsplit

from msgspec.structs import replace

from hosting_emulator import __version__
from hosting_emulator.bootstrap import options
from hosting_emulator.bootstrap.logs import log_requests, log_to_stderr
from hosting_emulator.calls.inputs import load_models
from hosting_emulator.contract.assumptions import AssumptionRefused
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import home_of
from hosting_emulator.engine.live_world import StoreFailed, anchored
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.worlds import Worlds, vary
from hosting_emulator.scenario.document import Scenario, ScenarioLibrary, read_file, read_scenario
from hosting_emulator.scenario.source import ScenarioError
from hosting_emulator.server.app import App
from hosting_emulator.server.control.context import Facts
from hosting_emulator.server.guard import Guard, Hosts, Site, host_name
from hosting_emulator.server.protocol import Server, TooManyFiles, raise_limit
from hosting_emulator.settings import Ready, Settings, StartError
from hosting_emulator.storage.directory import DataDirectory
from hosting_emulator.storage.documents import import_state
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.naming import DEFAULT_WORLD, id_of, in_order, not_found, usual_person
from hosting_emulator.world.population import with_overrides
from hosting_emulator.world.records import Origin, Person
from hosting_emulator.world.tables import (
    ONLY,
    PEOPLE,
    PROJECTS,
    VARIATION,
)
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator")
#: How long open connections may finish when the emulator stops, in seconds of real time; one that
#: does not is given the same time again to be cancelled.
_GRACE_S = 0.2
_WILDCARDS = ("0.0.0.0", "::", "")
#: What is wrong with settings, with what is kept, or with a scenario, in a sentence.
_REFUSALS = (
    *(StartError, StateRefused, StoreFailed),
    *(ScenarioError, ClockRefused, AssumptionRefused),
)


class Emulator:
    """A whole emulator in this process: `start`, use, `stop`. Needs a running event loop.

    Raises StartError when the settings cannot be; nothing that is kept is then changed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._library = ScenarioLibrary(settings.library)
        self._watch: asyncio.Task[None] | None = None
        self._servers: list[tuple[asyncio.Server, SSLContext | None]] = []
        #: Opens the ports again that a fault closed.
        self._away: asyncio.Task[None] | None = None
        self._authority_folder: tempfile.TemporaryDirectory[str] | None = None
        self._ca_file: str | None = None
        self._site = Site(url="", public_url=options.public_url(settings))
        self._token = options.control_token(settings)
        self._origins = options.origins(settings)
        self._variation = options.variation_of(settings)
        # First of all: a file that cannot be read leaves no trace.
        state = None if settings.state is None else _read_state(settings.state, settings.state_seed)
        options.check_beginning(settings)
        if settings.data_dir is not None and not settings.data_dir.exists():
            options.check_ports(settings)  # a start that fails leaves no trace either
        self._directory: DataDirectory | None = None
        try:
            self._directory = options.open_directory(settings)
            self.worlds = Worlds(self._directory, rebuild=_rebuild)
            self._fresh = self._begin(state)
        except _REFUSALS as error:
            self._let_go()
            raise StartError(str(error)) from None
        except OSError as error:
            self._let_go()
            where = error.filename or "the data directory"
            raise StartError(f"{where}: {error.strerror}") from None

    def _begin(self, state: World | None) -> bool:
        """Open the worlds, and put in place what the default one is to be; returns whether it is new."""
        settings = self._settings
        fresh = self.worlds.open(settings.seed, options.origin_of(settings))
        beginning = self._beginning(state)
        if beginning is None or not (fresh or self._is_replaced()):
            self._vary()
            return fresh
        self._become(*beginning)
        return True

    def _beginning(self, state: World | None) -> tuple[World, str] | None:
        """Return the world that was asked for, and its title. Raises what is in `_REFUSALS`."""
        settings = self._settings
        if state is not None:
            return state, f"begun from {settings.state}"
        if settings.scenario is not None:
            return self._built(self._library.find(settings.scenario))
        return None

    def _is_replaced(self) -> bool:
        """Tell whether the kept world gives way to another. Raises StartError where nobody said."""
        settings = self._settings
        if settings.replace:
            return True
        option = "--from" if settings.state else "--scenario"
        other = settings.state or settings.scenario
        if settings.only_new:
            _log.warning(
                "continuing with the kept world in %s; %s is not loaded (--replace loads it)",
                settings.data_dir,
                other,
            )
            return False
        raise StartError(
            f"{settings.data_dir} already has a kept world, which {option} would replace: "
            f"start without {option} to continue with it, with --ephemeral to keep nothing, with --data-dir "
            f"for another directory, or with --replace to replace it by {other}"
        )

    def _become(self, world: World, title: str) -> None:
        """Put a world in the default one's place, later than all that was. Raises StoreFailed."""
        engine = self._default
        commit = max(world.commit, engine.world.commit + 1)
        engine.replace_world(replace(world, commit=commit), title)
        self._vary()

    def _built(self, scenario: Scenario) -> tuple[World, str]:
        """Build a scenario's world, with the clock and assumptions asked for over its own.

        A reset brings back the scenario's own. Raises what is in `_REFUSALS`.
        """
        # Imported here: few starts have a scenario.
        from hosting_emulator.scenario.build import build_world

        settings = self._settings
        now_ms, seed = machine_ms(), self._default.world.seed  # for one that names none
        world = build_world(scenario, DEFAULT_WORLD, now_ms, seed)
        mode, rate = options.clock_of(settings)
        world = with_overrides(
            world, now_ms, mode=mode, rate=rate, assumptions=settings.assumptions
        )
        return world, f"scenario {scenario.name}"

    def _vary(self) -> None:
        if self._variation is not None:
            vary(self._default, self._variation, self._settings.assumptions)

    def _let_go(self) -> None:
        if self._directory is not None:
            self._directory.close()

    @property
    def _data_dir(self) -> str | None:
        return None if self._directory is None else str(self._directory.path)

    @property
    def _default(self) -> Engine:
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        return engine

    async def start(self) -> None:
        """Open the sockets. Raises StartError when a port is taken or an address is not ours."""
        settings, site = self._settings, self._site
        allowed = {*settings.allowed_hosts, settings.host} - set(_WILDCARDS)
        if site.public_url:
            allowed.add(host_name(urlsplit(site.public_url).netloc))
        site.hosts = Hosts(allowed, self._origins)
        guard = Guard(
            site.hosts,
            self._token,
            everybody=options.is_reached_from_outside(site.public_url),  # it is behind a proxy
        )
        facts = Facts(
            version=__version__,
            data_dir=self._data_dir,
            durability=settings.durability if self._data_dir else "none",
            started_at=format_timestamp(machine_ms()),
            seed=settings.seed,
            variation=self._variation,
        )
        app = App(self.worlds, site, guard, facts, self._library)
        self._http = Server(app.handle, app.docs_url, self._refuse)
        try:
            server = await self._listen(settings.port, None)
            port = server.sockets[0].getsockname()[1]
            host = f"[{settings.host}]" if ":" in settings.host else settings.host or "0.0.0.0"
            site.url = f"http://{host}:{port}"
            if settings.tls_port is not None:
                server = await self._listen(settings.tls_port, self._server_context())
                site.tls_port = server.sockets[0].getsockname()[1]
            if settings.watch and settings.scenario is not None:
                path = Path(settings.scenario).resolve()
                self._watch = asyncio.create_task(self._load_when_changed(path))
        except BaseException:
            await self.stop()
            raise

    async def _load_when_changed(self, path: Path) -> None:
        """Take in a scenario whenever its file changes; a broken one is said and changes nothing."""
        from watchfiles import awatch

        # The folder is watched: editors put a new file in the old one's place.
        async for _ in awatch(path.parent, watch_filter=lambda _, changed: Path(changed) == path):
            try:
                self._become(*self._built(read_file(path)))
                _log.warning("%s changed: reloaded", path)
            except _REFUSALS as error:
                _log.warning("%s; the world is unchanged", error)

    async def _listen(self, port: int, context: SSLContext | None) -> asyncio.Server:
        host = self._settings.host
        try:
            server = await asyncio.get_running_loop().create_server(
                self._http, host or None, port, ssl=context, backlog=1024
            )
        except OSError as error:
            raise options.cannot_listen(host, port, error) from None
        except OverflowError:
            raise StartError(f"port {port} is not a port: use 0 to 65535") from None
        self._servers.append((server, context))
        return server

    def _refuse(self, for_s: float) -> None:
        """Close the ports for a while; the connections that there are stay."""
        if self._away is None:
            ports = [(one.sockets[0].getsockname()[1], context) for one, context in self._servers]
            for server, _ in self._servers:
                server.close()
            self._away = asyncio.create_task(self._come_back(for_s, ports))

    async def _come_back(self, for_s: float, ports: list[tuple[int, SSLContext | None]]) -> None:
        await asyncio.sleep(for_s)
        self._servers.clear()
        for port, context in ports:
            await self._listen(port, context)
        self._away = None

    def _server_context(self) -> SSLContext:
        from hosting_emulator.server.tls import LocalAuthority

        if self._directory is not None:
            folder = self._directory.path / "tls"
        else:
            self._authority_folder = tempfile.TemporaryDirectory(prefix="hosting-emulator-")
            folder = Path(self._authority_folder.name)
        try:
            authority = LocalAuthority(folder, kept=self._directory is not None)
        except OSError as error:
            raise StartError(f"{folder} cannot be used: {error.strerror}") from None
        self._ca_file = str(authority.ca_file)
        return authority.server_context()

    def ready(self) -> Ready:
        """Return what a person needs to know; mints an access token. Raises StartError for nobody."""
        base_url, world = self._site.own_url, self._default.world
        person = self._person(world)
        home = None if person is None else home_of(world, person)
        projects = in_order(world, PROJECTS)
        own = [project for project in projects if project.organization_id == home] or projects
        token = "" if person is None else self._default.mint(person, home, base_url)
        tls_port = self._site.tls_port
        variation = world.get(VARIATION, ONLY)
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
            person="" if person is None else person.alias,
            data_dir=self._data_dir,
            world=DEFAULT_WORLD,
            pid=os.getpid(),
            control_token=self._token,
            fresh=self._fresh,
            local_url=self._site.local_url,
            clock=world.clock.mode,
            now=format_timestamp(self._default.now_ms()),
            vary=None if variation is None else variation.seed,
            vary_only=None if variation is None else variation.only,
        )

    def _person(self, world: World) -> Person | None:
        """Return whose token is told. Raises StartError where the world has nobody of that name."""
        name = self._settings.principal
        if name is None:
            return usual_person(world)
        person = world.get(PEOPLE, id_of(world, PEOPLE, name))
        if person is None:
            raise StartError(not_found(world, PEOPLE, name))
        return person

    async def stop(self) -> None:
        """Close the sockets, keep everything and let go of the directory."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.gather(self._watch, return_exceptions=True)
        if self._away is not None:
            self._away.cancel()
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
            self._let_go()
            if self._authority_folder is not None:
                self._authority_folder.cleanup()


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


def _rebuild(world: World, origin: Origin, now_machine_ms: int) -> World:
    """Build a scenario's world again, from the text that its origin keeps. Raises ScenarioError."""
    from hosting_emulator.scenario.build import build_world

    scenario = read_scenario(str(origin.scenario), origin.scenario_file or "scenario.yaml")
    return build_world(scenario, world.name, now_machine_ms, world.seed)


# --- in the foreground ---------------------------------------------------------------------------


def run(settings: Settings, announce: Callable[[Ready], None]) -> int:
    """Run an emulator until SIGINT or SIGTERM; returns the exit code. Raises StartError."""
    log_to_stderr(settings)
    return asyncio.run(_run(settings, announce))


async def _run(settings: Settings, announce: Callable[[Ready], None]) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    raise_limit()
    loop.set_exception_handler(TooManyFiles())
    emulator = Emulator(settings)
    log_requests(settings, emulator.worlds)
    await emulator.start()
    try:
        # In a thread, so that the first request need not wait for cryptography to be loaded.
        announce(await asyncio.to_thread(emulator.ready))
        await warm_up()
        await stopping.wait()
    finally:
        await emulator.stop()
    return 0


async def warm_up() -> None:
    """Load what the first requests need, and keep what was loaded out of garbage collection."""
    with suppress(OSError):  # no file to be opened just now: it is loaded when it is needed
        await asyncio.to_thread(load_models)
    gc.collect()
    gc.freeze()  # it never becomes garbage
    gc.set_threshold(50_000, 20, 50)
