"""The plugin's own texts and decisions, called directly: labels, verdicts, options and summaries."""

from __future__ import annotations

import re
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import to_builtins

from hosting_emulator.sdk import ConductFinding, ConductReport, EmulatorUnreachable
from pytest_hosting_emulator import explore, verdicts
from pytest_hosting_emulator.options import Choices
from pytest_hosting_emulator.run_report import ReportExtras, RunReport, as_typed
from pytest_hosting_emulator.verdicts import SeenWorld, Verdict, _real_files, file_name


def finding_of(severity: Any, rule: str, n: int) -> ConductFinding:
    return ConductFinding(
        rule=rule,
        severity=severity,
        title=f"It breaks {rule}",
        message=f"It broke {rule}.",
        requests=[n],
        more_requests=0,
        at="2026-01-01T00:00:00.000Z",
        because="The contract says so.",
        place="Section 1",
        matters="It harms.",
        instead=f"Keep {rule}.",
    )


WARNING = finding_of("warning", "poll-early", 3)
NOTE = finding_of("note", "no-request-id", 4)


def conduct_of(*findings: ConductFinding) -> ConductReport:
    return ConductReport(
        judged=5,
        unseen=0,
        findings=list(findings),
        counts={},
        skipped_rules=[],
        remarks=[],
        errors=[],
        complete=True,
    )


def seen_world(
    fixture: str = "shop",
    ended: str | None = None,
    *findings: ConductFinding,
    observation: Any = None,
) -> SeenWorld:
    chapter: Any = SimpleNamespace(world="w-1", index=2, ended=ended, conduct=conduct_of(*findings))
    return SeenWorld(observation, chapter, fixture)


# --- Verdicts -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fixture", "ended", "label"),
    [
        ("hosting_emulator", None, ""),
        ("hosting_emulator", "reset", "world w-1, before its reset"),
        ("shop", None, "shop"),
        ("shop", "deleted", "shop, deleted"),
        ("shop", "loaded", "shop, before a scenario was loaded"),
        ("", None, "world w-1"),
        ("", "replaced", "world w-1, before its state was replaced"),
    ],
)
def test_a_world_has_the_name_of_its_fixture_and_the_reason_of_its_end(
    fixture: str, ended: str | None, label: str
):
    world = seen_world(fixture, ended)

    assert world.label == label
    assert world.prefix == (f"{label}: " if label else "")


def failure_of(verdict: Verdict) -> str:
    """Return the message with which a verdict fails a test."""
    with pytest.raises(pytest.fail.Exception) as caught:
        verdict.accuse()
    assert not caught.value.pytrace
    return str(caught.value.msg)


RULE_LINES = [
    "warning: It breaks poll-early [poll-early]",
    "    #3: It broke poll-early.",
    "    why      It harms. “The contract says so.” (Section 1)",
    "    instead  Keep poll-early.",
]


def test_a_verdict_fails_a_test_with_the_findings_of_each_world_and_the_errors():
    verdict = Verdict(
        [
            (world, world.chapter.conduct)
            for world in (
                seen_world("hosting_emulator", None, NOTE, WARNING),
                seen_world("shop", "reset", WARNING),
                seen_world("calm", None, NOTE),
            )
        ]
    )
    verdict.errors = ["a judge failed", "the emulator is gone"]

    assert failure_of(verdict).splitlines() == [
        "conduct: poll-early",
        "",
        "conduct: 1 finding (1 warning) in 5 requests",
        "",
        *RULE_LINES,
        "",
        "shop, before its reset: conduct: 1 finding (1 warning) in 5 requests",
        "",
        *RULE_LINES,
        "",
        "not judged:",
        "    a judge failed",
        "    the emulator is gone",
    ]


def test_a_verdict_without_findings_fails_a_test_only_for_its_errors():
    notes = [(seen_world(), conduct_of(NOTE))]

    Verdict().accuse()
    Verdict(notes).accuse()
    assert failure_of(Verdict(notes, errors=["it is gone"])) == (
        "conduct: no verdict\n\nnot judged:\n    it is gone"
    )


