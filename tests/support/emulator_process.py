"""Starts emulators as processes, and stops or kills them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, CompletedProcess, TimeoutExpired
from typing import Any

from tests.support import warm
from tests.support.http_client import HttpClient
from tests.support.warm import COMMAND


class Client(HttpClient):
    """A client of an emulator and of its control API."""

    def control(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request to the control API, which must succeed, and return the JSON of the response."""
        response = self.send(method, f"/_emulator/{path}", body)
        assert response.status < 300, response
        return response.json if response.body else None

    def token(self, user: str = "owner", world: str = "default") -> str:
        """Return an access token for a user that stays valid for ten years of world time."""
        request = {"user": user}
        return str(self.control("POST", f"worlds/{world}/tokens", request)["access_token"])

    def state(self, world: str = "default") -> Any:
        """Return the exported state of a world."""
        return self.control("GET", f"worlds/{world}/state")


class StartFailed(AssertionError):
    """An emulator process ended before it was ready."""

    def __init__(self, code: int, errors: str) -> None:
        super().__init__(f"the emulator did not start: exit code {code}\n{errors}")
        self.code = code
        self.errors = errors


class Process:
    """A running emulator process, which the warm interpreter forks if it can.

    `command` is the command that precedes the word `start`. `ready` is the JSON object that the
    emulator printed when it was ready. Raises StartFailed if the process ends before it is ready.
    """

    def __init__(self, *arguments: str, command: tuple[str, ...] = (COMMAND,), **options: Any):
        self.popen = warm.start(
            [*command, "start", "--port", "0", "--json", *arguments],
            **{"stdout": PIPE, "stderr": PIPE, **options},
        )
        self._clients: list[Client] = []
        try:
            self.ready: dict[str, Any] = json.loads(self._announcement())
        except BaseException:
            self.popen.kill()
            self.popen.communicate()
            raise

    def _announcement(self) -> str:
        """Wait until the emulator is ready, and return the JSON text that it prints then."""
        assert self.popen.stdout is not None
        lines: list[str] = []
        for line in self.popen.stdout:
            lines.append(line)
            if line == "}\n":
                return "".join(lines)
        errors = self.popen.communicate()[1]
        raise StartFailed(self.popen.returncode, errors)

    @property
    def base_url(self) -> str:
        return str(self.ready["base_url"])

    def client(self) -> Client:
        """Return a new client, which is closed when the process is stopped or killed."""
        self._clients.append(Client(self.base_url))
        return self._clients[-1]

    def kill(self) -> str:
        """Kill the process, and return what it wrote to stderr."""
        self.popen.kill()
        return self._wait_for_end()

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        """Stop the process with a signal. Return its exit code and what it wrote to stderr."""
        os.kill(self.popen.pid, number)
        errors = self._wait_for_end()
        return self.popen.returncode, errors

    def _wait_for_end(self) -> str:
        errors = self.popen.communicate(timeout=30)[1]
        for client in self._clients:
            client.close()
        return errors


@contextmanager
def emulator(*arguments: str, **options: Any) -> Iterator[Process]:
    """Run an emulator process during a block, and stop it at the end of the block.

    The process is not killed, because a killed process leaves no record of the lines that it ran.
    """
    process = Process(*arguments, **options)
    try:
        yield process
    finally:
        if process.popen.poll() is None:
            try:
                process.stop()
            except TimeoutExpired:
                process.kill()
                raise


def failed_start(*arguments: str, **options: Any) -> CompletedProcess[str]:
    """Run an emulator that must refuse to start, and return the ended process."""
    return warm.run([COMMAND, "start", *arguments], **options)
