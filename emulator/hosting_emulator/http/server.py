"""The HTTP server, which creates an HttpProtocol for each connection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from aiohttp import web

from hosting_emulator.http.crowd import CrowdWatch
from hosting_emulator.http.protocol import HttpProtocol, ServerFunctions

_log = logging.getLogger("hosting_emulator.http")

Handler: TypeAlias = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


class Server(web.Server):
    """Serves all connections with the same handler."""

    def __init__(self, handler: Handler, functions: ServerFunctions) -> None:
        super().__init__(handler)
        self._functions = functions
        self._crowd = CrowdWatch()

    def __call__(self) -> HttpProtocol:
        """Return the protocol for a new connection."""
        return HttpProtocol(
            self,
            self._functions,
            self._crowd,
            loop=asyncio.get_running_loop(),
            access_log=None,
            logger=_log,
            auto_decompress=False,
        )
