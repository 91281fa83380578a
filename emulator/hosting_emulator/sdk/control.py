"""The control API's client: JSON there and back on one kept-alive connection, clear errors.

It must not read meaning into what it is told, print anything, or repeat a request that may have
taken effect twice.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, TypeVar, Unpack
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from hosting_emulator import DEFAULT_PORT, EXEC_URL_VARIABLE, __version__, messages
from hosting_emulator.build_id import name_builds
from hosting_emulator.contract.conversion import convert, decode_json
from hosting_emulator.sdk.text import one_line

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from hosting_emulator.sdk.emulator import HostingEmulator
    from hosting_emulator.sdk.observation import WorldsObservation

T = TypeVar("T")
M = TypeVar("M", bound=messages.ControlMessage)

#: Asking for these again leaves the emulator as asking once does (PATCH only sets named values).
_REPEATABLE = frozenset({"GET", "PUT", "PATCH"})
#: The emulator shows every 15 s that it is there; after so many real seconds of silence it is not.
_SILENCE_S = 45.0
_EVENTS = "text/event-stream"
_encode = json.JSONEncoder(separators=(",", ":"), default=dict).encode  # any mapping is an object


class ControlError(Exception):
    """Anything that kept the control API from doing what was asked; its text is one line."""


def start_line(address: str) -> str:
    """Return the command that starts an emulator at an address, as far as that can be told."""
    parts = urlsplit(address)
    local = parts.hostname in ("127.0.0.1", "localhost")
    port = f" --port {parts.port}" if local and parts.port not in (None, DEFAULT_PORT) else ""
    return f"hosting-emulator start{port}"


class EmulatorUnreachable(ControlError):
    """Nothing answers at `address`, or it stopped answering; `reason` is what the network said."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"no emulator responds at {address} ({reason}); start it with `{start_line(address)}`"
        )
        self.address = address
        self.reason = reason


class UnexpectedAnswer(ControlError):
    """Something answers at the address, but not as an emulator's control API would."""

    def __init__(self, address: str, what: str) -> None:
        super().__init__(f"the server at {address} is not a hosting emulator: {what}")


class UnreadableMessage(ControlError):
    """The emulator sent a message that lacks what this version of the SDK needs."""

    def __init__(self, address: str, kind: type[Any], reason: str) -> None:
        super().__init__(
            f"the emulator at {address} sent a {kind.__name__} that this client cannot read: "
            f"{reason}. Use the same version of the emulator and of this client."
        )


class ControlRefused(ControlError):
    """The emulator understood and said no: its problem's `status`, `title` and `detail`."""

    def __init__(self, status: int, title: str, detail: str | None = None) -> None:
        super().__init__(" ".join((detail or title).split()))
        self.status = status
        self.title = title
        self.detail = detail


# --- Where an emulator is ----------------------------------------------------------------------

#: Where `hosting-emulator start` listens unless told otherwise.
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_URL = re.compile(r"(?P<server>.*?)(?:/_emulator)?(?:/worlds/(?P<world>[^/]+))?/*")


def default_url() -> str:
    """Return where an emulator listens that was started here: by its ready file, its port or settings."""
    with suppress(OSError, ValueError, TypeError, KeyError):  # it may not be there, or another's
        ready = Path(os.environ["HOSTING_EMULATOR_READY_FILE"]).read_bytes()
        return str(json.loads(ready)["local_url"])
    port = os.environ.get("HOSTING_EMULATOR_PORT", "")
    if not port:
        # Imported here: who names an emulator needs no file.
        from hosting_emulator.settings_file import port_of_file

        port = str(port_of_file())
    return DEFAULT_URL if port == "0" else f"http://127.0.0.1:{port}"


def read_address(url: str | None) -> tuple[str, str | None]:
    """Read the address of an emulator or a world, or else the environment's: its control URL and world."""
    named = None if url else os.environ.get("HOSTING_EMULATOR_WORLD")
    variables = ("HOSTING_EMULATOR_URL", EXEC_URL_VARIABLE)
    from_environment = next(filter(None, map(os.environ.get, variables)), None)
    text = url or from_environment or default_url()
    match = _URL.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not an address: write it like {DEFAULT_URL}")
    return f"{match['server'].rstrip('/')}/_emulator", match["world"] or named or None


