"""Bootstrap: the one place that builds everything, opens the sockets and closes them again."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec.structs import replace

from hosting_emulator import __version__
from hosting_emulator.calls.inputs import load_models
from hosting_emulator.contract.assumptions import AssumptionRefused, Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.live_world import StoreFailed
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.library import Library, read_file
from hosting_emulator.server.app import App
from hosting_emulator.server.control.context import Facts
from hosting_emulator.server.guard import Guard, host_name
from hosting_emulator.server.protocol import Server
from hosting_emulator.server.sites import Site
from hosting_emulator.settings import Ready, Settings, StartError
from hosting_emulator.storage.directory import DataDirectory, NoDirectory
from hosting_emulator.storage.errors import StateRefused
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.records import Origin
from hosting_emulator.world.tables import ORGANIZATIONS, PEOPLE, PROJECTS, Table
from hosting_emulator.world.value import World
from hosting_emulator.world.zones import DEFAULT_WORLD

if TYPE_CHECKING:
    from hosting_emulator.scenario.reading import Scenario

_log = logging.getLogger("hosting_emulator")
#: How long open connections may finish when the emulator stops, in seconds of real time; one that
#: does not is given the same time again to be cancelled.
_GRACE_S = 0.2
_WILDCARDS = ("0.0.0.0", "::", "")


class Emulator:
    """A whole emulator in this process: `start`, use, `stop`. Needs a running event loop."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._directory = _open_directory(settings)
        self.worlds = Worlds(self._directory, rebuild=_rebuild)
        self._library = Library(settings.library)
        self._watching: asyncio.Task[None] | None = None
        self._servers: list[asyncio.Server] = []
        self._authority_folder: tempfile.TemporaryDirectory[str] | None = None
        self._ca_file: str | None = None
        self._site = Site(url="", public_url=_public_url(settings))
        self._token = _control_token(settings)
        try:
            self._fresh = self.worlds.open(settings.seed, _origin(settings))
            if settings.scenario is not None:
                self._load(self._library.find(settings.scenario))
        except (StateRefused, StoreFailed, ClockRefused, ScenarioError) as error:
            self._directory.close()
            raise StartError(str(error)) from None
        except OSError as error:
            self._directory.close()
            raise StartError(
                f"{error.filename or 'the data directory'}: {error.strerror}"
            ) from None

    async def start(self) -> None:
        """Open the sockets. Raises StartError when a port is taken or an address is not ours."""
        settings = self._settings
        app = App(self.worlds, self._site, self._guard(), self._facts(), self._library)
        self._http = Server(app.handle)
        try:
            server = await self._listen(settings.port, None)
            port = server.sockets[0].getsockname()[1]
            self._site.url = f"http://{_bracketed(settings.host)}:{port}"
            if settings.tls_port is not None:
                server = await self._listen(settings.tls_port, self._tls_folder())
                self._site.tls_port = server.sockets[0].getsockname()[1]
            if settings.watch and settings.scenario is not None:
                watched = Path(settings.scenario).resolve()
                self._watching = asyncio.get_running_loop().create_task(self._watch(watched))
        except BaseException:
            await self.stop()
            raise

    def _load(self, scenario: Scenario) -> None:
        """Make the default world the scenario's. Raises ScenarioError, StoreFailed."""
        from hosting_emulator.scenario.building import build_world

        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        built = build_world(scenario, DEFAULT_WORLD, machine_ms(), engine.world.seed)
        engine.replace_world(replace(built, commit=engine.world.commit + 1))
        self._fresh = True

    async def _watch(self, path: Path) -> None:
        """Load the scenario's file again whenever it changes; a broken one is said and not loaded."""
        from watchfiles import awatch

        async for _ in awatch(path.parent, watch_filter=lambda _, found: Path(found) == path):
            try:
                self._load(read_file(path))
                _log.warning("%s changed: loaded again", path)
            except (ScenarioError, StoreFailed) as error:
                _log.warning("%s; the world stays as it was", error)

    async def _listen(self, port: int, tls_folder: Path | None) -> asyncio.Server:
        context = None
        if tls_folder is not None:
            from hosting_emulator.server.tls import LocalAuthority

            authority = LocalAuthority(tls_folder)
            self._ca_file = str(authority.ca_file)
            context = authority.server_context()
        host = self._settings.host
        try:
            server = await asyncio.get_running_loop().create_server(
                self._http, host or None, port, ssl=context, backlog=1024
            )
        except OSError as error:
            raise StartError(_no_socket(host, port, error)) from None
        except OverflowError:
            raise StartError(f"port {port} is no port: use 0 to 65535") from None
        self._servers.append(server)
        return server

    def _tls_folder(self) -> Path:
        if self._directory.path is not None:
            return self._directory.path / "tls"
        self._authority_folder = tempfile.TemporaryDirectory(prefix="hosting-emulator-")
        return Path(self._authority_folder.name)

    def _guard(self) -> Guard:
        allowed = {*self._settings.allowed_hosts, self._settings.host} - set(_WILDCARDS)
        if self._site.public_url:
            allowed.add(host_name(urlsplit(self._site.public_url).netloc))
        return Guard(frozenset(allowed), self._token)

    def _facts(self) -> Facts:
        directory = self._directory.path
        return Facts(
            version=__version__,
            data_dir=None if directory is None else str(directory),
            durability=self._settings.durability if directory else "none",
            started_at=format_timestamp(machine_ms()),
            seed=self._settings.seed,
        )

    def ready(self) -> Ready:
        """Return what a person needs to know; mints an access token for the owner."""
        base_url = self._site.public_url or _reachable(self._site.url)
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        world, now_ms = engine.world, engine.now_ms()
        person_id = world.indexes.get("person:owner")
        person = world.get(PEOPLE, person_id) if person_id else None
        organization_id = str(world.indexes.get("organization:acme", "")) or _first(
            world, ORGANIZATIONS
        )
        token = ""
        if person is not None:
            token = engine.identity.mint(
                person,
                organization_id,
                issuer=base_url + issuer_path(DEFAULT_WORLD),
                audience=world.assumptions.token_audience,
                now_ms=now_ms,
                lifetime_s=_lifetime_s(world.assumptions),
                interactive=True,
            )
        directory, tls_port = self._directory.path, self._site.tls_port
        return Ready(
            base_url=base_url,
            dev_base_url=base_url,
            control_url=f"{base_url}/_emulator",
            docs_url=f"{base_url}/_emulator/docs",
            openapi_url=f"{base_url}/_emulator/contract/openapi.json",
            tls_url=None if tls_port is None else f"https://localhost:{tls_port}",
            ca_file=self._ca_file,
            token=token,
            organization_id=organization_id,
            project_id=str(world.indexes.get("project:shop", "")) or _first(world, PROJECTS),
            data_dir=None if directory is None else str(directory),
            world=DEFAULT_WORLD,
            pid=os.getpid(),
            control_token=self._token,
            fresh=self._fresh,
        )

    async def stop(self) -> None:
        """Close the sockets, keep everything and let go of the directory."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)
        for server in self._servers:
            server.close()
        if self._servers:
            self._http.pre_shutdown()
            await self._http.shutdown(_GRACE_S)
        try:
            self.worlds.rest()
        except StoreFailed as error:
            _log.error("%s", error)
        finally:
            self._directory.close()
            if self._authority_folder is not None:
                self._authority_folder.cleanup()


def run(settings: Settings, announce: Callable[[Ready], None]) -> int:
    """Run an emulator until SIGINT or SIGTERM; returns the exit code. Raises StartError."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="hosting-emulator: %(message)s"
    )
    return asyncio.run(_run(settings, announce))


