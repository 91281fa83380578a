"""What a world's story came to, in one document: a report, what its client did wrong, and metrics."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, islice
from operator import attrgetter
from typing import Annotated, Any

from aiohttp import web
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily as Counter
from prometheus_client.core import GaugeMetricFamily as Gauge
from prometheus_client.core import HistogramMetricFamily, InfoMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.process_collector import ProcessCollector

from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.watch import Watch
from hosting_emulator.conduct.world_watch import watch_of
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.control.clock import get_clock, operations_in_order, why_operation
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.request_log import CAPACITY
from hosting_emulator.engine.request_views import entry_view, problem_of
from hosting_emulator.engine.tally import BUCKETS_NS, Tally
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.views import fault_view
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context, ControlRefusal
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.http.query import LATEST_REQUESTS, Limit, Query, Words
from hosting_emulator.http.time_slices import LongJob
from hosting_emulator.messages import ConductRuleRow
from hosting_emulator.world import tables as t

#: More operations under way than these would bury the rest.
_OPERATIONS = 10
#: How many exchanges are judged before other requests are handled.
_JUDGED_AT_ONCE = 5


async def report(
    context: Context, engine: Engine, requests: Annotated[Limit, LATEST_REQUESTS] = 20
) -> dict[str, Any]:
    """Report the clock, last requests (oldest first), pending operations, faults and outcomes."""
    now_ms = engine.run_due()
    world = engine.world
    origin = world.get(t.ORIGIN, t.SINGLETON_KEY)
    entries = engine.log.newest(requests)[::-1]
    pending = islice(await operations_in_order(world, unfinished=True), _OPERATIONS)
    items = []
    operations = []
    async with LongJob() as job:
        for entry in entries:
            items.append(entry_view(world, entry) | {"problem": problem_of(entry)})
            await job.pause()
        for operation in pending:
            if engine.world.get(t.OPERATIONS, operation.id):  # it can be reset meanwhile
                operations.append(why_operation(context, engine, operation.id))
            await job.pause()
    timeline = sorted((row for _, row in world.rows(t.TIMELINE)), key=attrgetter("order"))
    return {
        "world": world.name,
        "base_url": context.base_url + world_prefix(world.name),
        "scenario": origin.scenario_file if origin and origin.scenario else None,
        "clock": get_clock(engine),
        "commit": world.commit,
        "assumptions": world.assumptions.changes(),
        "variation": variation_view(engine),
        "requests": {"total": engine.log.count, "items": items},
        "refused": [str(row.message) for row in timeline if row.refused],
        "operations": operations,
        **{
            name: [
                fault_view(world, entry, now_ms, engine.usage.of(entry.id))
                for entry in faults_in_order(world, table)
            ]
            for name, table in (("faults", t.FAULTS), ("outcomes", t.OUTCOMES))
        },
    }


async def show_conduct(
    engine: Engine,
    skip_rules: Annotated[Words, Query("Rules to skip.")],
    final: Annotated[bool, Query("The client has finished.")] = False,
) -> Any:
    """Report which conduct rules the client broke, in all requests so far.

    `skip_rules` skips rules. `final` also reports what can only be judged once the client has finished.
    """
    check_rules(skip_rules, "skip_rules")
    watch = watch_of(engine)
    await judge_in_slices([watch.current])
    return watch.look(skip_rules, final=final)


async def judge_in_slices(watches: Iterable[Watch]) -> None:
    """Judge most of the new exchanges. Other requests are handled in between."""
    async with LongJob() as job:
        for watch in watches:
            # Clients may send faster than this judges: whoever looks judges the rest.
            for _ in range(CAPACITY // _JUDGED_AT_ONCE):
                if not watch.judge_some(_JUDGED_AT_ONCE):
                    break
                await job.pause()


def clear_conduct(engine: Engine) -> None:
    """Forget which conduct rules the client broke; judge from the next request on."""
    watch_of(engine).begin_anew()


def check_rules(ids: Sequence[str], name: str) -> None:
    """Raise ControlRefusal 400 for an id that no rule has; `name` is the field that holds it."""
    for id_ in ids:
        if id_ not in RULES:
            hint = nearest(id_, RULES) or "; /_emulator/contract/conduct-rules lists them"
            raise ControlRefusal(400, f"Bad {name}", f"no rule is named {id_[:80]!r}{hint}")


def list_rules() -> list[ConductRuleRow]:
    """List every conduct rule, the reason for it, and what to do instead."""
    return list(RULES.values())


# --- metrics -------------------------------------------------------------------------------------

_HELD = (t.PROJECTS, t.OPERATIONS, t.DEPLOYMENTS, t.TICKETS, t.API_KEYS, t.FAULTS)


def metrics(context: Context) -> web.Response:
    """Return the metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(context))
    ProcessCollector(registry=registry)
    text = generate_latest(registry)
    return responses.raw(200, text, CONTENT_TYPE_LATEST, Cache_Control="no-store")


