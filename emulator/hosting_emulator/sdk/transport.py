"""Sends JSON requests to the control API, and converts problems to exceptions.

This module must not depend on the meaning of a path, and must not print anything.
"""

from __future__ import annotations

import json
from functools import partialmethod
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from hosting_emulator import __version__, messages
from hosting_emulator.build_id import name_builds
from hosting_emulator.contract.conversion import convert, decode_json
from hosting_emulator.sdk.addresses import DEFAULT_URL
from hosting_emulator.sdk.errors import ControlRefused, UnexpectedResponse, UnreadableMessage

if TYPE_CHECKING:
    from hosting_emulator.sdk.control_connection import Response
    from hosting_emulator.sdk.event_stream import EventStream

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

T = TypeVar("T")
M = TypeVar("M", bound=messages.ControlMessage)

#: If a stream is silent for this many real seconds, the emulator is assumed to have stopped. A
#: running emulator sends at least an empty event every 15 s.
_SILENCE_S = 45.0
_EVENTS = "text/event-stream"
#: Encodes any mapping, not just a dict, as a JSON object.
_encode = json.JSONEncoder(separators=(",", ":"), default=dict).encode


class Transport:
    """Sends requests to an emulator's control API, over a connection that threads can share.

    `control_url` is a URL such as `http://127.0.0.1:4620/_emulator`. ValueError is raised if it is
    not an HTTP or HTTPS URL. `token` is the control token, if the emulator requires one.
    `timeout_s` is the maximum wait for a response, in real seconds. The constructor does not send a
    request. Any method that sends a request can raise a ControlError.
    """

    def __init__(
        self, control_url: str, *, token: str | None = None, timeout_s: float = 30
    ) -> None:
        parts = urlsplit(control_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            example = f"{DEFAULT_URL}/_emulator"
            raise ValueError(f"{control_url!r} is not an address: write it like {example}")
        self.control_url = control_url.rstrip("/")
        self._root = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if token:
            self._headers["X-Control-Token"] = _sendable(token)
        # Imported here because importing http.client takes 30 ms and the CLI's help and shell
        # completion do not need it.
        from hosting_emulator.sdk.control_connection import ControlConnection

        self._connection = ControlConnection(control_url, timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. A later call opens a new one."""
        self._connection.close()

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request with a JSON body to a path under the control URL.

        If `body` is None, the request has no body. Returns the response's parsed JSON, or None if
        the response has no body.
        """
        return self._send(Any, method, path, body)

    get = partialmethod(ask, "GET")
    post = partialmethod(ask, "POST")
    put = partialmethod(ask, "PUT")
    patch = partialmethod(ask, "PATCH")
    delete = partialmethod(ask, "DELETE")

    def fetch(self, kind: type[T], method: str, path: str, body: Any = None) -> T:
        """Send a request in the same way as `ask`, and return the response as a message of type
        `kind`.

        Raises UnreadableMessage if the response is not a valid `kind`.
        """
        message: T = self._send(kind, method, path, body)
        return message

    def fetch_list(self, kind: type[M], method: str, path: str, body: Any = None) -> list[M]:
        """Send a request in the same way as `ask`, and return the response's items as messages of
        type `kind`.
        """
        return self.fetch(messages.ItemList[kind], method, path, body).items  # type: ignore[valid-type]

    def read(self, kind: type[M], document: messages.JsonObject) -> M:
        """Convert a response's JSON to a message of type `kind`.

        Raises UnreadableMessage if the JSON is not a valid `kind`.
        """
        try:
            return convert(document, kind)
        except msgspec.ValidationError as error:
            raise UnreadableMessage(self.control_url, kind, str(error)) from None

    def open_stream(self, path: str, headers: dict[str, str]) -> EventStream:
        """Open the event stream at a path under the control URL, over a separate connection."""
        # Imported here because importing http.client is slow, as in `__init__`.
        from hosting_emulator.sdk.control_connection import Response, clear_errors, open_response
        from hosting_emulator.sdk.event_stream import EventStream

        headers = {**self._headers, **headers, "Accept": _EVENTS}
        target = self._target(path)
        connection, response = open_response(self.control_url, target, headers, _SILENCE_S)
        if response.status == 200 and response.headers.get_content_type() == _EVENTS:
            return EventStream(self.control_url, connection, response)
        with clear_errors(connection, self.control_url):
            body = response.read()
        connection.close()
        self._read(Response(response.status, response.headers, body), Any)
        raise UnexpectedResponse(self.control_url, "it does not return a stream of events")

    def _send(self, kind: Any, method: str, path: str, body: Any) -> Any:
        headers = self._headers
        content = None
        if body is not None:
            headers = {**headers, "Content-Type": "application/json"}
            content = _encode(body).encode()
        response = self._connection.exchange(method, self._target(path), content, headers)
        return self._read(response, kind)

    def _target(self, path: str) -> str:
        if " " in path:
            raise ValueError(f"{path!r} is not a request target, because it contains a space")
        return f"{self._root}/{_sendable(path).lstrip('/')}"

    def _read(self, response: Response, kind: Any) -> Any:
        """Convert a response's body to type `kind`.

        Raises ControlError if the response is a problem or its body is not a valid `kind`.
        """
        if 200 <= response.status < 300:
            return self._decode(response, kind)
        problem = self._decode(response, Any)
        if not isinstance(problem, dict):
            problem = {}
        title = str(problem.get("title") or f"refused with status {response.status}")
        detail = problem.get("detail")
        version = response.headers.get("Server", "").partition("hosting-emulator/")[2]
        builds = name_builds(version, __version__) if version else None
        if builds is not None:
            theirs, ours = builds
            versions = f"the emulator is version {theirs}, and this client is version {ours}"
            detail = f"{detail or title} ({versions})"
        raise ControlRefused(response.status, title, str(detail) if detail else None)

    def _decode(self, response: Response, kind: Any) -> Any:
        """Convert a response's JSON body to type `kind`, or return None if the body is empty."""
        if not response.body:
            return None
        try:
            return _decode_json(response.body, kind)
        except msgspec.ValidationError as error:
            raise UnreadableMessage(self.control_url, kind, str(error)) from None
        except (ValueError, RecursionError) as error:
            content_type = response.headers.get("Content-Type") or "bytes"
            reason = f"it returned {content_type} with status {response.status}"
            raise UnexpectedResponse(self.control_url, reason) from error


def _decode_json(body: bytes, kind: Any) -> Any:
    """Decode JSON to a type.

    msgspec refuses the lone surrogates in a path that is not valid Unicode, but Python accepts them.
    """
    try:
        return decode_json(body, kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return convert(json.loads(body), kind)


def path_of(*parts: str | int) -> str:
    """Return the control API path that consists of these segments.

    Raises ValueError if a segment is empty, because the path would then refer to a whole
    collection.
    """
    path = "/".join(quote(str(part), safe="") for part in parts)
    if "" in parts:
        raise ValueError(f"a name or id is empty, so no request is sent to {path}")
    return path


def without_none(**fields: Any) -> messages.JsonObject:
    """Return the fields whose values are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def _sendable(text: str) -> str:
    """Return a string unchanged if it is valid in a request target or header.

    Raises ValueError if it contains anything other than printable ASCII characters.
    """
    if not text.isprintable() or not text.isascii():
        raise ValueError(f"{text!r} cannot be sent: use printable ASCII characters only")
    return text
