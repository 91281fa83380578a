"""The watch judges each exchange exactly once and delays no request."""

import tracemalloc
from collections.abc import Callable
from time import perf_counter
from typing import Any

import pytest
from msgspec import to_builtins

from hosting_emulator.conduct import observation as observation_module
from hosting_emulator.conduct.chapter import Chapter
from hosting_emulator.conduct.exchange_view import ConnectionUse, ExchangeView
from hosting_emulator.conduct.judge_errors import JudgeErrors
from hosting_emulator.conduct.observation import (
    Observations,
    ProcessObservation,
    TooManyObservations,
)
from hosting_emulator.conduct.recent import Recent
from hosting_emulator.conduct.rule_findings import MOST_FINDINGS
from hosting_emulator.conduct.rules import RULES
from hosting_emulator.conduct.watch import Watch
from hosting_emulator.conduct.world_watch import watch_of
from tests.support.in_process import InProcess, new_worlds, world_origin
from tests.support.judged_world import JudgedWorld
from tests.support.small_limits import limit_ended_worlds, limit_logs

MISSING = "missing-idempotency-key"
#: How many exchanges the request log keeps.
CAPACITY = 1_000


def test_the_first_check_counts_requests_that_left_the_log():
    api = InProcess()
    for _ in range(CAPACITY + 25):
        api.dns()

    conduct = watch_of(api.engine).look()

    assert (conduct.judged, conduct.unseen) == (CAPACITY, 25)
    assert conduct.remarks == ["Not checked: 25 requests that left the log before the first check."]