# --- How a world begins --------------------------------------------------------------------------

#: A name in the library, a file, or the document itself (all of its keys may be left out).
ScenarioLike: TypeAlias = str | Path | Mapping[str, Any]
#: `frozen`, `real`, `skip`, `scaled:60`, or as the control API takes it: {"mode": …, "rate": …}.
ClockLike: TypeAlias = str | messages.ClockRequest | Mapping[str, Any]
#: A seed, or seed and points as a scenario writes them: {"seed": 7, "only": ["page-size"]}.
VaryLike: TypeAlias = str | int | Mapping[str, Any]


class ScenarioChoice(TypedDict, total=False):
    """A scenario: one of the library by `name`, or YAML or JSON `text`, which errors call `file`."""

    name: str
    text: str
    file: str


class WorldRequest(TypedDict, total=False):
    """How a world begins: as a `scenario`, as an exported `state`, or else as the default world.

    A `state` takes no clock or assumptions beside it; over a scenario's they are laid. `vary`
    is a seed that its answers vary by, at the points in `only` or at all. With `token`, if only {},
    an access token comes with its summary: {"user": …, "organization": …, "expires_in_seconds": …}.
    With `ttl` it is deleted once nobody has asked anything of it for so long. `observation` is the id
    of an observation that watches it from the first request on.
    """

    scenario: ScenarioChoice | None
    state: Mapping[str, Any] | None
    seed: str | None
    clock: messages.ClockRequest | None
    assumptions: Mapping[str, Any] | None
    ephemeral: bool | None
    vary: str | None
    ttl: str | None
    only: Sequence[str] | None
    token: Mapping[str, Any] | None
    observation: str | None


class WorldOptions(TypedDict, total=False):
    """What is laid over how a fresh world begins: over a scenario's own, where there is one.

    `clock` is `frozen`, `real`, `skip`, `scaled:60` or {mode, rate}. `vary` is a seed that its answers
    vary by, at the points in `vary_only` or at all, or both: {"seed": 7, "only": […]};
    HOSTING_EMULATOR_VARY and HOSTING_EMULATOR_VARY_ONLY hold where it is not given. `ttl`, a span like
    `6h` (None for ever), is how long the world stays when nobody asks anything of it any more, if what
    made it was killed.
    """

    clock: ClockLike | None
    seed: str | None
    assumptions: Mapping[str, Any] | None
    vary: VaryLike | None
    vary_only: str | Sequence[str] | None
    ttl: str | None


_NO_SEED = 'vary is a seed, a text or a whole number, or {"seed": …, "only": […]}'


def world_request(
    scenario: ScenarioLike | None,
    document_name: str,
    state: Mapping[str, Any] | None,
    *,
    clock: ClockLike | None = None,
    seed: str | None = None,
    assumptions: Mapping[str, Any] | None = None,
    vary: VaryLike | None = None,
    vary_only: str | Sequence[str] | None = None,
    # If nobody closes it, it stays longer than anybody looks at one in a debugger.
    ttl: str | None = "6h",
) -> WorldRequest:
    """Return how a world begins as the control API takes it. Raises ValueError, OSError."""
    only = vary_only
    if clock is None and scenario is None and state is None:
        clock = "frozen"
    if vary is None:
        if only:
            raise ValueError("vary_only needs vary: give a seed")
        vary = os.environ.get("HOSTING_EMULATOR_VARY") or None
        only = os.environ.get("HOSTING_EMULATOR_VARY_ONLY") or None
    drawn, points = (None, None) if vary is None else read_vary(vary, only)
    return {
        "scenario": None if scenario is None else _choice(scenario, document_name),
        "state": state,
        "seed": seed,
        "clock": None if clock is None else clock_request(clock),
        "assumptions": assumptions,
        "ephemeral": True,
        "vary": drawn,
        "only": points,
        "ttl": ttl,
    }