class _Collector:
    """Reads the tally and the worlds into metrics."""

    def __init__(self, context: Context) -> None:
        self._facts, self._worlds = context.facts, context.worlds

    def collect(self) -> Iterator[Metric]:
        facts, worlds, tally = self._facts, self._worlds, self._worlds.tally
        info = {"version": facts.version, "durability": facts.durability}
        yield InfoMetricFamily("hosting_emulator", "The running emulator.", info)
        up_s = max(0.0, time.time() - parse_timestamp(facts.started_at) / 1000)
        asked = {
            (call or "none", str(status)): count.requests
            for (call, status), count in sorted(tally.exchanges.items())
        }
        about = (
            "Requests of the public API, by call (none: of no call) and status (0: no response)."
        )
        lost = {(kind,): count for kind, count in sorted(tally.lost.items())}
        held = {(table.name,): sum(e.world.count(table) for e in worlds) for table in _HELD}
        pending = sum(engine.world.count(t.SCHEDULE) for engine in worlds)
        gone = "Responses lost to a fault, by its kind."
        yield _metric(Gauge, "uptime_seconds", "Real time since the start.", up_s)
        yield _metric(Counter, "requests", about, asked, "call", "status")
        yield _durations(tally)
        yield _metric(Counter, "replays", "Responses that were replays.", tally.replays)
        yield _metric(Counter, "lost_answers", gone, lost, "kind")
        yield _metric(Counter, "commits", "Accepted changes.", tally.commits)
        yield _metric(Gauge, "worlds", "Number of worlds.", len(worlds))
        yield _metric(Gauge, "records", "Records held by all worlds, by table.", held, "table")
        yield _metric(Gauge, "pending_events", "Scheduled events.", pending)


def _metric(
    kind: type[Counter | Gauge],
    name: str,
    about: str,
    value: float | Mapping[Any, int],
    *labels: str,
) -> Metric:
    family = kind(f"hosting_emulator_{name}", about, labels=labels)
    for key, found in value.items() if isinstance(value, Mapping) else [((), value)]:
        family.add_metric(key, found)
    return family


def _durations(tally: Tally) -> Metric:
    times = HistogramMetricFamily(
        "hosting_emulator_request_duration_seconds",
        "Real time a request spent in the core.",
        labels=["call"],
    )
    bounds = [*(str(bound / 1e9) for bound in BUCKETS_NS), "+Inf"]
    for call in sorted({call for call, _ in tally.exchanges}):
        counts = [count for (known, _), count in tally.exchanges.items() if known == call]
        reached = accumulate(map(sum, zip(*(count.buckets for count in counts), strict=True)))
        took_ns = sum(count.took_ns for count in counts)
        times.add_metric([call or "none"], list(zip(bounds, reached, strict=True)), took_ns / 1e9)
    return times