async def _run(settings: Settings, announce: Callable[[Ready], None]) -> int:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopping.set)
    emulator = Emulator(settings)
    await emulator.start()
    try:
        # In a thread, so that the first request need not wait for cryptography to be loaded.
        announce(await asyncio.to_thread(emulator.ready))
        await asyncio.to_thread(load_models)
        _calm_collector()
        await stopping.wait()
    finally:
        await emulator.stop()
    return 0


def _rebuild(world: World, origin: Origin, now_machine_ms: int) -> World:
    """Build a scenario's world again, from the text that its origin keeps."""
    # Imported here: only a world that came from a scenario is built again from it.
    from hosting_emulator.scenario.building import build_world
    from hosting_emulator.scenario.reading import read_scenario

    scenario = read_scenario(str(origin.scenario), origin.scenario_file or "scenario.yaml")
    return build_world(scenario, world.name, now_machine_ms, world.seed)


def _calm_collector() -> None:
    """Keep what was loaded at the start out of garbage collection: it never becomes garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def _open_directory(settings: Settings) -> DataDirectory | NoDirectory:
    if settings.data_dir is None:
        return NoDirectory()
    try:
        return DataDirectory(settings.data_dir, settings.durability, _log.warning)
    except StateRefused as error:
        raise StartError(str(error)) from None


def _origin(settings: Settings) -> Origin:
    mode, _, rate = settings.clock.partition(":")
    if mode not in ("real", "frozen", "skip", "scaled") or (mode == "scaled") != bool(rate):
        raise StartError(
            f"--clock {settings.clock!r} is no clock: use real, frozen, skip or scaled:RATE"
        )
    try:
        return Origin(
            mode,  # type: ignore[arg-type] # checked above
            float(rate) if rate else None,
            None if settings.at is None else parse_timestamp(settings.at),
            Assumptions().changed(settings.assumptions),
        )
    except (AssumptionRefused, ValueError) as error:
        raise StartError(str(error)) from None


def _first(world: World, table: Table[Any]) -> str:
    return min((key for key, _ in world.rows(table)), default="")


def _lifetime_s(assumptions: Assumptions) -> int:
    return max(1, parse_duration_ms(assumptions.token_lifetime) // 1000)


def _control_token(settings: Settings) -> str | None:
    """On this machine alone the control API needs no token; anywhere else it does."""
    if settings.control_token or settings.host in ("localhost", "::1"):
        return settings.control_token
    if settings.host.startswith("127."):
        return None
    return secrets.token_urlsafe(24)


def _public_url(settings: Settings) -> str | None:
    if settings.public_url is None:
        return None
    parts = urlsplit(settings.public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        raise StartError(f"--public-url {settings.public_url!r} is not like http://host:port")
    return settings.public_url.rstrip("/")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host or "0.0.0.0"


def _reachable(url: str) -> str:
    """Return a URL that opens on this machine where the server listens on all addresses."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _no_socket(host: str, port: int, error: OSError) -> str:
    if error.errno in (98, 48, 10048):
        return f"port {port} on {host} is in use; stop what listens there, or use --port 0 for a free one"
    return f"cannot listen on {host} port {port}: {error.strerror or error}"
