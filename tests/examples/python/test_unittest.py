"""With unittest alone: `python -m unittest` needs no pytest, and pytest runs the test too."""

# ruff: noqa: PT009 - unittest's own assertions are meant here
from __future__ import annotations

import json
import unittest
import urllib.request
from typing import Any

from pytest_hosting_emulator import BackgroundEmulator, HostingEmulator


class DomainsTest(unittest.TestCase):
    server: BackgroundEmulator
    emulator: HostingEmulator

    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(BackgroundEmulator())  # one for all tests

    def setUp(self):
        self.emulator = self.enterContext(self.server.world())  # a fresh world for each

    def ask(self, method: str, path: str, **headers: str) -> Any:
        request = urllib.request.Request(
            self.emulator.base_url + path,
            method=method,
            headers={**self.emulator.headers("owner"), **headers},
        )
        with urllib.request.urlopen(request) as response:
            return json.load(response)

    def test_domains_are_applied(self):
        path = f"/v1/projects/{self.emulator.project}/domains"
        operation = self.ask("PUT", path, **{"Idempotency-Key": "domains-1"})
        self.assertEqual(self.emulator.clock.until(operation), "succeeded")

    def test_every_test_has_a_fresh_world(self):
        self.emulator.requests.assert_not_made("apply_project_domains")
