"""Load: how many requests a second a server answers, asked over 16 connections from one process.

`wrk` makes the load where it is installed, otherwise `client.py` beside this file. Both send one
request at a time on each connection, and both fail a measurement in which anything was refused.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

CONNECTIONS = 16
#: A request with this header gets a new value of it each time.
KEY_HEADER = "Idempotency-Key"

_SCRIPT = """
wrk.method = %(method)s
%(headers)s
wrk.body = %(body)s
local fresh, n = %(fresh)s, 0
request = function()
  if fresh then n = n + 1; wrk.headers["Idempotency-Key"] = fresh .. n end
  return wrk.format()
end
"""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked again and again. `fresh` is what new Idempotency-Keys begin with, if any."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    fresh: str | None = None


class LoadFailed(Exception):
    """The measurement does not count: something was not answered as it should be."""


def tool() -> str:
    """Return the name of what makes the load here."""
    return "wrk" if shutil.which("wrk") else "client.py"


def rate(port: int, request: Request, seconds: float, core: int | None) -> float:
    """Return answers per second. Raises LoadFailed when one was no success or never came."""
    wrk = shutil.which("wrk")
    command = _wrk(wrk, port, request, seconds) if wrk else _client(port, request, seconds)
    if core is not None:
        command = ["taskset", "--cpu-list", str(core), *command]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    report = done.stdout
    wrong = re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", report)
    found = re.search(r"Requests/sec:\s*([0-9.]+)", report)
    if done.returncode or wrong or found is None:
        raise LoadFailed(f"{request.method} {request.path}: {wrong and wrong[0]} {done.stderr}")
    return float(found[1])


def _wrk(wrk: str, port: int, request: Request, seconds: float) -> list[str]:
    headers = [
        f"wrk.headers[{json.dumps(k)}] = {json.dumps(v)}" for k, v in request.headers.items()
    ]
    text = _SCRIPT % {
        "method": json.dumps(request.method),
        "headers": "\n".join(headers),
        "body": "nil" if request.body is None else json.dumps(request.body),
        "fresh": "nil" if request.fresh is None else json.dumps(request.fresh),
    }
    script = Path(tempfile.gettempdir()) / f"hosting-emulator-wrk-{port}.lua"
    script.write_text(text, encoding="utf-8")
    duration = f"{max(1, round(seconds))}s"
    address = f"http://127.0.0.1:{port}{request.path}"
    return [wrk, "-t1", f"-c{CONNECTIONS}", f"-d{duration}", "-s", str(script), address]


def _client(port: int, request: Request, seconds: float) -> list[str]:
    order = json.dumps({"port": port, "seconds": seconds, "connections": CONNECTIONS})
    script = Path(__file__).with_name("client.py")
    return [sys.executable, str(script), order, json.dumps(asdict(request))]