def test_a_report_says_how_many_worlds_without_a_request_are_not_listed(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(observation_module, "MOST_SILENT_CHAPTERS", 2)
    worlds = new_worlds()
    observation = ProcessObservation("observation-1", worlds, None)
    for number in range(5):
        worlds.create(f"world-{number}", "seed", world_origin(), ephemeral=True)
        worlds.delete(f"world-{number}")

    report = observation.report()

    assert [chapter.world for chapter in report.chapters] == ["world-3", "world-4"]
    assert report.remarks == ["Not listed: 3 worlds that received no requests."]


def test_a_report_says_how_many_ended_worlds_were_discarded(monkeypatch: pytest.MonkeyPatch):
    limit_ended_worlds(monkeypatch, 1)
    worlds = new_worlds()
    observation = ProcessObservation("observation-1", worlds, None)
    for number in range(3):
        engine = worlds.create(f"world-{number}", "seed", world_origin(), ephemeral=True)
        InProcess(engine=engine).dns()
        worlds.delete(f"world-{number}")

    report = observation.report()

    assert [chapter.released for chapter in report.chapters] == [True, True, False]
    assert [chapter.requests for chapter in report.chapters] == [1, 1, 1]
    assert report.remarks == [
        "The state and the requests of the first 2 worlds that ended were discarded. This does not "
        "affect the verdicts."
    ]


def test_an_observation_that_nobody_uses_makes_room_for_another(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(observation_module, "MOST_OBSERVATIONS", 2)
    worlds = new_worlds()
    observations = Observations()
    unused, used = (observations.begin(worlds, None, [], 0) for _ in range(2))
    later_s = observation_module.UNUSED_S + 1

    with pytest.raises(TooManyObservations, match=r"at most 2 observations; delete an observation"):
        observations.begin(worlds, None, [], observation_module.UNUSED_S)
    assert observations.get(used.id, later_s) is used
    third = observations.begin(worlds, None, [], later_s)

    assert [unused.id, used.id, third.id] == ["observation-1", "observation-2", "observation-3"]
    assert worlds.observers == [used, third]
    assert observations.get(unused.id, later_s) is None


def test_a_report_names_the_errors_of_the_observation_itself(monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise ValueError("broken")

    limit_logs(monkeypatch, 1)
    worlds = new_worlds()
    engine = worlds.create("first", "seed", world_origin(), ephemeral=True)
    observation = ProcessObservation("observation-1", worlds, None)
    monkeypatch.setattr(observation, "begin_chapter", fail)
    monkeypatch.setattr(Watch, "judge_evicted", fail)

    worlds.create("second", "seed", world_origin(), ephemeral=True)
    api = InProcess(engine=engine)
    statuses = [api.dns().status for _ in range(2)]

    assert statuses == [200, 200]
    assert observation.report().errors == [
        "The observation failed: ValueError: broken",
        "world first: The observation of a world failed: ValueError: broken",
    ]


def test_a_report_lists_the_requests_whose_responses_have_not_been_sent():
    api = JudgedWorld()
    observation = ProcessObservation("observation-1", new_worlds(), None)
    observation.watch(api.engine)
    in_progress: list[object] = []

    def look() -> None:
        in_progress.extend(to_builtins(observation.report().in_progress))

    api.dns()
    api.send_delayed(1000, "PUT", api.project_path("domains"), key="a", between=look)

    assert in_progress == [
        {"world": "default", "n": 2, "method": "PUT", "path": api.project_path("domains")}
    ]
    assert observation.report().in_progress == []


def test_a_new_observation_has_seen_nothing():
    worlds = new_worlds()
    worlds.create("first", "seed", world_origin(), ephemeral=True)

    assert ProcessObservation("observation-1", worlds, None).has_seen_nothing()


def _send_request(worlds: Any, engine: Any) -> None:
    InProcess(engine=engine).dns()


def _create_world(worlds: Any, engine: Any) -> None:
    worlds.create("second", "seed", world_origin(), ephemeral=True)


def _create_and_delete_world(worlds: Any, engine: Any) -> None:
    _create_world(worlds, engine)
    worlds.delete("second")


def _delete_world(worlds: Any, engine: Any) -> None:
    worlds.delete("first")


def _change_world(worlds: Any, engine: Any) -> None:
    InProcess(engine=engine).advance("1s")


@pytest.mark.parametrize(
    "act",
    [_send_request, _create_world, _create_and_delete_world, _delete_world, _change_world],
)
def test_an_observation_has_seen_whatever_happened(act: Callable[[Any, Any], None]):
    worlds = new_worlds()
    engine = worlds.create("first", "seed", world_origin(), ephemeral=True)
    observation = ProcessObservation("observation-1", worlds, None)
    act(worlds, engine)

    assert not observation.has_seen_nothing()


def test_a_request_in_progress_has_been_seen():
    api = JudgedWorld()
    observation = ProcessObservation("observation-1", new_worlds(), ["none"])
    observation.watch(api.engine)
    seen_nothing: list[bool] = []

    def look() -> None:
        seen_nothing.append(observation.has_seen_nothing())

    api.send_delayed(1000, "PUT", api.project_path("domains"), key="a", between=look)

    assert seen_nothing == [False]


def test_a_closed_observation_watches_no_world():
    worlds = new_worlds()
    observation = ProcessObservation("observation-1", worlds, None)
    other_observation = ProcessObservation("observation-2", worlds, None)
    first = worlds.create("first", "seed", world_origin(), ephemeral=True)

    observation.close()

    worlds.create("second", "seed", world_origin(), ephemeral=True)
    worlds.delete("first")
    chapters = [(each.world, each.ended) for each in observation.report().chapters]
    assert chapters == [("first", None)]
    assert observation.in_progress() == []
    chapters = [(each.world, each.ended) for each in other_observation.report().chapters]
    assert chapters == [("first", "deleted"), ("second", None)]
    assert first.log.observers == []
    assert observation not in worlds.observers


@pytest.mark.parametrize(
    ("count", "ending"), [(11, "1 more error from judges"), (13, "3 more errors from judges")]
)
def test_the_errors_of_judges_are_counted_and_the_first_ten_are_shown(
    count: int, ending: str, caplog: pytest.LogCaptureFixture
):
    errors = JudgeErrors()
    for number in range(count):
        with errors.recorded("The judge"):
            raise ValueError(f"{number}" * 600)

    first, *others, last = errors.texts()

    assert errors.count == count
    assert first == f"The judge failed: ValueError: {'0' * 600}"[:500]
    assert len(others) == 9
    assert last == ending
    assert caplog.messages == ["The judge failed while it judged a client"] * 10


def test_an_observation_of_named_worlds_watches_their_copies_and_no_other_world():
    worlds = new_worlds()
    observation = ProcessObservation("observation-1", worlds, ["watched"])
    watched, other = (
        worlds.create(name, "seed", world_origin(), ephemeral=True) for name in ("watched", "other")
    )
    worlds.fork(watched, "copy", ephemeral=True)
    worlds.fork(other, "other-copy", ephemeral=True)

    report = observation.report()

    assert [chapter.world for chapter in report.chapters] == ["watched", "copy"]


def test_a_released_chapter_keeps_no_world_and_no_exchange():
    api = InProcess()
    chapter = Chapter(api.engine, 0)
    api.dns()
    chapter.end("deleted")
    kept = (chapter.first_world, chapter.world, chapter.entries)

    chapter.release()

    assert None not in kept
    assert (chapter.first_world, chapter.world, chapter.entries) == (None, None, None)
    assert chapter.requests == 1


def test_a_judged_request_keeps_only_what_is_compared_later():
    api = InProcess()
    api.apply_domains(key="a")
    (entry,) = api.engine.log.newest(1)
    view = ExchangeView(entry, ConnectionUse(entry.connection))

    view.shrink()

    assert [name.lower() for name, _ in view.entry.raw_headers] == [b"idempotency-key"]
    assert not any((view.entry.body, view.entry.why, view.headers))
    assert len(entry.raw_headers) > 1


def test_no_request_after_the_first_check_is_missed():
    api = JudgedWorld()
    api.apply_domains(key=None)
    for _ in range(3 * CAPACITY):
        api.dns()
    api.apply_domains(key="a")

    conduct = api.conduct_report()

    assert (conduct.judged, conduct.unseen) == (3 * CAPACITY + 2, 0)
    assert api.broken_rules() == [(MISSING, [1])]


def test_a_judged_request_takes_little_memory():
    api = JudgedWorld()
    count = 100
    big = "x" * 12_000
    for n in range(count):
        path = f"/v1/projects/{n}/powered-by-flag"
        body = {"enabled": big}
        api.call("PUT", path, token=f"{n}{big}", key=f"{n}{big}", body=body)
    tracemalloc.start()

    api.conduct_report()

    memory_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert memory_bytes < count * len(big) / 2


def test_a_check_judges_no_request_twice():
    api = JudgedWorld()
    api.apply_domains(key=None)

    assert api.broken_rules() == api.broken_rules() == [(MISSING, [1])]
    assert api.conduct_report().judged == 1
    assert watch_of(api.engine) is watch_of(api.engine)


def test_findings_of_a_rule_are_bounded_and_counted():
    api = JudgedWorld()
    for n in range(MOST_FINDINGS + 20):
        api.call("GET", f"/v1/projects/{api.project_id()}/edge-dns?p{n}=1")

    conduct = api.conduct_report()

    assert len(conduct.findings) == MOST_FINDINGS
    assert conduct.counts == {"unread-field": MOST_FINDINGS + 20}


def test_findings_outlive_a_reset():
    api = JudgedWorld()
    api.apply_domains(key=None)
    assert api.broken_rules() != []

    api.engine.replace_world(api.world, "reset")
    api.dns()

    conduct = api.conduct_report(final=True)
    assert (conduct.judged, conduct.unseen) == (2, 0)
    assert [finding.rule for finding in conduct.findings] == [MISSING]


def test_requests_after_a_restored_snapshot_are_judged_without_the_past():
    api = JudgedWorld()
    api.apply_domains(key=None)
    before = api.save_state()
    api.set_flag(False, key="a")
    operation = api.start_operation()
    api.engine.restore(before)
    api.set_flag(True, key="a")  # the restored world does not contain the first use of this key
    api.poll(operation)

    assert api.broken_rules(final=True) == [(MISSING, [1])]
    assert api.conduct_report().judged == 5


def test_an_operation_of_a_discarded_past_need_not_be_followed():
    api = JudgedWorld()
    before = api.save_state()
    api.start_operation()
    api.engine.restore(before)

    assert api.broken_rules(final=True) == []


def test_rules_can_be_ignored():
    api = JudgedWorld()
    api.apply_domains(key=None)

    conduct = watch_of(api.engine).look([MISSING])

    assert (conduct.findings, conduct.counts) == ([], {})
    assert api.broken_rules() == [(MISSING, [1])]


@pytest.mark.parametrize("id_", RULES)
def test_every_rule_has_a_reason_and_a_remedy(id_: str):
    rule = RULES[id_]

    assert rule.id == id_ == id_.lower()
    assert id_.replace("-", "").isalpha()
    assert rule.place.startswith(("contract, section ", "RFC "))
    for text in (rule.title, rule.because, rule.matters, rule.instead):
        assert text[0].isprintable()
        assert "  " not in text
    assert rule.matters.endswith(".")
    assert rule.instead.endswith(".")


def test_remembered_values_are_bounded():
    recent: Recent[int, int] = Recent()
    for n in range(Recent.MOST + 10):
        recent.keep(n, n)

    assert len(recent) == Recent.MOST
    assert min(recent) == 10


@pytest.mark.benchmark
def test_a_thousand_exchanges_are_judged_in_50_milliseconds():
    api = InProcess()
    for n in range(CAPACITY // 5):
        api.set_flag(bool(n % 2))
        api.deployments("?limit=20")
        api.dns()
        api.poll(api.apply_domains().json["id"])

    def judged_in_s() -> float:
        start_s = perf_counter()
        assert Watch(api.engine).look().judged == CAPACITY
        return perf_counter() - start_s

    assert min(judged_in_s() for _ in range(5)) < 0.05
