"""The control API's client: JSON there and back on one kept-alive connection, clear errors.

It asks for what is of the process: its worlds, the contract's tables, the scenario library; what is
of one world, `HostingEmulator` asks for. It must not read meaning into what it is told, print
anything, or repeat a request that may have taken effect twice.
"""

from __future__ import annotations

import json
import os
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partialmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypedDict, Unpack
from urllib.parse import quote, urlsplit

from hosting_emulator import DEFAULT_PORT, __version__
from hosting_emulator.control_api import (
    ClockRequest,
    Info,
    JsonObject,
    NewWorldSummary,
    Record,
    WorldEvent,
    WorldSummary,
)

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from hosting_emulator.sdk.emulator import HostingEmulator

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
    """Nothing answers at the address, or it stopped answering.

    `address` is the control URL that was tried, `reason` what the network said.
    """

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
        self.address = address
        self.what = what


class ControlRefused(ControlError):
    """The emulator understood and said no: its problem's `status`, `title` and `detail`."""

    def __init__(self, status: int, title: str, detail: str | None = None) -> None:
        super().__init__(" ".join((detail or title).split()))
        self.status = status
        self.title = title
        self.detail = detail


#: Where `hosting-emulator start` listens unless told otherwise.
DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"
_URL = re.compile(r"(?P<server>.*?)(?:/_emulator)?(?:/worlds/(?P<world>[^/]+))?/*")


class ControlAddress(NamedTuple):
    """A control API, and a world if the address names one."""

    control_url: str
    world: str | None


def default_url() -> str:
    """Return where an emulator listens that was started here, as far as the environment knows.

    That is where the file of HOSTING_EMULATOR_READY_FILE says, else at HOSTING_EMULATOR_PORT, or at the
    port in the settings file of this folder.
    """
    with suppress(OSError, ValueError, TypeError, KeyError):  # it may not be there, or another's
        return str(
            json.loads(Path(os.environ["HOSTING_EMULATOR_READY_FILE"]).read_bytes())["local_url"]
        )
    port = os.environ.get("HOSTING_EMULATOR_PORT", "")
    if not port:
        # Imported here: who names an emulator needs no file.
        from hosting_emulator.settings_file import port_of_file

        port = str(port_of_file())
    return f"http://127.0.0.1:{port}" if port.isdigit() and int(port) else DEFAULT_URL


def read_address(url: str | None) -> ControlAddress:
    """Read the address of an emulator or of one of its worlds: a base URL or a control URL.

    Without one, the environment's HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD hold, as they do
    for the command line; without these, an emulator that was started here (`default_url`).
    """
    named = None if url else os.environ.get("HOSTING_EMULATOR_WORLD")
    text = url or os.environ.get("HOSTING_EMULATOR_URL") or default_url()
    found = _URL.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is not an address: write it like {DEFAULT_URL}")
    return ControlAddress(
        f"{found['server'].rstrip('/')}/_emulator", found["world"] or named or None
    )


def read_control_token(token: str | None) -> str | None:
    """Return the control token to send: the one given, else HOSTING_EMULATOR_CONTROL_TOKEN's."""
    return token or os.environ.get("HOSTING_EMULATOR_CONTROL_TOKEN") or None


class ScenarioChoice(TypedDict, total=False):
    """A scenario: one of the library by `name`, or YAML or JSON `text`, which errors call `file`."""

    name: str
    text: str
    file: str


class WorldRequest(TypedDict, total=False):
    """How a world begins: as a `scenario`, as an exported `state`, or else as the default world.

    A `state` takes no clock or assumptions beside it; over a scenario's they are laid. `vary`
    is a seed that its answers vary by, at the points in `only` or at all. With `token`, if only {},
    an access token comes with its summary: {"as": …, "organization": …, "expires_in_seconds": …}.
    With `ttl` it is deleted once nobody has asked anything of it for so long.
    """

    scenario: ScenarioChoice | None
    state: Mapping[str, Any] | None
    seed: str | None
    clock: ClockRequest | None
    assumptions: Mapping[str, Any] | None
    ephemeral: bool | None
    vary: str | None
    ttl: str | None
    only: Sequence[str] | None
    token: Mapping[str, Any] | None


