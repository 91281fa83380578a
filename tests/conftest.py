"""What many tests share: a client that speaks to one world as any of its people.

The server is the plugin's own (`hosting_emulator`): what users get is what the tests run on.
"""

from __future__ import annotations

import gc
import json
import select
import signal
import sys
from collections import defaultdict
from collections.abc import Generator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from http.client import HTTPConnection
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import Any, Generic, TypeVar

import pytest
from filelock import FileLock

from hosting_emulator.sdk import HostingEmulator

#: For the plugin's own tests; only the topmost conftest may name it.
pytest_plugins = ["pytester"]

with suppress(ModuleNotFoundError):  # the lowest versions are tried without it
    from hypothesis import HealthCheck, settings

    # A machine that is busy fails no test: neither an example nor what draws it has a time to keep. Else it
    # is Hypothesis' own profile, which under CI draws the same in every run.
    slow = [HealthCheck.too_slow]
    settings.register_profile("busy", settings(), deadline=None, suppress_health_check=slow)
    settings.load_profile("busy")

# A shell starts what it puts into the background with Ctrl-C ignored, and children inherit that: tests that
# press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


HERE = Path(__file__).parent
#: Folders whose files take longest, in the order in which workers shall begin them: what is begun
#: last is short, so that no worker waits long for another.
LONGEST_FIRST = (
    "packaging crash docs plugin browser openapi examples security contract_check hostile".split()
)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first."""

    @cache
    def place(path: Path) -> int:
        found = [name for name in LONGEST_FIRST if (HERE / name) in path.parents]
        return LONGEST_FIRST.index(found[0]) if found else len(LONGEST_FIRST)

    items.sort(key=lambda item: place(item.path))


#: Files that this worker has made, or waited for.
_WAITED_FOR: list[Path] = []


def _compiled(config: pytest.Config) -> Path | None:
    """Return the file that a worker of this run makes once the tests are compiled; None: they are."""
    run = getattr(config, "workerinput", {}).get("testrunuid")
    end = f".{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    there = (path.parent / "__pycache__" / f"{path.stem}{end}" for path in HERE.rglob("test_*.py"))
    if not run or all(path.exists() for path in there):
        return None
    return Path(gettempdir(), f"hosting-emulator-tests-{run}")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """On a fresh machine let one worker compile the tests while the others wait.

    Nearly all that is made meanwhile stays: the garbage collector would look through it in vain.
    """
    compiled = _compiled(session.config)
    gc.disable()
    try:
        if compiled is not None:
            _WAITED_FOR.append(compiled)
            with FileLock(compiled.with_suffix(".lock")):
                if not compiled.exists():
                    found = yield
                    compiled.touch()
                    return found
        return (yield)
    finally:
        gc.enable()


def pytest_unconfigure() -> None:
    for connection in chain.from_iterable(_FREE.values()):
        connection.close()
    for compiled in _WAITED_FOR:
        compiled.unlink(missing_ok=True)
        compiled.with_suffix(".lock").unlink(missing_ok=True)


def pytest_collection_finish() -> None:
    """What is collected stays: the garbage collector need not go through it over and over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


@dataclass(frozen=True)
class Response:
    """An answer, read to its end."""

    status: int
    headers: Any
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


Answered = TypeVar("Answered")


class Calls(Generic[Answered]):
    """Calls of one world. Each idempotent call gets a new key unless given one.

    The options are those of `call`: who asks (`who`, `token`), `key`, `body` and more `headers`.
    """

    _keys = 0

    def call(self, method: str, path: str, **options: Any) -> Answered:
        """Send a request as a person, with JSON."""
        raise NotImplementedError

    def project_id(self, alias: str) -> str:
        raise NotImplementedError

    def organization_id(self, alias: str) -> str:
        raise NotImplementedError

    def new_key(self) -> str:
        self._keys += 1
        return f"key-{self._keys}"

    def project_path(self, rest: str, project: str = "shop") -> str:
        return f"/v1/projects/{self.project_id(project)}/{rest}"

    def set_flag(self, enabled: Any, *, project: str = "shop", **options: Any) -> Answered:
        options.setdefault("key", self.new_key())
        path = self.project_path("powered-by-flag", project)
        return self.call("PUT", path, body={"enabled": enabled}, **options)

    def initialize(self, generation: Any = 1, *, project: str = "shop", **options: Any) -> Answered:
        options.setdefault("key", self.new_key())
        path = self.project_path("source:initialize", project)
        return self.call("POST", path, body={"expected_source_generation": generation}, **options)

    def create_key(
        self, name: Any = "ci", *, organization: str = "acme", **options: Any
    ) -> Answered:
        options.setdefault("key", self.new_key())
        path = f"/v1/organizations/{self.organization_id(organization)}/user-api-keys"
        return self.call("POST", path, body={"name": name}, **options)

    def apply_domains(self, *, project: str = "shop", **options: Any) -> Answered:
        options.setdefault("key", self.new_key())
        return self.call("PUT", self.project_path("domains", project), **options)

    def dns(self, *, project: str = "shop", **options: Any) -> Answered:
        return self.call("GET", self.project_path("edge-dns", project), **options)

    def deployments(self, query: str = "", *, project: str = "shop", **options: Any) -> Answered:
        return self.call("GET", self.project_path(f"deployments{query}", project), **options)

    def ticket(self, *, project: str = "shop", **options: Any) -> Answered:
        return self.call("POST", self.project_path("dev-access-tickets", project), **options)

    def compute(
        self, query: str = "?environment=dev", *, project: str = "shop", **options: Any
    ) -> Answered:
        return self.call("GET", self.project_path(f"database/compute{query}", project), **options)

    def poll(self, operation_id: str, **options: Any) -> Answered:
        return self.call("GET", f"/v1/operations/{operation_id}", **options)


#: Connections that were left open by the answer before, by host.
_FREE: defaultdict[str, list[HTTPConnection]] = defaultdict(list)


def _exchange(method: str, url: str, body: bytes | None, headers: dict[str, str]) -> Response:
    """Ask over a connection that is open, if there is one: to open one costs more than to ask."""
    host, _, target = url.removeprefix("http://").partition("/")
    free = _FREE[host]
    connection = free.pop() if free else HTTPConnection(host)
    if connection.sock is not None and select.select([connection.sock], [], [], 0)[0]:
        connection.close()  # the server has ended it meanwhile
    try:
        connection.request(method, f"/{target}", body, headers)
        found = connection.getresponse()
        answer = Response(found.status, found.headers, found.read())
    except BaseException:
        connection.close()
        raise
    free.append(connection)
    return answer


class Api(Calls[Response]):
    """Calls of one world over real HTTP."""

    def __init__(self, emulator: HostingEmulator) -> None:
        self.emulator = emulator

    def call(  # type: ignore[override]
        self,
        method: str,
        path: str,
        *,
        who: str | None = "owner",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Response:
        sent = dict(headers or {})
        if token is not None:
            sent["Authorization"] = f"Bearer {token}"
        elif who is not None:
            sent |= self.emulator.headers(who)
        if key is not None:
            sent["Idempotency-Key"] = key
        data = raw
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        return _exchange(method, self.emulator.base_url + path, data, sent)

    def project_id(self, alias: str) -> str:
        return self.emulator.projects[alias]

    def organization_id(self, alias: str) -> str:
        return self.emulator.organizations[alias]


@pytest.fixture
def api(hosting_emulator: HostingEmulator) -> Api:
    """Calls of a fresh world whose clock stands still."""
    return Api(hosting_emulator)