def test_a_verdict_collects_errors_unfinished_requests_and_the_conduct_of_its_worlds():
    world = seen_world("shop", None, NOTE)
    request = SimpleNamespace(method="PUT", path="/v1/x", world="w-1")
    report: Any = SimpleNamespace(errors=["a judge failed"], in_progress=[request])
    verdict = Verdict()

    verdict.add(report, [world])
    verdict.add(report, [])

    assert verdict.reports == [(world, world.chapter.conduct)]
    assert verdict.in_progress == ["PUT /v1/x (world w-1)"] * 2
    passed: Any = SimpleNamespace()
    verdicts.add_troubles(passed, verdict)
    verdicts.add_troubles(passed, Verdict())
    assert ReportExtras.of(passed).troubles == [
        *["not judged: a judge failed"] * 2,
        *["still in progress at the end of the test: PUT /v1/x (world w-1)"] * 2,
    ]


@pytest.mark.parametrize(
    ("keep", "when", "outcome", "is_kept"),
    [
        ("never", "call", "failed", False),
        ("failed", "setup", "failed", True),
        ("failed", "call", "passed", False),
        ("failed", "teardown", "skipped", False),
        ("all", "setup", "passed", False),
        ("all", "setup", "failed", True),
        ("all", "setup", "skipped", True),
        ("all", "call", "passed", True),
        ("all", "teardown", "passed", False),
    ],
)
def test_worlds_are_kept_once_by_the_option_keep(keep: str, when: str, outcome: str, is_kept: bool):
    with pytest.MonkeyPatch.context() as monkeypatch:
        choices = SimpleNamespace(keep=keep)
        monkeypatch.setattr(verdicts, "choices_of", lambda config: choices)
        item: Any = SimpleNamespace(config=None, stash=pytest.Stash())
        report: Any = SimpleNamespace(
            when=when, passed=outcome == "passed", failed=outcome == "failed"
        )

        assert verdicts.must_keep(item, report) == is_kept
        item.stash[verdicts._IS_SAVED] = True
        assert not verdicts.must_keep(item, report)
        verdicts.end_run_of_test(item)
        assert verdicts.must_keep(item, report) == is_kept


