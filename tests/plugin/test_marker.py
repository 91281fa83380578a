"""`@pytest.mark.hosting_scenario`, and the fixture that it sets."""

from __future__ import annotations

from fnmatch import fnmatch

import pytest

from tests.plugin.conftest import Suite

SKIPPING = "name: skipping\ndescription: Time jumps.\nclock: {mode: skip}\n"
ABOUT = """
def scenario_of(emulator):
    return str(emulator.report_document().scenario)
"""


@pytest.fixture(autouse=True)
def about(suite: Suite) -> None:
    suite.write(about=ABOUT)


def test_the_closest_mark_wins(suite: Suite):
    suite.ini("addopts = --strict-markers")
    suite.write(
        test_it="""
        import pytest
        from about import scenario_of

        pytestmark = pytest.mark.hosting_scenario("stuck-operation")

        def test_of_the_module(hosting_emulator):
            assert "stuck-operation" in scenario_of(hosting_emulator)

        @pytest.mark.hosting_scenario("rate-limited")
        class TestClass:
            def test_of_the_class(self, hosting_emulator):
                assert "rate-limited" in scenario_of(hosting_emulator)

            @pytest.mark.hosting_scenario("ticket-expired")
            def test_of_its_own(self, hosting_emulator):
                assert "ticket-expired" in scenario_of(hosting_emulator)

        @pytest.mark.parametrize("name", [
            pytest.param(name, marks=pytest.mark.hosting_scenario(name))
            for name in ("failed-operation", "failed-deployment")
        ])
        def test_of_a_parameter(hosting_emulator, name):
            assert name in scenario_of(hosting_emulator)
        """
    )
    assert suite.passes().parseoutcomes() == {"passed": 5}


def test_the_mark_finds_a_file_beside_the_test_or_in_the_root(suite: Suite):
    (suite.path / "root.yaml").write_text(SKIPPING, encoding="utf-8")
    folder = suite.pytester.mkdir("checkout")
    (folder / "beside.yaml").write_text(SKIPPING, encoding="utf-8")
    suite.ini()
    (folder / "test_it.py").write_text(
        """
import pytest
from pathlib import Path

@pytest.mark.hosting_scenario("beside.yaml")
def test_beside(hosting_emulator):
    assert hosting_emulator.clock.mode == "skip"

@pytest.mark.hosting_scenario("root.yaml")
def test_in_the_root(hosting_emulator):
    assert hosting_emulator.clock.mode == "skip"

@pytest.mark.hosting_scenario(Path(__file__).parent / "beside.yaml", clock="real")
def test_with_a_path(hosting_emulator):
    assert hosting_emulator.clock.mode == "real"
""",
        encoding="utf-8",
    )
    suite.passes()


def test_keywords_of_the_mark_are_a_scenario_or_override_one(suite: Suite):
    suite.write(
        test_it="""
        import pytest
        from calling import apply_domains, ask

        @pytest.mark.hosting_scenario(
            clock="skip",
            faults=[{"abort": {"code": "rate_limited"}, "call": "list_deployments", "times": 1}],
            timeline=[{"at": "1h", "intervene": {"hold_claim": {"project": "shop"}}}],
        )
        def test_inline(hosting_emulator):
            asked = [ask(hosting_emulator, "deployments") for _ in range(2)]
            assert asked == [429, 200]
            assert hosting_emulator.clock.mode == "skip"

        @pytest.mark.hosting_scenario(outcomes=[{"fail": {"phase": "deploying"}}])
        def test_an_outcome(hosting_emulator):
            apply_domains(hosting_emulator)
            operation, = hosting_emulator.operations(unfinished=True)
            assert hosting_emulator.clock.until(operation.id) == "failed"

        @pytest.mark.hosting_scenario(world={
            "organizations": [{"alias": "tiny"}],
            "users": [{"alias": "ann", "organizations": {"tiny": "owner"},
                        "projects": {"site": "owner"}}],
            "projects": [{"alias": "site", "organization": "tiny"}],
        })
        def test_world(hosting_emulator):
            assert list(hosting_emulator.projects) == ["site"]
            assert ask(hosting_emulator, "deployments", user="ann") == 200

        @pytest.mark.hosting_scenario(
            "stuck-operation", clock={"mode": "scaled", "rate": 60}, seed="another",
            assumptions={"accepted_status": 200},
        )
        def test_over(hosting_emulator):
            world = hosting_emulator.summary
            assert world.clock.rate == 60
            assert world.assumptions == {"accepted_status": 200}
            assert world.seed == "another"
        """
    )
    suite.passes()


