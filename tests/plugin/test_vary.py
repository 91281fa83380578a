"""Varied worlds in tests: by options, by the mark, by variables, and the report of a failure."""

from __future__ import annotations

import pytest

from tests.plugin.conftest import Suite

SEEN = """
import pytest

def test_it(hosting_emulator, hosting_emulator_worlds):
    more = hosting_emulator_worlds(vary="mine", vary_only="key-order")
    assert more.variation.seed == "mine"
    found = hosting_emulator.variation
    assert (found and (found.seed, found.only)) == {expected}
"""


def write(suite: Suite, expected: object) -> None:
    suite.write(test_it=SEEN.replace("{expected}", repr(expected)))


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOSTING_EMULATOR_VARY", "HOSTING_EMULATOR_VARY_ONLY"):
        monkeypatch.delenv(name, raising=False)


def test_options_make_responses_vary(suite: Suite):
    write(suite, ("7", ["page-size", "key-order"]))

    suite.passes("--hosting-emulator-vary=7", "--hosting-emulator-vary-only=key-order,page-size")


def test_ini_values_make_responses_vary(suite: Suite):
    write(suite, ("7", ["key-order"]))
    suite.ini("hosting_emulator_vary = 7", "hosting_emulator_vary_only = key-order")

    suite.passes()


def test_variables_make_responses_vary(suite: Suite, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOSTING_EMULATOR_VARY", "9")
    monkeypatch.setenv("HOSTING_EMULATOR_VARY_ONLY", "key-order,page-size")
    write(suite, ("9", ["page-size", "key-order"]))
    suite.passes()

    write(suite, ("7", None))
    suite.passes("--hosting-emulator-vary=7")


def test_the_mark_makes_responses_vary(suite: Suite):
    suite.write(
        test_it="""
        import pytest

        @pytest.mark.hosting_scenario(vary=3)
        def test_alone(hosting_emulator):
            assert hosting_emulator.variation.seed == "3"
            assert hosting_emulator.clock.mode == "frozen"

        @pytest.mark.hosting_scenario("stuck-operation", vary="x", vary_only=["key-order"])
        def test_beside_a_name(hosting_emulator):
            assert hosting_emulator.variation.only == ["key-order"]
        """
    )

    suite.passes("--hosting-emulator-vary=7")


def test_the_mark_accepts_seed_and_points_as_a_mapping(suite: Suite):
    suite.write(
        test_it="""
        import pytest

        @pytest.mark.hosting_scenario(vary={"seed": 2, "only": ["scope-order"]})
        def test_by_the_mark(hosting_emulator, hosting_emulator_worlds):
            more = hosting_emulator_worlds(vary={"seed": "x", "only": ["key-order"]})
            for world, seed, point in ((hosting_emulator, "2", "scope-order"), (more, "x", "key-order")):
                assert (world.variation.seed, world.variation.only) == (seed, [point])
            more.vary({"seed": 3})
            assert (more.variation.seed, more.variation.only) == ("3", None)
        """
    )

    suite.passes()


@pytest.mark.parametrize("vary", ['{"seeds": 2}', "1.5", '{"seed": 2, "only": []}'])
def test_an_invalid_seed_is_refused_in_one_line(suite: Suite, vary: str):
    suite.write(
        test_it=f"""
        import pytest

        @pytest.mark.hosting_scenario(vary={vary})
        def test_by_the_mark(hosting_emulator):
            pass
        """
    )

    result = suite.run()

    assert result.ret == 1
    result.stdout.fnmatch_lines(["E* hosting emulator: *vary*"])
    assert "Traceback" not in result.stdout.str()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hosting-emulator-vary-only=key-order"], "add a seed with --hosting-emulator-vary;"),
        (
            ["--hosting-emulator-vary=7", "--hosting-emulator-vary-only=key-orders"],
            "key-order?",
        ),
    ],
)
def test_impossible_variation_options_are_refused_in_one_line(
    suite: Suite, arguments: list[str], message: str
):
    suite.write(test_it="def test_it(hosting_emulator): pass")

    result = suite.run(*arguments)

    assert result.ret != 0
    assert message in result.stdout.str() + result.stderr.str()


def test_a_failed_varied_test_prints_seed_points_and_a_command_that_repeats_it(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask

        def test_it(hosting_emulator):
            for _ in range(8):
                ask(hosting_emulator, "edge-dns")
            assert False
        """
    )

    output = suite.run("--hosting-emulator-vary=7").stdout.str()

    assert "varied   by seed 7: " in output
    assert "extra-fields" in output
    assert "--hosting-emulator-vary=7 (pytest)" in output