def test_a_failed_test_reports_and_keeps_its_worlds(tmp_path: Path):
    """The fifth world is only counted, and the world of the fixture needs no title."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        choices = SimpleNamespace(keep="failed", keep_dir=tmp_path / "kept", report="failed")
        choices.conduct = "error"
        monkeypatch.setattr(verdicts, "choices_of", lambda config: choices)
        wording = SimpleNamespace(
            without_commands=lambda document: f"{document} without commands",
            report_text=lambda document, conduct, color: f"{document}, {conduct}, {color}",
        )
        monkeypatch.setattr(verdicts, "report_wording", wording)
        observation: Any = SimpleNamespace(
            world_report=lambda index, requests: f"chapter {index}, {requests} requests",
            state=lambda index: {"chapter": index},
        )
        worlds = [
            seen_world(fixture, None, observation=observation)
            for fixture in ("hosting_emulator", "hosting_emulator", "shop", "shop", "")
        ]
        item: Any = SimpleNamespace(
            config=SimpleNamespace(invocation_params=SimpleNamespace(dir=tmp_path)),
            nodeid="test_it.py::test_it",
            stash=pytest.Stash(),
        )
        failed: Any = SimpleNamespace(failed=True, passed=False, when="teardown")

        verdicts.add_stories(item, failed, worlds)

        names = [
            f"{file_name('test_it.py::test_it', suffix)}.json"
            for suffix in ("", "-2", "shop", "shop-2", "w-1")
        ]
        assert sorted(path.name for path in (tmp_path / "kept").iterdir()) == sorted(names)
        assert (tmp_path / "kept" / names[0]).read_text() == '{\n "chapter": 2\n}\n'
        text = "chapter 2, 1000 requests without commands, None, True"
        kept = [f"kept: hosting-emulator start --ephemeral --import kept/{name}" for name in names]
        extras = ReportExtras.of(failed)
        assert extras.sections == [
            ("hosting emulator", f"{text}\n{kept[0]}"),
            ("hosting emulator", f"{text}\n{kept[1]}"),
            ("hosting emulator: shop", f"{text}\n{kept[2]}"),
            ("hosting emulator: shop", f"{text}\n{kept[3]}"),
            ("hosting emulator: world w-1", kept[4]),
        ]
        assert extras.saved_files == [str(tmp_path / "kept" / name) for name in names]
        assert extras.troubles == extras.unsaved == []


def test_worlds_after_the_fourth_are_counted_and_an_unreachable_emulator_is_asked_once(
    tmp_path: Path,
):
    with pytest.MonkeyPatch.context() as monkeypatch:
        choices = SimpleNamespace(keep="failed", keep_dir=tmp_path / "taken", report="failed")
        choices.conduct = "off"
        (tmp_path / "taken").write_text("a file")
        monkeypatch.setattr(verdicts, "choices_of", lambda config: choices)
        asked: list[int] = []

        def fail(index: int, requests: int) -> Any:
            asked.append(index)
            if len(asked) < 3:
                raise RuntimeError("two\nlines" if len(asked) == 1 else "")
            raise EmulatorUnreachable("http://x", "it is gone")

        observation: Any = SimpleNamespace(world_report=fail, state=lambda index: {})
        item: Any = SimpleNamespace(
            config=SimpleNamespace(invocation_params=SimpleNamespace(dir=tmp_path)),
            nodeid="test_it.py::test_it",
            stash=pytest.Stash(),
        )
        failed: Any = SimpleNamespace(failed=True, passed=False, when="call")

        verdicts.add_stories(item, failed, [seen_world("shop", observation=observation)] * 6)

        extras = ReportExtras.of(failed)
        *troubles, gone = extras.troubles
        assert asked == [2, 2, 2]
        assert troubles == [
            "no report available: two lines",
            "no report available: RuntimeError",
        ]
        assert gone.startswith("no report available: ")
        assert "it is gone" in gone
        assert extras.sections == [
            *(("hosting emulator: shop", trouble) for trouble in extras.troubles),
            ("hosting emulator", "and 3 more worlds of this test"),
        ]
        assert extras.unsaved == [f"in {tmp_path / 'taken'}: File exists"] * 6


@pytest.mark.parametrize(
    ("test", "suffix", "readable"),
    [
        ("tests/test_it.py::test_it[a/b]", "", "tests-test_it-test_it-a-b"),
        ("test_it.py::test_it", "shop", "test_it-test_it-shop"),
        ("ä", "", "test"),
        ("x" * 130, "", "x" * 120),
        (f"a{'-' * 119}", "", "a"),
    ],
)
def test_the_name_of_a_kept_file_is_the_test_and_a_digest(test: str, suffix: str, readable: str):
    name, _, digest = file_name(test, suffix).rpartition("-")

    assert name == readable
    assert re.fullmatch("[0-9a-f]{8}", digest)


# --- The summary of a run -------------------------------------------------------------------------


class Terminal:
    """The lines that a report prints."""

    hasmarkup = False

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str) -> None:
        self.lines.append(f"=== {title}")

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def summary_of(folder: Path, *extras: ReportExtras, failed: bool = False) -> list[str]:
    """Return the lines that a run prints after reports with these extras."""
    run = RunReport(folder)
    for number, each in enumerate(extras, 1):
        report: Any = SimpleNamespace(failed=failed, nodeid=f"test_{number}", longrepr="it fails")
        each.add_to(report)
        run.pytest_runtest_logreport(report)
    terminal: Any = Terminal()
    list(run.pytest_terminal_summary(terminal))
    lines: list[str] = terminal.lines
    return lines


def test_the_summary_of_a_run_names_findings_troubles_and_kept_worlds(tmp_path: Path):
    kept = ReportExtras(saved_files=[str(tmp_path / "kept" / "a.json")])
    also_kept = ReportExtras(saved_files=[str(tmp_path / "kept" / "b.json")])
    lost = ReportExtras(troubles=["no report"], unsaved=["in x: full"])
    conduct = ReportExtras(conduct=["test: 1 finding"], findings=[to_builtins(WARNING)])

    assert summary_of(tmp_path) == []
    assert summary_of(tmp_path, kept) == ["hosting emulator: 1 world is kept in kept"]
    assert summary_of(tmp_path, kept, kept, also_kept, failed=True) == [
        "hosting emulator: 2 worlds are kept in kept"
    ]
    assert summary_of(tmp_path, lost, failed=True) == [
        "hosting emulator: 1 world could not be saved in x: full"
    ]
    assert summary_of(tmp_path, lost, lost, conduct) == [
        "=== hosting emulator: conduct",
        "test: 1 finding",
        "",
        "poll-early: It breaks poll-early",
        "    instead  Keep poll-early.",
        "hosting emulator: test_1: no report",
        "hosting emulator: test_2: no report",
        "hosting emulator: 2 worlds could not be saved in x: full",
    ]


def test_a_path_is_shown_relative_to_the_folder_in_which_pytest_started(tmp_path: Path):
    assert as_typed(tmp_path / "a" / "b", tmp_path) == "a/b"
    assert as_typed(tmp_path, tmp_path / "a") == str(tmp_path)


# --- Exploration ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"longrepr": SimpleNamespace(reprcrash=SimpleNamespace(message="\n a\nb"))}, " a"),
        ({"longrepr": "first\nsecond"}, "first"),
        ({"longrepr": None, "outcome": "skipped"}, "skipped"),
        ({"longrepr": " \n"}, "it failed"),
        ({"longrepr": "gone", "when": "setup"}, "setup: gone"),
    ],
)
def test_the_reason_of_a_failed_run_is_one_line(fields: dict[str, Any], line: str):
    report: Any = SimpleNamespace(**{"when": "call", "outcome": "failed", **fields})

    assert explore._line_of(report) == line


def marked(*args: object, **kwargs: object) -> tuple[tuple[str, ...], dict[str, Any]]:
    marker = SimpleNamespace(args=args, kwargs=kwargs)
    item: Any = SimpleNamespace(get_closest_marker=lambda name: marker)
    return explore._marked(item)


def test_the_marker_selects_faults_outcomes_calls_and_the_number_of_runs():
    defaults = {"calls": (), "max_runs": vars(explore)["MAX_RUNS"], "quick": False}

    assert marked() == (vars(explore)["KINDS"], defaults)
    assert marked(faults="timeout") == (("timeout",), defaults)
    assert marked(outcomes=True) == (vars(explore)["OUTCOMES"], defaults)
    assert marked(faults=["timeout"], outcomes=True)[0] == ("timeout", *vars(explore)["OUTCOMES"])
    chosen = {"calls": ("list_deployments",), "max_runs": 1, "quick": True}
    assert marked(calls=["list_deployments"], max_runs=1, quick=1)[1] == chosen


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        (["timeout"], {}, "use faults=[...], outcomes=True, calls=[...], quick=True or max_runs=N"),
        (
            [],
            {"fault": 1},
            "there is no keyword 'fault': use faults, outcomes, calls, quick or max_runs",
        ),
        ([], {"max_runs": 0}, "max_runs must be a whole number greater than 0, not 0"),
        ([], {"max_runs": 1.5}, "max_runs must be a whole number greater than 0, not 1.5"),
        ([], {"faults": [1]}, "faults must be a list of names"),
        ([], {"calls": 7}, "calls must be a list of names"),
    ],
)
def test_a_marker_that_cannot_be_read_is_refused(
    args: list[object], kwargs: dict[str, object], message: str
):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        marked(*args, **kwargs)


def test_a_limit_ends_a_block_and_restores_the_alarm():
    before = signal.getsignal(signal.SIGALRM)

    with pytest.raises(pytest.fail.Exception) as caught, explore.limit(0.01):
        time.sleep(5)

    assert caught.value.msg == "hosting emulator: the test did not end within 0.01 s"
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) == before


def test_there_is_no_limit_in_another_thread_or_beside_another_alarm():
    timers: list[object] = []

    def look() -> None:
        with explore.limit(60):
            timers.append(signal.getitimer(signal.ITIMER_REAL))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    with explore.limit(None):
        timers.append(signal.getitimer(signal.ITIMER_REAL))
    assert timers == [(0.0, 0.0)] * 2
    with explore.limit(600):
        outer = signal.getitimer(signal.ITIMER_REAL)[0]
        with explore.limit(60):
            assert 60 < signal.getitimer(signal.ITIMER_REAL)[0] <= outer


# --- Options --------------------------------------------------------------------------------------


def choices(folder: Path, arguments: dict[str, str] | None = None, **ini_values: str) -> Choices:
    """Return the options of a run in a folder below the tests' root directory."""
    config: Any = SimpleNamespace(
        getoption=lambda name: (arguments or {}).get(name.removeprefix("hosting_emulator_")),
        getini=lambda name: ini_values.get(name.removeprefix("hosting_emulator_"), ""),
        rootpath=folder,
        inipath=folder / "pytest.ini",
        invocation_params=SimpleNamespace(dir=folder / "started"),
    )
    return Choices(config)


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOSTING_EMULATOR_CONTROL_TOKEN", "HOSTING_EMULATOR_EXEC_URL"):
        monkeypatch.delenv(name, raising=False)


