"""The emulator in one piece: its worlds, its sockets and what they are told, built from settings."""

from __future__ import annotations

import asyncio
import logging
import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator import __version__
from hosting_emulator.bootstrap.beginning import become, build_scenario, read_state, rebuild
from hosting_emulator.bootstrap.refusing import (
    check_beginning,
    control_token,
    is_reached_from_outside,
    no_socket,
    open_directory,
    origin_of,
    origins,
    public_url,
    variation_of,
)
from hosting_emulator.bootstrap.watching import Watcher
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.live_world import StoreFailed
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.worlds import Worlds, vary
from hosting_emulator.scenario.library import Library, read_file
from hosting_emulator.scenario.located import ScenarioError
from hosting_emulator.server.app import App
from hosting_emulator.server.control.context import Facts
from hosting_emulator.server.guard import Guard
from hosting_emulator.server.hosts import Hosts, host_name
from hosting_emulator.server.protocol import Server
from hosting_emulator.server.sites import Site
from hosting_emulator.settings import Ready, Settings, StartError
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.world.clock import ClockRefused
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.tables import (
    ONLY,
    ORGANIZATIONS,
    PEOPLE,
    PROJECTS,
    VARIATION,
    Table,
)
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator")
#: How long open connections may finish when the emulator stops, in seconds of real time; one that
#: does not is given the same time again to be cancelled.
_GRACE_S = 0.2
_WILDCARDS = ("0.0.0.0", "::", "")