def _choice(scenario: ScenarioLike, document_name: str) -> ScenarioChoice:
    if isinstance(scenario, Mapping):
        # What a library needs to list a scenario is nothing to ask of one that is written in place.
        named = {"name": "inline", "description": "Written where it is used."}
        document = {**scenario, **named, **scenario}  # what it says itself holds
        if isinstance(document.get("clock"), str):
            document["clock"] = clock_request(document["clock"])
        try:
            return {"text": json.dumps(document), "file": document_name}
        except (TypeError, ValueError) as error:
            raise ValueError(f"the scenario cannot be written as JSON: {error}") from None
    if isinstance(scenario, Path) or is_file_name(scenario):
        path = find_file(scenario)
        return {"text": path.read_text(encoding="utf-8"), "file": str(path)}
    return {"name": scenario}


def is_file_name(text: str) -> bool:
    """Whether a scenario is named by its file; names in the library have no dot and no slash."""
    return "/" in text or os.sep in text or text.endswith((".yaml", ".yml", ".json"))


def find_file(path: str | Path, folders: Sequence[Path] = ()) -> Path:
    """Return a file in the first of the folders that has it, else where the process runs. ValueError."""
    tried = list(dict.fromkeys(folder / path for folder in folders)) or [Path(path)]
    for candidate in tried:
        if candidate.is_file():
            return candidate
    raise ValueError(f"there is no file {' and no '.join(map(str, tried))}")


def clock_request(clock: ClockLike) -> messages.ClockRequest:
    """Read `frozen`, `real`, `skip` or `scaled:RATE`. Raises ValueError with what to write."""
    if not isinstance(clock, str):
        return clock  # type: ignore[return-value] # the emulator says what is wrong with it
    mode, _, rate = clock.partition(":")
    if mode == "scaled" and rate:
        return {"mode": "scaled", "rate": read_rate(rate)}
    if clock in {"frozen", "real", "skip"}:
        return {"mode": mode}  # type: ignore[typeddict-item] # mypy does not narrow by `in`
    raise ValueError(f"{clock!r} is not real, frozen, skip or scaled:RATE, such as scaled:60")


def read_rate(text: str) -> float:
    """Read world seconds per real second, a finite number above 0. Raises ValueError."""
    with suppress(ValueError):
        if 0 < (number := float(text)) < float("inf"):
            return number
    raise ValueError(f"{text!r} is not a rate: write a number above 0, such as 60 or 0.5")


def read_vary(
    vary: VaryLike, only: str | Sequence[str] | None = None
) -> tuple[str, list[str] | None]:
    """Return seed and points, which a text divides by commas or spaces. Raises ValueError in one line."""
    if isinstance(vary, Mapping):
        if "seed" not in vary or not vary.keys() <= {"seed", "only"}:
            raise ValueError(f"{_NO_SEED}, not {one_line(repr(vary), 80)}")
        points = vary.get("only")
        if points is not None and only:
            raise ValueError("the points of vary are given twice: give only or vary_only")
        if points is not None and not points:
            raise ValueError("only of vary: name at least one point, or leave it out for all")
        vary, only = vary["seed"], only if points is None else points
    if isinstance(vary, bool) or not isinstance(vary, str | int):
        raise ValueError(f"{_NO_SEED}, not {one_line(repr(vary), 80)}")
    named = isinstance(only, str | Sequence) and all(isinstance(name, str) for name in only)
    if only is not None and not named:
        raise ValueError(f"the points of vary are a list of names, not {one_line(repr(only), 80)}")
    if isinstance(only, str):
        only = [name for name in re.split(r"[,\s]+", only) if name]
    return str(vary), list(only) if only else None


# --- The client -----------------------------------------------------------------------------------


