"""The wire: JSON to and from the control API, every failure turned into a `ControlError`.

It must not know any resource of the control API, nor print anything.
"""

from __future__ import annotations

import json
from typing import Any, Self
from urllib.parse import quote, urlsplit

from hosting_emulator.sdk.answers import JsonObject
from hosting_emulator.sdk.errors import ControlRefused, EmulatorUnreachable, UnexpectedAnswer
from hosting_emulator.sdk.listening import Listening, open_stream
from hosting_emulator.sdk.responses import Answer, NotHttp
from hosting_emulator.sdk.transport import KeptConnection

DEFAULT_WORLD = "default"
_encode = json.JSONEncoder(separators=(",", ":")).encode


class Wire:
    """One kept-alive connection to a control API. Arguments and errors as for `ControlClient`."""

    def __init__(
        self, control_url: str, *, token: str | None = None, timeout_s: float = 30
    ) -> None:
        parts = urlsplit(control_url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(
                f"{control_url!r} is not an address: write it like http://127.0.0.1:4620/_emulator"
            )
        self.control_url = control_url.rstrip("/")
        self._root = parts.path.rstrip("/")
        self._timeout_s = timeout_s
        headers = {"Accept": "application/json"}
        if token:
            headers["X-Control-Token"] = token
        self._headers = headers
        self._connection = KeptConnection(
            parts.hostname,
            parts.port,
            secure=parts.scheme == "https",
            timeout_s=timeout_s,
            headers=headers,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; a later call opens another."""
        self._connection.close()

    # --- Any resource ------------------------------------------------------------------------

    def get(self, path: str) -> Any:
        """GET a path below the control URL and return its JSON."""
        __tracebackhide__ = True  # pytest then shows who asked
        return self._ask("GET", path, None)

    def post(self, path: str, body: Any = None) -> Any:
        """POST `body` as JSON (no body for None) and return the JSON answered, None if empty."""
        __tracebackhide__ = True
        return self._ask("POST", path, body)

    def put(self, path: str, body: Any = None) -> Any:
        """PUT `body` as JSON (no body for None) and return the JSON answered, None if empty."""
        __tracebackhide__ = True
        return self._ask("PUT", path, body)

    def patch(self, path: str, body: Any = None) -> Any:
        """PATCH with `body` as JSON (no body for None) and return the JSON answered."""
        __tracebackhide__ = True
        return self._ask("PATCH", path, body)

    def delete(self, path: str, body: Any = None) -> Any:
        """DELETE a path and return the JSON answered, None if empty."""
        __tracebackhide__ = True
        return self._ask("DELETE", path, body)

    def open_stream(self, path: str, headers: dict[str, str]) -> Listening:
        """GET a stream of events below the control URL, over a connection of its own."""
        target = f"{self._root}/{path.lstrip('/')}"
        opened = open_stream(self.control_url, target, {**self._headers, **headers})
        if isinstance(opened, Answer):
            self._read(opened)
            raise UnexpectedAnswer(self.control_url, "it answers no stream of events")
        return opened

    # --- The wire ----------------------------------------------------------------------------

    def _ask(self, method: str, path: str, body: Any) -> Any:
        __tracebackhide__ = True
        content = None if body is None else _encode(body).encode()
        target = f"{self._root}/{path.lstrip('/')}"
        try:
            answer = self._connection.exchange(method, target, content)
        except TimeoutError as error:
            waited = f"no answer within {self._timeout_s:g} s"
            raise EmulatorUnreachable(self.control_url, waited) from error
        except OSError as error:
            raise EmulatorUnreachable(self.control_url, _reason(error)) from error
        except NotHttp as error:
            raise UnexpectedAnswer(self.control_url, "it does not speak HTTP") from error
        return self._read(answer)

    def _read(self, answer: Answer) -> Any:
        __tracebackhide__ = True
        try:
            document = json.loads(answer.body) if answer.body else None
        except ValueError as error:
            what = f"it answers {answer.content_type or 'bytes'} with status {answer.status}"
            raise UnexpectedAnswer(self.control_url, what) from error
        if 200 <= answer.status < 300:
            return document
        problem = document if isinstance(document, dict) else {}
        title = str(problem.get("title") or f"refused with status {answer.status}")
        detail = problem.get("detail")
        raise ControlRefused(answer.status, title, str(detail) if detail else None)


def world_path(name: str) -> str:
    """Return the path of a world below the control URL."""
    return f"worlds/{quote(name, safe='')}"


def given(**fields: Any) -> JsonObject:
    """Return those fields that have a value."""
    return {name: value for name, value in fields.items() if value is not None}


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()
