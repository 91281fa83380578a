"""With unittest classes under pytest: a fixture provides the world, with marks and reports."""

# ruff: noqa: PT009 - unittest's own assertions are meant here
from __future__ import annotations

import unittest

import httpx
import pytest

from pytest_hosting_emulator import HostingEmulator


@pytest.mark.hosting_scenario("provider-outage")
class OutageTest(unittest.TestCase):
    emulator: HostingEmulator

    @pytest.fixture(autouse=True)
    def _hold(self, hosting_emulator: HostingEmulator):
        self.emulator = hosting_emulator

    def test_calls_are_refused_during_an_outage(self):
        url = f"{self.emulator.base_url}/v1/projects/{self.emulator.project}/database/compute"
        response = httpx.get(
            url, params={"environment": "dev"}, headers=self.emulator.headers("owner")
        )
        self.assertEqual(response.status_code, 503)
