"""The names of failed tests in the output of test runners."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.failed_tests import failed_tests
from hosting_emulator_lab.judge.judgment_document import symptom_text
from hosting_emulator_lab.judge.symptoms import symptoms_of
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import read_trial


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            "FAILED tests/test_shop.py::test_deploys[new shop] - AssertionError: 1 - 2",
            "tests/test_shop.py::test_deploys[new shop]",
        ),
        ("ERROR tests/test_shop.py::test_deploys", "tests/test_shop.py::test_deploys"),
        (
            "FAIL: test_deploys (test_shop.ShopTest.test_deploys)",
            "test_deploys (test_shop.ShopTest.test_deploys)",
        ),
        ("    --- FAIL: TestShop/deploys (0.21s)", "TestShop/deploys"),
        ("not ok 2 - deploys the shop # time=3ms", "deploys the shop"),
        ("  ✖ deploys the shop (213.5ms)", "deploys the shop"),
        ("\\x1b[31m✖ deploys the shop \\x1b[90m(213.5ms)\\x1b[39m", "deploys the shop"),
        (" FAIL  shop.test.ts > shop > deploys", "shop.test.ts > shop > deploys"),
        ("  ● shop \u203a deploys", "shop \u203a deploys"),
        ("ShopTest > deploys() FAILED", "ShopTest > deploys()"),
        ("[ERROR]   ShopTest.deploys:31 expected: <1> but was: <2>", "ShopTest.deploys"),
        ("  Failed Shop.Tests.Deploys [213 ms]", "Shop.Tests.Deploys"),
    ],
)
def test_a_failed_test_of_each_common_runner_is_recognized(line: str, name: str) -> None:
    assert failed_tests(["running", line, line, "done"]) == (name,)


@pytest.mark.parametrize(
    "line",
    [
        "ok 1 - deploys",
        "✔ deploys (2.1ms)",
        "PASSED tests/test_shop.py::test_deploys",
        "the deployment FAILED",
        "✖ failing tests:",
        "FAILED (failures=1)",
        "Failed to connect [3 attempts]",
    ],
)
def test_other_lines_name_no_failed_test(line: str) -> None:
    assert failed_tests([line]) == ()


def test_a_symptom_names_the_tests_that_failed() -> None:
    lines = tuple(f"FAILED test_shop.py::test_{number} - Error" for number in range(1, 6))
    trial = read_trial("create_user_api_key#1/timeout/after_commit")
    result = TrialResult(trial, "failed", ("exit code 1",), 1, 0.5, printed_lines=lines)
    [(_, symptom)] = symptoms_of(result)
    assert len(symptom.failed_tests) == 5
    assert symptom_text(symptom).endswith(
        "Failed tests: test_shop.py::test_1, test_shop.py::test_2, test_shop.py::test_3, and 2 more."
    )
