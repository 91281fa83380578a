"""Measures how many requests per second a server handles for one client process, and their latency.

`wrk` generates the load if it is installed, and `client.py` otherwise. Both send one request at a
time on each connection. A measurement in which a request is refused fails.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

CONNECTIONS = 16
#: The header that gets a new value in each request.
KEY_HEADER = "Idempotency-Key"

_SCRIPT = """
local requests = { %(requests)s }
local n = 0
request = function()
  n = n + 1
  local one = requests[n %% #requests + 1]
  if one.fresh then one.headers["Idempotency-Key"] = one.fresh .. n end
  return wrk.format(one.method, one.path, one.headers, one.body)
end
"""
_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


@dataclass(frozen=True, slots=True)
class Request:
    """A request that is sent repeatedly.

    `fresh` is the prefix of its Idempotency-Keys, which are always new, or None if it has no key.
    """

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    fresh: str | None = None


@dataclass(frozen=True, slots=True)
class Load:
    """A measured load: responses per second, total responses, and the median and p99 latency."""

    rate: float
    answered: int
    p50_ms: float
    p99_ms: float


class LoadFailed(Exception):
    """The measurement does not count, because a request got a wrong response or no response."""


def tool() -> str:
    """Return the name of the tool that generates the load on this machine."""
    return "wrk" if shutil.which("wrk") else "client.py"


def load(
    port: int,
    requests: Sequence[Request],
    seconds: float,
    core: int | None,
    connections: int = CONNECTIONS,
) -> Load:
    """Send the requests in turn for `seconds`. Raises LoadFailed if a request did not succeed."""
    wrk = shutil.which("wrk")
    with tempfile.TemporaryDirectory() as folder:
        if wrk:
            script = Path(folder) / "requests.lua"
            script.write_text(_script(requests), encoding="utf-8")
            command = [wrk, "--latency", "-t1", f"-c{connections}", "-s", str(script)]
            command += [f"-d{max(1, round(seconds))}s", f"http://127.0.0.1:{port}"]
        else:
            order = {
                "port": port,
                "seconds": seconds,
                "connections": connections,
                "requests": [asdict(request) for request in requests],
            }
            client = Path(__file__).with_name("client.py")
            command = [sys.executable, str(client), json.dumps(order)]
        if core is not None:
            command = ["taskset", "--cpu-list", str(core), *command]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    wrong = re.search(r"Non-2xx or 3xx responses: \d+|Socket errors: .*", done.stdout)
    if done.returncode or wrong:
        asked = ", ".join(f"{request.method} {request.path}" for request in requests)
        raise LoadFailed(f"{asked}: {wrong and wrong[0]} {done.stderr}")
    return read_report(done.stdout)


def read_report(report: str) -> Load:
    """Parse a report in wrk's format. Raises LoadFailed if the report is incomplete."""
    rate = re.search(r"Requests/sec:\s*([0-9.]+)", report)
    answered = re.search(r"(\d+) requests in", report)
    waited = dict(re.findall(r"^\s*(50|99)%\s+(\S+)$", report, re.MULTILINE))
    if rate is None or answered is None or set(waited) != {"50", "99"}:
        raise LoadFailed(f"the load generator's report is incomplete: {report!r}")
    return Load(float(rate[1]), int(answered[1]), _in_ms(waited["50"]), _in_ms(waited["99"]))


def _in_ms(text: str) -> float:
    found = re.fullmatch(r"([0-9.]+)(us|ms|s|m)", text)
    if found is None:
        raise LoadFailed(f"not a time: {text!r}")
    return float(found[1]) * _MS[found[2]]


def _script(requests: Sequence[Request]) -> str:
    return _SCRIPT % {"requests": ", ".join(_lua(asdict(request)) for request in requests)}


def _lua(value: object) -> str:
    if isinstance(value, dict):
        pairs = [f"[{_lua(name)}] = {_lua(item)}" for name, item in value.items()]
        return "{ " + ", ".join(pairs) + " }"
    return "nil" if value is None else json.dumps(value)
