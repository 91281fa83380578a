"""`token` prints a token and nothing else, unless asked."""

import json

import pytest

from tests.unit.cli.samples import TOKEN
from tests.unit.sdk.fake_control import FakeControl, Says


def test_token_alone_is_printed(ask, control: FakeControl):
    control.on("POST /worlds/default/tokens", Says(TOKEN, 201))

    result = ask("token")

    assert (result.stdout, result.stderr) == ("eyJ.eyJ.sig\n", "")
    asked = control.bodies("POST /worlds/default/tokens")
    assert asked == [{"as": "owner", "interactive": True}]


def test_token_as_json(ask, control: FakeControl):
    control.on("POST /worlds/default/tokens", Says(TOKEN, 201))

    assert json.loads(ask("token", "--json").stdout) == TOKEN


def test_an_api_key_is_made_instead(ask, control: FakeControl):
    made = {"value": "phk_new", "key": {"id": "01KEY"}}
    control.on("POST /worlds/default/api-keys", Says(made, 201))

    plain = ask("token", "--api-key")
    less = ask(
        *("token", "--api-key", "--as", "reader", "--organization", "free", "--json"),
        *("--permission", "dns.read", "--permission", "projects.read"),
    )

    assert (plain.stdout, plain.stderr) == ("phk_new\n", "")
    assert json.loads(less.stdout) == made
    assert control.bodies("POST /worlds/default/api-keys") == [
        {"as": "owner"},
        {"as": "reader", "organization": "free", "permissions": ["dns.read", "projects.read"]},
    ]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--api-key", "--api-client"), "leave out --api-client and --expires-in"),
        (("--api-key", "--expires-in", "5m"), "leave out --api-client and --expires-in"),
        (("--permission", "dns.read"), "--permission belongs to --api-key"),
    ],
)
def test_what_does_not_go_together_is_refused(ask, options: tuple[str, ...], why: str):
    result = ask("token", *options)

    assert result.exit_code == 2
    assert why in result.stderr
    assert result.stderr.count("\n") == 1


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
