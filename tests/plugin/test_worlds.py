"""Worlds of tests: a fresh world for each test, shared worlds, several worlds, and unittest cases."""

from __future__ import annotations

import sys

import pytest

from tests.plugin.conftest import Suite


def test_each_test_has_a_fresh_world_that_is_deleted(suite: Suite):
    suite.write(
        test_it="""
        import pytest
        from calling import apply_domains

        seen = []

        @pytest.mark.parametrize("turn", range(3))
        def test_it(hosting_emulator, turn):
            assert apply_domains(hosting_emulator) == 202
            path = f"worlds/{hosting_emulator.name}/operations?unfinished=true"
            assert len(hosting_emulator.control.get(path)["items"]) == 1
            seen.append(hosting_emulator.name)

        def test_the_others_are_gone(hosting_emulator_server):
            assert len(set(seen)) == 3
            left = [world.name for world in hosting_emulator_server.control.worlds()]
            assert left == ["default"]
        """
    )
    suite.passes()


def test_a_world_fixture_can_have_any_scope(suite: Suite):
    suite.write(
        conftest="""
        from pytest_hosting_emulator import world_fixture

        everywhere = world_fixture("session", clock="skip")
        in_package = world_fixture("package")
        """,
        test_a="""
        import pytest
        from calling import apply_domains
        from pytest_hosting_emulator import world_fixture

        shop = world_fixture(scenario="stuck-operation", name="the_shop")
        mine = world_fixture("class", seed="mine", assumptions={"accepted_status": 200})
        fresh = world_fixture(scope="function", clock={"mode": "real"})

        class TestClass:
            def test_first(self, mine, the_shop, everywhere, in_package, fresh):
                assert apply_domains(mine) == 200
                assert everywhere.clock.mode == "skip"
                assert fresh.clock.mode == "real"
                assert mine.summary.seed == "mine"
                type(self).seen = [mine.name, the_shop.name, everywhere.name, in_package.name]

            def test_second(self, mine, the_shop, everywhere, in_package):
                assert mine.requests.assert_made("apply_project_domains", times=1)
                seen = [mine.name, the_shop.name, everywhere.name, in_package.name]
                assert seen == self.seen

        class TestOther:
            def test_third(self, mine, the_shop):
                assert apply_domains(mine) == 200
                assert mine.name != TestClass.seen[0]
                assert the_shop.name == TestClass.seen[1]
        """,
        test_b="""
        import test_a

        def test_what_is_left(everywhere, in_package, hosting_emulator_server):
            left = {world.name for world in hosting_emulator_server.control.worlds()}
            assert left == {"default", everywhere.name, in_package.name}
            assert [everywhere.name, in_package.name] == test_a.TestClass.seen[2:]
        """,
    )
    assert suite.passes().parseoutcomes() == {"passed": 4}


def test_a_test_can_have_more_worlds(suite: Suite):
    suite.write(
        test_it="""
        import pytest
        from concurrent.futures import ThreadPoolExecutor

        @pytest.mark.hosting_scenario("stuck-operation", clock="skip")
        def test_it(hosting_emulator, hosting_emulator_worlds):
            another = hosting_emulator_worlds()
            real = hosting_emulator_worlds(clock="real", name="by-name")
            other = hosting_emulator_worlds("rate-limited", seed="x")
            inline = hosting_emulator_worlds({"clock": "scaled:2"})

            assert [world.clock.mode for world in (hosting_emulator, another, real, other, inline)] == [
                "skip", "skip", "real", "frozen", "scaled"]
            assert real.name == "by-name"

        def test_in_threads(hosting_emulator_worlds):
            with ThreadPoolExecutor(8) as pool:
                made = list(pool.map(lambda _: hosting_emulator_worlds(), range(40)))
            assert len({world.name for world in made}) == 40

        def test_what_is_wrong(hosting_emulator_worlds):
            with pytest.raises(pytest.fail.Exception, match="^hosting emulator: .*no scenario"):
                hosting_emulator_worlds("nothing")

        def test_none_is_left(hosting_emulator_server):
            left = [world.name for world in hosting_emulator_server.control.worlds()]
            assert left == ["default"]
        """
    )
    assert suite.passes().parseoutcomes() == {"passed": 4}


def test_unittest_cases_run_by_pytest_have_a_world(suite: Suite):
    suite.write(
        test_it="""
        import unittest
        import pytest
        from calling import ask

        @pytest.mark.usefixtures("hosting_emulator")
        class TestMarked(unittest.TestCase):
            def test_it(self):
                pass

        @pytest.mark.hosting_scenario(faults=[{"abort": {"code": "rate_limited"}}])
        class TestHeld(unittest.TestCase):
            @pytest.fixture(autouse=True)
            def hold(self, hosting_emulator):
                self.emulator = hosting_emulator

            def test_it(self):
                self.assertEqual(ask(self.emulator, "deployments"), 429)

            def test_fails(self):
                ask(self.emulator, "deployments")
                self.fail("to see the report")
        """
    )
    result = suite.run()

    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*- hosting emulator -*", "1 request", "*list_deployments*429*"])


def test_unittest_cases_without_pytest_can_start_an_emulator(suite: Suite):
    suite.write(
        plain="""
        import sys
        import unittest
        from calling import apply_domains
        from pytest_hosting_emulator import BackgroundEmulator

        class Test(unittest.TestCase):
            @classmethod
            def setUpClass(cls):
                cls.server = cls.enterClassContext(BackgroundEmulator())

            def setUp(self):
                self.emulator = self.enterContext(self.server.world("stuck-operation"))

            def test_first(self):
                self.assertEqual(apply_domains(self.emulator), 202)

            def test_second(self):
                self.assertEqual(apply_domains(self.emulator), 202)
                self.assertEqual(len(self.server.control.worlds()), 2)
                self.assertFalse("pytest" in sys.modules)
        """
    )
    result = suite.pytester.run(sys.executable, "-W", "error", "-m", "unittest", "-v", "plain")

    assert result.ret == 0, result.stderr.str()
    result.stderr.fnmatch_lines(["Ran 2 tests in *", "OK"])


@pytest.mark.parametrize("mode", ["auto", "strict"])
def test_async_tests_have_a_world(suite: Suite, mode: str):
    suite.write(
        test_it="""
        import asyncio
        import pytest
        from calling import apply_domains

        @pytest.mark.asyncio
        async def test_it(hosting_emulator):
            assert await asyncio.to_thread(apply_domains, hosting_emulator) == 202
        """
    )
    suite.ini("asyncio_default_fixture_loop_scope = function")
    suite.passes("-p", "pytest_asyncio.plugin", f"--asyncio-mode={mode}")


def test_the_emulator_can_listen_at_a_given_address(suite: Suite):
    suite.write(
        conftest="""
        import pytest

        @pytest.fixture(scope="session")
        def hosting_emulator_listen_address():
            return ("localhost", 0)
        """,
        test_it="""
        def test_it(hosting_emulator):
            assert hosting_emulator.base_url.startswith("http://localhost:")
        """,
    )
    suite.passes()


def test_an_address_in_use_is_refused_in_one_line(suite: Suite):
    suite.write(
        conftest="""
        import pytest, socket

        @pytest.fixture(scope="session")
        def hosting_emulator_listen_address():
            with socket.create_server(("127.0.0.1", 0)) as taken:
                yield taken.getsockname()
        """,
        test_it="def test_it(hosting_emulator): pass",
    )
    result = suite.run()

    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["hosting emulator: port * on 127.0.0.1 *"])
    assert "Traceback" not in result.stdout.str()