class Emulator:
    """A whole emulator in this process: `start`, use, `stop`. Needs a running event loop.

    Raises StartError when the settings cannot be; nothing that is kept is then changed.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._library = Library(settings.library)
        self._watcher: Watcher | None = None
        self._servers: list[asyncio.Server] = []
        self._authority_folder: tempfile.TemporaryDirectory[str] | None = None
        self._ca_file: str | None = None
        self._site = Site(url="", public_url=public_url(settings))
        self._token = control_token(settings)
        self._origins = origins(settings)
        self._variation = variation_of(settings)
        self._fresh = False
        # First of all: a file that cannot be read leaves no trace.
        state = None if settings.state is None else read_state(settings.state)
        check_beginning(settings)
        self._directory = open_directory(settings)
        self.worlds = Worlds(self._directory, rebuild=rebuild)
        try:
            self._begin(state)
        except StartError:
            self._directory.close()
            raise
        except (StateRefused, StoreFailed, ClockRefused, ScenarioError) as error:
            self._directory.close()
            raise StartError(str(error)) from None
        except OSError as error:
            self._directory.close()
            raise StartError(
                f"{error.filename or 'the data directory'}: {error.strerror}"
            ) from None

    def _begin(self, state: World | None) -> None:
        settings = self._settings
        self._fresh = self.worlds.open(settings.seed, origin_of(settings))
        if state is not None:
            if not (self._fresh or settings.replace):
                raise StartError(
                    f"{settings.data_dir} keeps a world already, which --from would replace: use "
                    "--ephemeral to look at the file only, --data-dir for another place, or "
                    "--replace to put the file's world in its place"
                )
            become(self._default, state, f"begun from {settings.state}")
        elif settings.scenario is not None:
            scenario = self._library.find(settings.scenario)
            built = build_scenario(scenario, self._default.world.seed, settings)
            become(self._default, built, f"scenario {scenario.name}")
            self._fresh = True
        self._fresh = self._fresh or state is not None
        self._vary()

    def _vary(self) -> None:
        if self._variation is not None:
            vary(self._default, self._variation, self._settings.assumptions)

    @property
    def _default(self) -> Engine:
        engine = self.worlds.get(DEFAULT_WORLD)
        assert engine is not None
        return engine

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
                self._watcher = Watcher(Path(settings.scenario), self._load_again)
        except BaseException:
            await self.stop()
            raise

    def _load_again(self, path: Path) -> None:
        """Take in a changed scenario; a broken one is said and changes nothing."""
        engine = self._default
        try:
            scenario = read_file(path)
            built = build_scenario(scenario, engine.world.seed, self._settings)
            become(engine, built, f"scenario {scenario.name}")
            self._vary()
            _log.warning("%s changed: loaded again", path)
        except (ScenarioError, StoreFailed, StartError) as error:
            _log.warning("%s; the world stays as it was", error)

    async def _listen(self, port: int, tls_folder: Path | None) -> asyncio.Server:
        context = None
        if tls_folder is not None:
            from hosting_emulator.server.tls import LocalAuthority

            try:
                authority = LocalAuthority(tls_folder)
            except OSError as error:
                raise StartError(f"{tls_folder} cannot be used: {error.strerror}") from None
            self._ca_file = str(authority.ca_file)
            context = authority.server_context()
        host = self._settings.host
        try:
            server = await asyncio.get_running_loop().create_server(
                self._http, host or None, port, ssl=context, backlog=1024
            )
        except OSError as error:
            raise StartError(no_socket(host, port, error)) from None
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
        behind_a_proxy = is_reached_from_outside(self._site.public_url)
        return Guard(
            Hosts(frozenset(allowed)), self._token, self._origins, everybody=behind_a_proxy
        )

    def _facts(self) -> Facts:
        directory = self._directory.path
        return Facts(
            version=__version__,
            data_dir=None if directory is None else str(directory),
            durability=self._settings.durability if directory else "none",
            started_at=format_timestamp(machine_ms()),
            seed=self._settings.seed,
            variation=self._variation,
        )

    def ready(self) -> Ready:
        """Return what a person needs to know; mints an access token for the owner."""
        base_url = self._site.public_url or _reachable(self._site.url)
        world = self._default.world
        organization_id = str(world.indexes.get("organization:acme", "")) or _first(
            world, ORGANIZATIONS
        )
        directory, tls_port = self._directory.path, self._site.tls_port
        variation = world.get(VARIATION, ONLY)
        return Ready(
            base_url=base_url,
            dev_base_url=base_url,
            control_url=f"{base_url}/_emulator",
            docs_url=f"{base_url}/_emulator/docs",
            openapi_url=f"{base_url}/_emulator/contract/openapi.json",
            tls_url=None if tls_port is None else f"https://localhost:{tls_port}",
            ca_file=self._ca_file,
            token=self._owners_token(base_url, organization_id),
            organization_id=organization_id,
            project_id=str(world.indexes.get("project:shop", "")) or _first(world, PROJECTS),
            data_dir=None if directory is None else str(directory),
            world=DEFAULT_WORLD,
            pid=os.getpid(),
            control_token=self._token,
            fresh=self._fresh,
            vary=None if variation is None else variation.seed,
            vary_only=None if variation is None else variation.only,
        )

    def _owners_token(self, base_url: str, organization_id: str) -> str:
        """Mint an access token; empty in a world where nobody is the owner."""
        engine = self._default
        world = engine.world
        person_id = world.indexes.get("person:owner")
        person = world.get(PEOPLE, person_id) if person_id else None
        if person is None:
            return ""
        return engine.identity.mint(
            person,
            organization_id,
            issuer=base_url + issuer_path(DEFAULT_WORLD),
            audience=world.assumptions.token_audience,
            now_ms=engine.now_ms(),
            lifetime_s=_lifetime_s(world.assumptions),
            interactive=True,
        )

    async def stop(self) -> None:
        """Close the sockets, keep everything and let go of the directory."""
        if self._watcher is not None:
            await self._watcher.stop()
        for server in self._servers:
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
            self._directory.close()
            if self._authority_folder is not None:
                self._authority_folder.cleanup()


def _first(world: World, table: Table[Any]) -> str:
    return min((key for key, _ in world.rows(table)), default="")


def _lifetime_s(assumptions: Assumptions) -> int:
    return max(1, parse_duration_ms(assumptions.token_lifetime) // 1000)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host or "0.0.0.0"


def _reachable(url: str) -> str:
    """Return a URL that opens on this machine where the server listens on all addresses."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")
