"""The files that pages load."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.static import table


async def static_file(context: Context, file: str) -> web.Response:
    """GET /static/{file}: a file, or 304 when the browser has it already."""
    found = table().get(file)
    if found is None:
        raise ControlRefused(404, "No such file", "no page loads a file of this name")
    kept = context.request.headers.get("If-None-Match", "")
    asked = {tag.strip().removeprefix("W/") for tag in kept.split(",")}
    fresh = found.etag in asked or kept.strip() == "*"
    return answers.raw(
        304 if fresh else 200,
        b"" if fresh else found.body,
        found.content_type,
        Cache_Control="no-cache",
        ETag=found.etag,
    )