class ControlClient(AbstractContextManager["ControlClient", None]):
    """A client of a running emulator, over one kept-alive connection that threads may share.

    `control_url` is such as `http://127.0.0.1:4620/_emulator` (else ValueError), `token` the control
    token if it needs one, `timeout_s` the longest wait for an answer, in real seconds. Nothing is sent
    before the first call. Every method may raise a ControlError.
    """

    def __init__(
        self, control_url: str, *, token: str | None = None, timeout_s: float = 30
    ) -> None:
        parts = urlsplit(control_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            example = f"{DEFAULT_URL}/_emulator"
            raise ValueError(f"{control_url!r} is not an address: write it like {example}")
        self.control_url = control_url.rstrip("/")
        self._secure = parts.scheme == "https"
        self._root = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["X-Control-Token"] = _plain(token)
        self._lock = threading.Lock()
        #: It connects by itself, at first and whenever it was closed.
        self._connection = connection_to(control_url, timeout_s)
        self._process_id = 0

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        with self._lock:
            self._connection.close()

    def health(self) -> messages.Health:
        """Whether the emulator is up, and its version."""
        return self.fetch(messages.Health, "GET", "health")

    def info(self) -> messages.Info:
        """The running process and its addresses."""
        return self.fetch(messages.Info, "GET", "info")

    def contract(self, name: str) -> Any:
        """A table or document of the contract as JSON: `problems`, `fault-kinds`, `conduct-rules`, …"""
        document = self.get(f"contract/{name}")
        return document["items"] if document.keys() == {"items"} else document

    def worlds(self) -> list[messages.WorldSummary]:
        """The summaries of all worlds."""
        return self.fetch_list(messages.WorldSummary, "GET", "worlds")

    def world(self, name: str = "default") -> HostingEmulator:
        """Hold a world by its name. Nothing is asked before it is used: it may not be there."""
        from hosting_emulator.sdk.emulator import HostingEmulator  # which holds such a client

        return HostingEmulator(self, name)

    def create_world(
        self, name: str | None = None, **request: Unpack[WorldRequest]
    ) -> messages.NewWorldSummary:
        """Make a world as `WorldRequest` says; without a name it gets one of its own. 409 if it is taken."""
        body = given(name=name, **request)
        return self.fetch(messages.NewWorldSummary, "POST", "worlds", body)

    def observe(
        self,
        worlds: Iterable[str] | None = None,
        *,
        skip_rules: Sequence[str] = (),
        replaces: WorldsObservation | None = None,
    ) -> WorldsObservation:
        """Begin to observe every world, or `worlds` by name with their copies.

        It does not judge `skip_rules`. It `replaces` another observation, which ends in the same request.
        """
        from hosting_emulator.sdk.observation import WorldsObservation  # few programs observe

        names = None if worlds is None else list(worlds)
        body: dict[str, Any] = {"worlds": names, "skip_rules": list(skip_rules)}
        if replaces is not None:
            body["replaces"] = replaces.id
        state = self.fetch(messages.ObservationState, "POST", "observations", body)
        return WorldsObservation(self, state.id)

    def scenarios(self) -> list[messages.ScenarioName]:
        """The scenario library: names and descriptions."""
        return self.fetch_list(messages.ScenarioName, "GET", "scenarios")

    def scenario(self, name: str) -> messages.ScenarioText:
        """One scenario of the library: its name, description and `text`."""
        return self.fetch(messages.ScenarioText, "GET", path_of("scenarios", name))

    def run_scenario(
        self,
        *,
        world: str | None = None,
        vary: str | None = None,
        only: Sequence[str] | None = None,
        replace: bool = True,
        **scenario: Unpack[ScenarioChoice],
    ) -> messages.StoryReport:
        """Run a scenario's story in a throw-away world, or in place of `world`; return the report.

        Without `replace`, a kept `world` that has changed is left as it is: ControlRefused (409).
        """
        replaces = True if replace and world is not None else None
        body = given(world=world, vary=vary, only=only, replace=replaces, **scenario)
        return self.fetch(messages.StoryReport, "POST", "scenarios/run", body)

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send JSON (None: no body) to a path below the control URL; return the JSON of the response.

        Returns None for a response without a body.
        """
        __tracebackhide__ = True  # pytest then shows who asked
        return self._send(Any, method, path, body)

    def fetch(self, kind: type[T], method: str, path: str, body: Any = None) -> T:
        """Send JSON as `ask` does; return the response as a message of a kind.

        Raises UnreadableMessage if the response lacks a member that the kind requires.
        """
        __tracebackhide__ = True
        message: T = self._send(kind, method, path, body)
        return message

    def fetch_list(self, kind: type[M], method: str, path: str, body: Any = None) -> list[M]:
        """Send JSON as `ask` does; return the items of the response as messages of a kind."""
        __tracebackhide__ = True
        return self.fetch(messages.ItemList[kind], method, path, body).items  # type: ignore[valid-type]

    def read(self, kind: type[M], document: messages.JsonObject) -> M:
        """Return JSON of a response as a message of a kind. Raises UnreadableMessage."""
        try:
            return convert(document, kind)
        except msgspec.ValidationError as error:
            raise UnreadableMessage(self.control_url, kind, str(error)) from None

    def _send(self, kind: Any, method: str, path: str, body: Any) -> Any:
        __tracebackhide__ = True
        content = None if body is None else _encode(body).encode()
        target = self._target(path)
        with self._lock:
            was_open = self._is_open()
            try:
                response, data = self._exchange(method, target, content)
            except EmulatorUnreachable as error:
                # The server had just dropped it: ask once more if that cannot do harm.
                dropped = isinstance(error.__cause__, ConnectionError)
                if not (was_open and dropped and method in _REPEATABLE):
                    raise
                response, data = self._exchange(method, target, content)
        return self._read(response, data, kind)

    get = partialmethod(ask, "GET")
    post = partialmethod(ask, "POST")
    put = partialmethod(ask, "PUT")
    patch = partialmethod(ask, "PATCH")
    delete = partialmethod(ask, "DELETE")

    def open_stream(self, path: str, headers: dict[str, str]) -> EventStream:
        """GET a stream of events below the control URL, over a connection of its own."""
        connection = connection_to(self.control_url, _SILENCE_S)
        headers = {**self._headers, **headers, "Accept": _EVENTS}
        with _clear_errors(connection, self.control_url):
            connection.request("GET", self._target(path), headers=headers)
            response = connection.getresponse()
            if response.status == 200 and response.headers.get_content_type() == _EVENTS:
                return EventStream(self.control_url, connection, response)
            body = response.read()
        connection.close()
        self._read(response, body, Any)
        raise UnexpectedAnswer(self.control_url, "it does not return a stream of events")

    def _exchange(self, method: str, target: str, body: bytes | None) -> tuple[HTTPResponse, bytes]:
        self._process_id = os.getpid()
        kind = {} if body is None else {"Content-Type": "application/json"}
        with _clear_errors(self._connection, self.control_url):
            self._connection.request(method, target, body, {**self._headers, **kind})
            response = self._connection.getresponse()
            return response, response.read()

    def _target(self, path: str) -> str:
        if " " in path:
            raise ValueError(f"{path!r} is no target of a request: it has a space")
        return f"{self._root}/{_plain(path).lstrip('/')}"

    def _read(self, response: HTTPResponse, body: bytes, kind: Any) -> Any:
        """Return the body of a response as a kind. Raises ControlError."""
        __tracebackhide__ = True
        has_succeeded = 200 <= response.status < 300
        document = None
        if body:
            try:
                document = decode_json(body, kind if has_succeeded else Any)
            except msgspec.ValidationError as error:
                raise UnreadableMessage(self.control_url, kind, str(error)) from None
            except (ValueError, RecursionError) as error:
                content_type = response.headers.get("Content-Type") or "bytes"
                what = f"it returned {content_type} with status {response.status}"
                raise UnexpectedAnswer(self.control_url, what) from error
        if has_succeeded:
            return document
        problem = document if isinstance(document, dict) else {}
        title = str(problem.get("title") or f"refused with status {response.status}")
        detail = problem.get("detail")
        version = response.headers.get("Server", "").partition("hosting-emulator/")[2]
        builds = name_builds(version, __version__) if version else None
        if builds is not None:
            theirs, ours = builds
            detail = f"{detail or title} (the emulator is {theirs}, and this client {ours})"
        raise ControlRefused(response.status, title, str(detail) if detail else None)

    def _is_open(self) -> bool:
        """Whether the connection can be used again; one the server has closed is closed here too.

        So a POST survives a restarted server: nothing has been sent yet, nothing is repeated. Of a forked
        child and its parent only one may go on with the socket.
        """
        import socket

        if (sock := self._connection.sock) is None:
            return False
        if self._process_id == os.getpid():
            if self._secure:  # TLS cannot be looked into
                return True
            try:  # nothing is to be read between requests; an end of file means it is closed
                sock.settimeout(0)
                sock.recv(1, socket.MSG_PEEK)
            except BlockingIOError:
                sock.settimeout(self._connection.timeout)
                return True
            except OSError:
                pass
        self._connection.close()
        return False


class EventStream(AbstractContextManager["EventStream", None]):
    """The events of a world as they happen; iterating waits for the next. `close` it, or use `with`.

    It ends when the world is deleted; when the emulator stops it raises EmulatorUnreachable.
    """

    def __init__(self, address: str, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._address = address
        self._connection = connection
        self._response = response

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no longer."""
        self._response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[messages.WorldEvent]:
        from http.client import HTTPException

        fields: dict[str, str] = {}
        while True:
            try:
                line = self._response.readline()
            except (OSError, HTTPException) as error:
                raise EmulatorUnreachable(self._address, "it stopped sending events") from error
            if not line:
                return
            if text := line.decode().rstrip("\r\n"):
                name, _, value = text.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            event, fields = fields, {}
            if "data" in event:
                try:
                    data = decode_json(event["data"].encode(), messages.JsonObject)
                    id_ = int(event.get("id", "0"))
                except ValueError as error:
                    raise UnexpectedAnswer(self._address, "its events are not JSON") from error
                kind = event.get("event", "message")
                yield messages.WorldEvent(id=id_, kind=kind, data=data)


class InWorld:
    """What asks for things of one world, below its path in the control API."""

    control: ControlClient
    """The client of the process: other worlds, the contract's tables, the scenario library."""
    name: str
    """The world's name."""

    def __init__(self, control: ControlClient, name: str) -> None:
        self.control = control
        self.name = name

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}>"

    def control_path(self, *parts: str | int, **query: Any) -> str:
        """Return the path of this world, or of something in it, as `control` takes it."""
        path = path_of("worlds", self.name, *parts)
        parameters = {name: value for name, value in query.items() if value is not None}
        return f"{path}?{urlencode(parameters)}" if parameters else path

    def _ask(self, method: str, *parts: str | int, body: Any = None, **query: Any) -> Any:
        __tracebackhide__ = True
        return self.control.ask(method, self.control_path(*parts, **query), body)

    def _fetch(
        self, kind: type[T], method: str, *parts: str | int, body: Any = None, **query: Any
    ) -> T:
        __tracebackhide__ = True
        return self.control.fetch(kind, method, self.control_path(*parts, **query), body)

    def _fetch_list(
        self, kind: type[M], method: str, *parts: str | int, body: Any = None, **query: Any
    ) -> list[M]:
        __tracebackhide__ = True
        return self.control.fetch_list(kind, method, self.control_path(*parts, **query), body)


