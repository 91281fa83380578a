"""Running schemathesis against a served document and reading its findings."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosting_emulator.sdk import HostingEmulator
from tests.support.http_world import HttpWorld

HOOKS = Path(__file__).with_name("schemathesis_hooks.py")
#: The folder for hypothesis' table of characters, shared with our own tests: creating it takes a second.
STORAGE = Path(__file__).parents[2] / ".hypothesis"
PHASES = ("examples", "coverage", "fuzzing", "stateful")
#: The share of generated requests that use a sample; the others use generated values.
SAMPLED = 0.85


@dataclass(frozen=True)
class Findings:
    """The report of a run of schemathesis."""

    report: dict[str, Any]
    output: str
    response_counts: dict[str, int]

    @property
    def cases(self) -> int:
        return int(self.report["test_cases"]["generated"])

    @property
    def failures(self) -> dict[str, int]:
        """The number of failures by kind: empty if every response is as documented."""
        counts: Counter[str] = Counter()
        for failure in self.report["failures"]:
            counts[failure["type"]] += failure["count"]
        return dict(counts)

    @property
    def phases(self) -> dict[str, str]:
        return {name: phase["status"] for name, phase in self.report["phases"].items()}

    @property
    def accepted(self) -> dict[str, int]:
        """The number of successful requests of each call."""
        return {
            call: sum(phase["accepted"] for phase in phases.values())
            for call, phases in self.report["valid_rates"].items()
        }

    @property
    def share(self) -> float:
        """The share of responses other than 404."""
        return 1 - self.response_counts["missing"] / self.response_counts["all"]

    def summary(self) -> str:
        """Return the figures of a run in a few lines."""
        failures = ", ".join(f"{count} x {kind}" for kind, count in self.failures.items())
        failures = failures or f"no failures ({self.report['filtered']} put aside)"
        links = [
            line for line in self.output.splitlines() if "Scenarios:" in line or "Links:" in line
        ]
        accepted = [f"  {count:6} accepted  {call}" for call, count in self.accepted.items()]
        totals = f"{self.cases} cases in {self.report['running_time']:.1f} s: {failures}"
        totals += (
            f"; {self.share:.0%} of {self.response_counts['all']} responses on existing resources"
        )
        return "\n".join(["", totals, *links, *accepted])


@dataclass(frozen=True)
class Target:
    """A document from which schemathesis generates requests.

    `samples` are useful values by location and parameter; `hidden` are statuses and problem codes to
    remove from the document first; `left_out` is a pattern of paths that are not requested.
    """

    document_url: str
    token: str
    samples: dict[str, dict[str, list[Any]]]
    hidden: tuple[str, ...] = ()
    left_out: str = ""


def public_target(api: HttpWorld, token: str | None = None) -> Target:
    """Return the public API of a world, with its ids, source generations and many new keys as samples."""
    emulator = api.emulator
    page = api.deployments("").json["items"]
    samples: dict[str, dict[str, list[Any]]] = {
        "path": {
            "project_id": list(emulator.projects.values()),
            "organization_id": list(emulator.organizations.values()),
            "operation_id": [deployment["operation_id"] for deployment in page[:6]],
        },
        "body": {"expected_source_generation": [1, 1, 2, 0]},
        "header": {"Idempotency-Key": [f"key-{number}" for number in range(2_000)]},
    }
    url = f"{emulator.control.control_url}/worlds/{emulator.name}/openapi.json"
    return Target(url, token or emulator.token(), samples)


def control_target(emulator: HostingEmulator) -> Target:
    """Return the control API of a process of its own, in which everything may change or be deleted."""
    control = emulator.control
    shop = control.get(emulator.control_path("projects"))["items"]
    operations = [
        deployment["operation_id"] for project in shop for deployment in project["deployments"][:2]
    ]
    samples: dict[str, dict[str, list[Any]]] = {
        "path": {
            "world": [emulator.name],
            "n": list(range(1, 6)),
            "name": [scenario.name for scenario in control.scenarios()[:5]],
            "operation": operations,
            "fault": [f"fault-{number}" for number in range(1, 6)],
            "snapshot": [f"snapshot-{number}" for number in range(1, 6)],
            "observation": [f"observation-{number}" for number in range(1, 6)],
            "chapter": ["0", "1"],
        },
    }
    # A stream of events has no end.
    return Target(f"{control.control_url}/openapi.json", emulator.token(), samples, (), "/events$")


def configuration(target: Target) -> str:
    """Return schemathesis.toml: the hooks, and the samples as dictionaries of the generators."""
    lines = [f"hooks = {json.dumps(str(HOOKS))}"]
    bound = ["[parameters]"]
    for place, parameters in target.samples.items():
        for name, values in parameters.items():
            lines += [f"[dictionaries.{name}]", f"values = {json.dumps(values)}"]
            binding = f'{{dictionary = "{name}", probability = {SAMPLED}}}'
            bound.append(f'"{place}.{name}" = {binding}')
    return "\n".join([*lines, *bound]) + "\n"


def run(
    target: Target, folder: Path, *, examples: int, phases: tuple[str, ...] = PHASES
) -> Findings:
    """Run the phases with every check and at most `examples` generated cases for each call and phase."""
    config, report, counts_file = (
        folder / name for name in ("schemathesis.toml", "report.json", "counts.json")
    )
    config.write_text(configuration(target))
    command = [
        sys.executable,
        "-m",
        "schemathesis.cli",
        "--config-file",
        str(config),
        "run",
        target.document_url,
        "--checks",
        "all",
        "--phases",
        ",".join(phases),
        "--header",
        f"Authorization: Bearer {target.token}",
        "--max-examples",
        str(examples),
        "--seed",
        "1",
        "--continue-on-failure",
        "--generation-database",
        "none",
        "--suppress-health-check",
        "all",
        "--report",
        "json",
        "--report-json-path",
        str(report),
        "--no-color",
        *(("--exclude-path-regex", target.left_out) if target.left_out else ()),
    ]
    settings = {"hidden": target.hidden, "counts": str(counts_file)}
    variables = {
        "HYPOTHESIS_STORAGE_DIRECTORY": str(STORAGE),
        **os.environ,
        "EMULATOR_FUZZING": json.dumps(settings),
    }
    process = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    assert report.exists(), process.stdout + process.stderr
    counts = json.loads(counts_file.read_text())
    return Findings(json.loads(report.read_text()), process.stdout + process.stderr, counts)