#: Arguments of the mark, and the pattern of its error.
INVALID_MARKS = (
    ("'stuck-oper'", "*stuck-oper: *"),
    ("'missing.yaml'", "*/missing.yaml"),
    ("falts=[]", "hosting_scenario has no keyword 'falts'; * faults[?] *"),
    ("story=[]", "hosting_scenario has no keyword 'story'; the keywords are *"),
    ("", "hosting_scenario is empty: *"),
    ("'rate-limited', 'ticket-expired'", "hosting_scenario takes one name or file, *"),
    ("['rate-limited']", "hosting_scenario takes one name or file, *"),
    (
        "'rate-limited', faults=[]",
        "hosting_scenario('rate-limited', faults=…): with a name or file, only "
        "assumptions, clock, seed, vary and vary_only are allowed",
    ),
    ("clock='stopped'", "'stopped' *"),
    ("'rate-limited', clock='stopped'", "'stopped' *"),
    ("assumptions={'a': object()}", "the scenario cannot be written as JSON: *"),
    (
        "faults=[{'abort': {'code': 'rate_limit'}}]",
        "test_it.py::test_* (inline):1:* rate_limited[?]*",
    ),
    ("'broken.yaml'", "*broken.yaml:2:*"),
)


def test_an_invalid_mark_fails_in_one_line(suite: Suite):
    (suite.path / "broken.yaml").write_text("name: broken\ndescription: [1]\n", encoding="utf-8")
    tests = [
        f"@pytest.mark.hosting_scenario({mark})\ndef test_{n}(hosting_emulator): pass\n"
        for n, (mark, _) in enumerate(INVALID_MARKS)
    ]
    suite.write(test_it="\n".join(["import pytest", *tests]))

    result = suite.run()

    result.assert_outcomes(errors=len(INVALID_MARKS))
    output = result.stdout.str().partition("short test summary")[0]
    for part, (_, message) in zip(
        output.split("ERROR at setup of")[1:], INVALID_MARKS, strict=True
    ):
        _, line, *rest = part.splitlines()
        assert fnmatch(line, f"hosting emulator: {message}"), line
        assert all(more.startswith(("___", "===")) for more in rest), part


def test_a_fixture_can_choose_the_scenario_without_a_mark(suite: Suite):
    (suite.path / "skipping.yaml").write_text(SKIPPING, encoding="utf-8")
    suite.write(
        conftest="""
        import pytest

        @pytest.fixture
        def hosting_emulator_scenario():
            return "stuck-operation"
        """,
        test_it="""
        import pytest
        from about import scenario_of

        def test_name(hosting_emulator):
            assert "stuck-operation" in scenario_of(hosting_emulator)

        @pytest.mark.hosting_scenario("rate-limited")
        def test_mark(hosting_emulator):
            assert "rate-limited" in scenario_of(hosting_emulator)

        class TestFile:
            @pytest.fixture
            def hosting_emulator_scenario(self):
                return "skipping.yaml"

            def test_file(self, hosting_emulator, hosting_emulator_worlds):
                assert hosting_emulator.clock.mode == "skip"
                assert hosting_emulator_worlds().clock.mode == "skip"

        class TestDocument:
            @pytest.fixture
            def hosting_emulator_scenario(self):
                return {"clock": {"mode": "real"}}

            def test_document(self, hosting_emulator):
                assert hosting_emulator.clock.mode == "real"

        class TestNone:
            @pytest.fixture
            def hosting_emulator_scenario(self):
                return None

            def test_none(self, hosting_emulator):
                assert scenario_of(hosting_emulator) == "None"
                assert hosting_emulator.clock.mode == "frozen"
        """,
    )
    assert suite.passes().parseoutcomes() == {"passed": 5}
