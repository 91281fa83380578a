"""What a world's story came to, in one document: a report, what its client did wrong, and metrics."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.watch import watch_of
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.contract.words import nearest
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_log import entry_view, problem_of
from hosting_emulator.engine.tally import BUCKETS_NS, Tally
from hosting_emulator.engine.why import why
from hosting_emulator.engine.worlds import variation_view
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.documents import fault_view
from hosting_emulator.server import answers
from hosting_emulator.server.control.clock import operations_in_order
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.views import clock_view
from hosting_emulator.server.hosts import world_prefix
from hosting_emulator.world import tables as t

#: More operations under way than these would bury the rest.
_OPERATIONS = 10


def report(context: Context, engine: Engine) -> dict[str, Any]:
    """GET …/report?requests=20: clock, last requests (oldest first), pending operations, faults."""
    limit = context.limit("requests", 20)
    now_ms = engine.run_due()
    world = engine.world
    origin = world.get(t.ORIGIN, t.ONLY)
    entries = engine.log.newest(limit)[::-1]
    pending = operations_in_order(engine, unfinished=True)[:_OPERATIONS]
    return {
        "world": world.name,
        "base_url": context.base_url + world_prefix(world.name),
        "scenario": origin.scenario_file if origin and origin.scenario else None,
        "clock": clock_view(engine),
        "commit": world.commit,
        "assumptions": world.assumptions.changes(),
        "variation": variation_view(engine),
        "requests": {
            "total": engine.log.count,
            "items": [
                {**entry_view(world, entry), "problem": problem_of(entry)} for entry in entries
            ],
        },
        "operations": [why(engine, operation.id) for operation in pending],
        "faults": [fault_view(world, fault, now_ms) for fault in faults_in_order(world)],
    }


# --- conduct -------------------------------------------------------------------------------------


def show_conduct(context: Context, engine: Engine) -> Any:
    """GET …/conduct?off=RULE,RULE&final=false: what was found in all requests so far.

    `off` leaves rules out. `final=true` also says what can only be said once the client is done.
    """
    off = _read_rules(parse_qs(context.query).get("off", []))
    return watch_of(engine).look(off, final=context.choice("final")).view(off)


def list_rules() -> dict[str, Any]:
    """GET /contract/conduct-rules: every rule, why it is one, and what to do instead."""
    return {"items": [rule.view() for rule in RULES.values()]}


def _read_rules(given: list[str]) -> list[str]:
    """Read ids of rules, split at commas, each once. Raises ControlRefused 400, naming the nearest."""
    ids = dict.fromkeys(id_.strip() for text in given for id_ in text.split(",") if id_.strip())
    for id_ in ids:
        if id_ not in RULES:
            hint = nearest(id_, RULES) or "; /_emulator/contract/conduct-rules lists them"
            raise ControlRefused(400, "Bad off", f"no rule is named {id_[:80]!r}{hint}")
    return list(ids)


# --- metrics -------------------------------------------------------------------------------------

_PREFIX = "hosting_emulator"
_HELD = (t.PROJECTS, t.OPERATIONS, t.DEPLOYMENTS, t.TICKETS, t.API_KEYS, t.FAULTS)


def metrics(context: Context) -> web.Response:
    """GET /metrics, in the text format of Prometheus."""
    registry = CollectorRegistry()
    registry.register(_Collector(context))
    ProcessCollector(registry=registry)
    return answers.raw(
        200, generate_latest(registry), CONTENT_TYPE_LATEST, Cache_Control="no-store"
    )


class _Collector:
    """Reads the tally and the worlds into metrics."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics, as prometheus_client asks for them."""
        context, tally = self._context, self._context.worlds.tally
        info = {"version": context.facts.version, "durability": context.facts.durability}
        yield InfoMetricFamily(_PREFIX, "The running emulator.", info)
        started_ms = parse_timestamp(context.facts.started_at)
        up = GaugeMetricFamily(f"{_PREFIX}_uptime_seconds", "Real time since the start.")
        up.add_metric([], max(0.0, time.time() - started_ms / 1000))
        yield up
        yield from _exchanges(tally)
        yield CounterMetricFamily(
            f"{_PREFIX}_replays", "Answers that were remembered first answers.", tally.replays
        )
        lost = CounterMetricFamily(
            f"{_PREFIX}_lost_answers", "Answers that a fault ate, by its kind.", labels=["kind"]
        )
        for kind, count in sorted(tally.lost.items()):
            lost.add_metric([kind], count)
        yield lost
        yield CounterMetricFamily(f"{_PREFIX}_commits", "Accepted changes.", tally.commits)
        yield from self._held()

    def _held(self) -> Iterator[Metric]:
        worlds = list(self._context.worlds)
        yield GaugeMetricFamily(f"{_PREFIX}_worlds", "Worlds there are.", len(worlds))
        held = GaugeMetricFamily(
            f"{_PREFIX}_records", "Records held by all worlds, by table.", labels=["table"]
        )
        for table in _HELD:
            held.add_metric([table.name], sum(engine.world.count(table) for engine in worlds))
        yield held
        pending = sum(engine.world.count(t.SCHEDULE) for engine in worlds)
        yield GaugeMetricFamily(f"{_PREFIX}_pending_events", "Scheduled events.", pending)


def _exchanges(tally: Tally) -> Iterator[Metric]:
    requests = CounterMetricFamily(
        f"{_PREFIX}_requests",
        "Requests of the public API, by call (none: no call has the path) and status (0: no answer).",
        labels=["call", "status"],
    )
    times = HistogramMetricFamily(
        f"{_PREFIX}_request_duration_seconds",
        "Real time a request spent in the core.",
        labels=["call"],
    )
    by_call: dict[str, tuple[list[int], int]] = {}
    for (call, status), count in sorted(tally.exchanges.items()):
        requests.add_metric([call or "none", str(status)], count.requests)
        buckets, took_ns = by_call.get(call, ([0] * (len(BUCKETS_NS) + 1), 0))
        summed = [a + b for a, b in zip(buckets, count.buckets, strict=True)]
        by_call[call] = (summed, took_ns + count.took_ns)
    yield requests
    for call, (buckets, took_ns) in by_call.items():
        reached, shown = 0, []
        for bound, found in zip((*BUCKETS_NS, None), buckets, strict=True):
            reached += found
            shown.append(("+Inf" if bound is None else str(bound / 1e9), reached))
        times.add_metric([call or "none"], shown, took_ns / 1e9)
    yield times