def values_of(choices: Choices) -> dict[str, object]:
    """Return the options that differ from those of a run without options."""
    return {name: value for name, value in vars(choices).items() if not name.startswith("_")}


def test_the_options_of_a_run_without_options(tmp_path: Path):
    assert values_of(choices(tmp_path)) == {
        "url": None,
        "control_token": None,
        "server": "thread",
        "scenario": None,
        "clock": None,
        "assumptions": None,
        "seed": None,
        "vary": None,
        "vary_only": None,
        "point": None,
        "keep": "never",
        "keep_dir": tmp_path / "hosting-emulator-worlds",
        "report": "failed",
        "conduct": "off",
        "skip_rule": (),
        "shows_coverage": False,
        "coverage_file": None,
        "coverage_append": False,
    }


def test_an_option_of_the_command_line_takes_precedence_over_the_ini_file(tmp_path: Path):
    both = choices(
        tmp_path,
        {"seed": "typed", "vary": "", "keep_dir": "kept", "url": "http://typed/"},
        seed="ini",
        vary="ini",
        coverage="c.json",
        coverage_append="yes",
    )

    assert (both.seed, both.vary, both.url) == ("typed", None, "http://typed")
    assert both.keep_dir == tmp_path / "started" / "kept"
    assert both.coverage_file == tmp_path / "c.json"
    assert both.shows_coverage
    assert both.coverage_append


