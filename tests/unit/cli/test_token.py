"""`token` prints a token and nothing else, unless asked."""

import json

from tests.unit.cli.samples import TOKEN
from tests.unit.client.fake_control import FakeControl, Says


def test_token_alone_is_printed(ask, control: FakeControl):
    control.on("POST /worlds/default/tokens", Says(TOKEN, 201))

    result = ask("token")

    assert (result.stdout, result.stderr) == ("eyJ.eyJ.sig\n", "")
    asked = control.bodies("POST /worlds/default/tokens")
    assert asked == [{"as": "owner", "interactive": True}]


def test_token_as_json(ask, control: FakeControl):
    control.on("POST /worlds/default/tokens", Says(TOKEN, 201))

    assert json.loads(ask("token", "--json").stdout) == TOKEN


def test_every_option_is_passed_on(ask, control: FakeControl):
    control.on("POST /worlds/w/tokens", Says(TOKEN, 201))

    ask(
        *("token", "--world", "w", "--as", "reader", "--organization", "free"),
        *("--api-client", "--expires-in", "1h30m"),
    )

    assert control.bodies("POST /worlds/w/tokens") == [
        {
            "as": "reader",
            "organization": "free",
            "interactive": False,
            "expires_in_seconds": 5400,
        }
    ]
