"""The process's metrics, in Prometheus's text format."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily as Counter
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.core import HistogramMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector

from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.tally import BUCKETS_NS, Count, Tally
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context
from hosting_emulator.world.tables import (
    API_KEYS,
    DEPLOYMENTS,
    FAULTS,
    OPERATIONS,
    PROJECTS,
    SCHEDULE,
    TICKETS,
)

_COUNTED_TABLES = (PROJECTS, OPERATIONS, DEPLOYMENTS, TICKETS, API_KEYS, FAULTS)


def metrics(context: Context) -> web.Response:
    """Return the metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(context))
    ProcessCollector(registry=registry)
    text = generate_latest(registry)
    return responses.raw(200, text, CONTENT_TYPE_LATEST, Cache_Control="no-store")


class _Collector:
    """Collects the metrics of the process and its worlds for the Prometheus client library."""

    def __init__(self, context: Context) -> None:
        self._facts = context.facts
        self._worlds = context.worlds

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        info = {"version": self._facts.version, "durability": self._facts.durability}
        yield InfoMetricFamily("hosting_emulator", "The running emulator.", info)
        uptime_s = time.time() - parse_timestamp(self._facts.started_at) / 1000
        yield _gauge("uptime_seconds", "Real time since the start.", max(0.0, uptime_s))
        tally = self._worlds.tally
        yield _request_counts(tally)
        yield _durations(tally)
        yield _counter("replays", "Responses that were replays.", tally.replays)
        yield _lost_responses(tally)
        yield _counter("commits", "Accepted changes.", tally.commits)
        yield _gauge("worlds", "Number of worlds.", len(self._worlds))
        yield self._record_counts()
        pending = sum(engine.world.count(SCHEDULE) for engine in self._worlds)
        yield _gauge("pending_events", "Scheduled events.", pending)

    def _record_counts(self) -> Metric:
        counts = {}
        for table in _COUNTED_TABLES:
            counts[(table.name,)] = sum(engine.world.count(table) for engine in self._worlds)
        return _gauge("records", "Records in all worlds, by table.", counts, "table")


def _request_counts(tally: Tally) -> Metric:
    counts = {}
    for (call, status), count in sorted(tally.exchanges.items()):
        counts[(call or "none", str(status))] = count.requests
    description = (
        "Requests to the public API, by call (none: unknown call) and status (0: no response)."
    )
    return _counter("requests", description, counts, "call", "status")


def _lost_responses(tally: Tally) -> Metric:
    counts = {(kind,): count for kind, count in sorted(tally.lost.items())}
    return _counter(
        "lost_responses",
        "Responses that did not arrive completely because of a fault, by kind of fault.",
        counts,
        "kind",
    )


def _durations(tally: Tally) -> Metric:
    """Return a histogram of the time that requests spent in the engine, by call."""
    family = HistogramMetricFamily(
        "hosting_emulator_request_duration_seconds",
        "Real time that a request spent in the engine.",
        labels=["call"],
    )
    bounds = [str(bound_ns / 1e9) for bound_ns in BUCKETS_NS]
    bounds.append("+Inf")
    counts_by_call: dict[str, list[Count]] = {}
    for (call, _), count in tally.exchanges.items():
        counts_by_call.setdefault(call, []).append(count)
    for call, counts in sorted(counts_by_call.items()):
        buckets = [count.buckets for count in counts]
        # In Prometheus's format, each bucket includes all lower buckets.
        totals = accumulate(map(sum, zip(*buckets, strict=True)))
        took_ns = sum(count.took_ns for count in counts)
        family.add_metric([call or "none"], list(zip(bounds, totals, strict=True)), took_ns / 1e9)
    return family


def _gauge(name: str, description: str, value: float | Mapping[Any, float], *labels: str) -> Metric:
    return _filled(Gauge(_full_name(name), description, labels=labels), value)


def _counter(
    name: str, description: str, value: float | Mapping[Any, float], *labels: str
) -> Metric:
    return _filled(Counter(_full_name(name), description, labels=labels), value)


def _full_name(name: str) -> str:
    return f"hosting_emulator_{name}"


def _filled(family: Counter | Gauge, value: float | Mapping[Any, float]) -> Metric:
    """Add values to a metric, and return it.

    `value` is either a single value or a mapping from label values to values.
    """
    values = value if isinstance(value, Mapping) else {(): value}
    for label_values, number in values.items():
        family.add_metric(label_values, number)
    return family
