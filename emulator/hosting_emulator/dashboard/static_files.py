"""The files that pages load: scripts, style sheets and pictures."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from aiohttp import web

from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context, require
from hosting_emulator.http.pages import Templates

_TEMPLATES: Final = Templates(__package__)
_PLAIN_TEXT: Final = "text/plain; charset=utf-8"
_MEDIA_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
}


def style_sheet() -> web.Response:
    """Return the style sheet of the documentation."""
    text = _TEMPLATES.text("style.css")
    return responses.raw(200, text.encode(), _MEDIA_TYPES[".css"])


def static_file(context: Context, file: str) -> web.Response:
    """Return a file that a page loads, or status 304 if the browser already has it."""
    path = require(static_files().get(file), "No such file", "there is no file with this name")
    body, etag = _read_file(path)
    status = 200
    if _has_copy(context.request, etag):
        status = 304
        body = b""
    media_type = _MEDIA_TYPES.get(path.suffix, _PLAIN_TEXT)
    return responses.raw(status, body, media_type, Cache_Control="no-cache", ETag=etag)


def _has_copy(request: web.BaseRequest, etag: str) -> bool:
    """Return whether the browser already has the file with this validator (RFC 9110, section 13.1.2)."""
    condition = request.headers.get("If-None-Match", "").strip()
    if condition == "*":
        return True
    etags = {tag.strip().removeprefix("W/") for tag in condition.split(",")}
    return etag in etags


@cache
def static_files() -> dict[str, Path]:
    """Return the path of each file that is served, by its name under `STATIC_PATH`.

    Requests under `STATIC_PATH` cannot reach any other file.
    """
    package = Path(__file__).parent
    return {
        **_files_below(package / "files", prefix=""),
        **_files_below(package / "static", prefix="dashboard/"),
    }


def _files_below(folder: Path, prefix: str) -> dict[str, Path]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {prefix + path.relative_to(folder).as_posix(): path for path in paths}


@cache
def _read_file(path: Path) -> tuple[bytes, str]:
    """Return a file's content and its strong validator (RFC 9110, section 8.8.3)."""
    body = path.read_bytes()
    return body, f'"{sha256(body).hexdigest()[:32]}"'