class ControlClient:
    """A client of a running emulator, over one kept-alive connection.

    `control_url` is the control API's address, such as `http://127.0.0.1:4620/_emulator`; `token`
    the control token, if the emulator was started with one; `timeout_s` the longest wait for an
    answer, in real seconds. Nothing is sent before the first call. Every method may raise
    `EmulatorUnreachable`, `ControlRefused` or `UnexpectedAnswer`; a malformed `control_url` is a
    ValueError. Threads may share it: one request at a time has the connection.
    """

    def __init__(
        self, control_url: str, *, token: str | None = None, timeout_s: float = 30
    ) -> None:
        parts = urlsplit(control_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(
                f"{control_url!r} is not an address: write it like http://127.0.0.1:4620/_emulator"
            )
        self.control_url = control_url.rstrip("/")
        self._peer = (parts.scheme == "https", parts.hostname, parts.port)
        self._root = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["X-Control-Token"] = _plain(token)
        self._lock = threading.Lock()
        self._open: HTTPConnection | None = None
        self._process_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        with self._lock:
            self._drop()

    def health(self) -> Record:
        """Whether the emulator is up: its `status` and `version`."""
        return Record(self.get("health"))

    def info(self) -> Info:
        """The running process and its addresses."""
        return Info(self.get("info"))

    def contract(self, name: str) -> Any:
        """A table or document of the contract: `problems`, `fault-kinds`, `conduct-rules`, …"""
        answer = self.get(f"contract/{name}")
        return answer["items"] if answer.keys() == {"items"} else answer

    # --- Worlds ------------------------------------------------------------------------------

    def worlds(self) -> list[WorldSummary]:
        """The summaries of all worlds."""
        return [WorldSummary(world) for world in self.get("worlds")["items"]]

    def world(self, name: str = "default") -> HostingEmulator:
        """Hold a world by its name. Nothing is asked before it is used: it may not be there."""
        from hosting_emulator.sdk.emulator import HostingEmulator  # which holds such a client

        return HostingEmulator(self, name)

    def create_world(
        self, name: str | None = None, **request: Unpack[WorldRequest]
    ) -> NewWorldSummary:
        """Make a world; without a name it gets a throw-away one. 409 if the name is taken.

        It begins as `WorldRequest` says, or else as the default world.
        """
        return NewWorldSummary(self.post("worlds", given(name=name, **request)))

    # --- Scenarios ---------------------------------------------------------------------------

    def scenarios(self) -> list[Record]:
        """The scenario library: names and descriptions."""
        return list(self.get("scenarios")["items"])

    def scenario(self, name: str) -> Record:
        """One scenario of the library: its name, description and `text`."""
        return Record(self.get(f"scenarios/{quote(name, safe='')}"))

    def run_scenario(
        self,
        *,
        world: str | None = None,
        vary: str | None = None,
        only: Sequence[str] | None = None,
        **scenario: Unpack[ScenarioChoice],
    ) -> Record:
        """Run a scenario's story and return the report, step by step.

        It runs in a throw-away world, or in `world`, which it replaces and leaves as the story left
        it; `vary` and `only` as for `create_world`.
        """
        body = given(world=world, vary=vary, only=only, **scenario)
        return Record(self.post("scenarios/run", body))

    # --- The wire ----------------------------------------------------------------------------

    def open_stream(self, path: str, headers: dict[str, str]) -> EventStream:
        """GET a stream of events below the control URL, over a connection of its own."""
        connection = self._connection(_SILENCE_S)
        with _clear_errors(connection, self.control_url):
            connection.request(
                "GET", self._target(path), headers={**self._headers, **headers, "Accept": _EVENTS}
            )
            response = connection.getresponse()
            if response.status == 200 and response.headers.get_content_type() == _EVENTS:
                return EventStream(self.control_url, connection, response)
            body = response.read()
        connection.close()
        self._read(response, body)
        raise UnexpectedAnswer(self.control_url, "it does not return a stream of events")

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send `body` as JSON (no body for None) and return the JSON answered, None if empty."""
        __tracebackhide__ = True  # pytest then shows who asked
        content = None if body is None else _encode(body).encode()
        target = self._target(path)
        with self._lock:
            kept = self._still_open()
            try:
                answer = self._exchange(method, target, content)
            except EmulatorUnreachable as error:
                # The server had just dropped it: ask once more if that cannot do harm.
                dropped = isinstance(error.__cause__, ConnectionError)
                if not (kept and dropped and method in _REPEATABLE):
                    raise
                answer = self._exchange(method, target, content)
        return self._read(*answer)

    #: Each takes a path below the control URL, and a body.
    get = partialmethod(_ask, "GET")
    post = partialmethod(_ask, "POST")
    put = partialmethod(_ask, "PUT")
    patch = partialmethod(_ask, "PATCH")
    delete = partialmethod(_ask, "DELETE")

    def _exchange(self, method: str, target: str, body: bytes | None) -> tuple[HTTPResponse, bytes]:
        if self._open is None:
            self._open, self._process_id = self._connection(self._timeout_s), os.getpid()
        kind = {} if body is None else {"Content-Type": "application/json"}
        with _clear_errors(self._open, self.control_url):
            self._open.request(method, target, body, {**self._headers, **kind})
            response = self._open.getresponse()
            return response, response.read()

    def _connection(self, timeout_s: float) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection  # a `--help` needs none of it

        secure, host, port = self._peer
        return (HTTPSConnection if secure else HTTPConnection)(host, port, timeout=timeout_s)

    def _target(self, path: str) -> str:
        if " " in path:
            raise ValueError(f"{path!r} is no target of a request: it has a space")
        return f"{self._root}/{_plain(path).lstrip('/')}"

    def _read(self, response: HTTPResponse, body: bytes) -> Any:
        __tracebackhide__ = True
        try:
            document = json.loads(body, object_hook=Record) if body else None
        except ValueError as error:
            kind = response.headers.get("Content-Type") or "bytes"
            what = f"it returned {kind} with status {response.status}"
            raise UnexpectedAnswer(self.control_url, what) from error
        if 200 <= response.status < 300:
            return document
        problem = document if isinstance(document, dict) else {}
        title = str(problem.get("title") or f"refused with status {response.status}")
        detail = problem.get("detail")
        version = response.headers.get("Server", "").partition("hosting-emulator/")[2]
        if version not in ("", __version__):
            detail = f"{detail or title} (the emulator is {version}, and this client {__version__})"
        raise ControlRefused(response.status, title, str(detail) if detail else None)

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _still_open(self) -> bool:
        """Whether there is an open connection; one the server has closed is dropped here.

        Looking before sending is what lets a POST survive a restarted or idle server: nothing has
        been sent yet, so nothing is repeated. A forked child shares the socket with its parent; only
        one of them may go on with it.
        """
        if self._open is None:
            return False
        mine = self._process_id == os.getpid() and self._open.sock is not None
        if mine and (self._peer[0] or _is_quiet(self._open)):  # TLS cannot be looked into
            return True
        self._drop()
        return False


class EventStream:
    """The events of a world, one after the other, as they happen.

    Iterating waits for the next. It ends when the world is deleted, and raises EmulatorUnreachable
    when the emulator stops. `close` it, or use it as a context manager.
    """

    def __init__(self, address: str, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._address = address
        self._connection = connection
        self._response = response

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no longer."""
        self._response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[WorldEvent]:
        fields: dict[str, str] = {}
        for line in self._lines():
            name, _, value = line.partition(":")
            if line:
                fields[name] = value.removeprefix(" ")
            else:
                if "data" in fields:
                    yield self._event(fields)
                fields = {}

    def _lines(self) -> Iterator[str]:
        from http.client import HTTPException

        try:
            while line := self._response.readline():
                yield line.decode().rstrip("\r\n")
        except (OSError, HTTPException) as error:
            raise EmulatorUnreachable(self._address, "it stopped sending events") from error

    def _event(self, fields: dict[str, str]) -> WorldEvent:
        try:
            data = json.loads(fields["data"], object_hook=Record)
            return WorldEvent(int(fields.get("id", "0")), fields.get("event", "message"), data)
        except ValueError as error:
            raise UnexpectedAnswer(self._address, "its events are not JSON") from error


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


def given(**fields: Any) -> JsonObject:
    """Return the fields that were given, not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _plain(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise ValueError(f"{text!r} cannot be sent: it is not plain text of one line")
    return text


def _is_quiet(connection: HTTPConnection) -> bool:
    """Whether nothing is to be read, as between requests; an end of file means it is closed."""
    import socket

    try:
        connection.sock.settimeout(0)
        connection.sock.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        with suppress(OSError):
            connection.sock.settimeout(connection.timeout)
    return False