def test_tests_inside_exec_use_its_emulator_unless_they_choose_a_server(tmp_path: Path):
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("HOSTING_EMULATOR_EXEC_URL", "http://exec")
        monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "variable")

        assert choices(tmp_path).url == "http://exec"
        assert choices(tmp_path, server="thread").url is None
        assert choices(tmp_path, {"url": "https://typed"}).url == "https://typed"
        assert choices(tmp_path).control_token == "variable"
        assert choices(tmp_path, control_token="ini").control_token == "ini"


@pytest.mark.parametrize(
    ("arguments", "ini_values", "message"),
    [
        (
            {"keep": "some"},
            {},
            "--hosting-emulator-keep=some: use never, failed or all",
        ),
        (
            {},
            {"url": "localhost"},
            "hosting_emulator_url = localhost (in {folder}/pytest.ini): write an address like "
            "http://127.0.0.1:4620",
        ),
        (
            {"vary_only": "page-size"},
            {},
            "--hosting-emulator-vary-only=page-size: add a seed with --hosting-emulator-vary; "
            "without it, nothing is varied",
        ),
        (
            {"coverage": "test_it.py"},
            {},
            "--hosting-emulator-coverage=test_it.py: write --hosting-emulator-coverage=FILE.json, "
            "or put --hosting-emulator-coverage after the tests",
        ),
        (
            {"skip_rule": "zzz"},
            {},
            "--hosting-emulator-skip-rule=zzz: there is no rule 'zzz'",
        ),
    ],
)
def test_a_wrong_option_is_refused_with_its_source_and_what_would_be_right(
    tmp_path: Path, arguments: dict[str, str], ini_values: dict[str, str], message: str
):
    with pytest.raises(pytest.UsageError) as caught:
        choices(tmp_path, arguments, **ini_values)

    text = str(caught.value).partition("; the rules are ")[0]
    assert text == message.format(folder=tmp_path)


def test_the_settings_file_sets_the_worlds_of_tests(tmp_path: Path):
    file = tmp_path / "hosting-emulator.yaml"
    file.write_text(
        "scenario: stuck-operation\nseed: mine\nvary: five\nvary-only: [page-size, order]\n"
        "assume: {accepted_status: 200}\n",
        "utf-8",
    )

    read = choices(tmp_path)

    assert (read.scenario, read.seed) == ("stuck-operation", "mine")
    assert (read.vary, read.vary_only) == ("five", "page-size,order")
    assert read.assumptions == {"accepted_status": "200"}
    file.write_text("vary-only: [page-size]\n", "utf-8")
    with pytest.raises(pytest.UsageError) as caught:
        choices(tmp_path)
    assert str(caught.value).startswith("vary_only: page-size (in hosting-emulator.yaml): add a ")


def test_an_error_in_the_settings_file_is_a_usage_error(tmp_path: Path):
    (tmp_path / "hosting-emulator.yaml").write_text("sede: mine\n", "utf-8")

    with pytest.raises(pytest.UsageError) as caught:
        choices(tmp_path)

    assert "did you mean seed?" in str(caught.value)


def test_files_of_worlds_are_written_to_the_real_file_system():
    """pyfakefs replaces the file system while the fixture `fs` is in use."""
    calls: list[str] = []
    fake: Any = type("FakeFilesystem", (), {"__module__": "pyfakefs.fake_filesystem"})()
    fake.pause = lambda: calls.append("pause")
    fake.resume = lambda: calls.append("resume")
    item: Any = SimpleNamespace(funcargs={"fs": fake, "number": 1})

    with _real_files(item):
        calls.append("write")

    assert calls == ["pause", "write", "resume"]