@contextmanager
def _clear_errors(connection: HTTPConnection, address: str) -> Iterator[None]:
    """Close a connection on which something goes wrong, and say what, as a ControlError."""
    from http.client import HTTPException, IncompleteRead, RemoteDisconnected

    __tracebackhide__ = True
    try:
        yield
    except BaseException as error:
        connection.close()  # half an exchange on the wire, even by Ctrl-C: nothing can follow it
        if isinstance(error, TimeoutError):
            reason = f"no response within {connection.timeout:g} s"
        elif isinstance(error, RemoteDisconnected):
            reason = "it closed the connection before responding"
        elif isinstance(error, IncompleteRead):
            reason = "it closed the connection in the middle of its response"
        elif isinstance(error, OSError):
            reason = (error.strerror or str(error) or type(error).__name__).lower()
        elif isinstance(error, HTTPException):
            raise UnexpectedAnswer(address, "it does not speak HTTP") from error
        else:
            raise
        raise EmulatorUnreachable(address, reason) from error


def connection_to(url: str, timeout_s: float) -> HTTPConnection:
    """Make what connects to the server of an `http` or `https` address when it is first used."""
    from http.client import HTTPConnection, HTTPSConnection  # a `--help` needs none of it

    parts = urlsplit(url)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout_s)


def path_of(*parts: str | int) -> str:
    """Return a path of the control API. Raises ValueError for an empty name: that would be all."""
    path = "/".join(quote(str(part), safe="") for part in parts)
    if "" in parts:
        raise ValueError(f"a name is empty: {path}")
    return path


def given(**fields: Any) -> messages.JsonObject:
    """Return the fields that were given, not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError(f"{text!r} cannot be sent: it is not plain text of one line")
    return text
