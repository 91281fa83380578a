"""The head of a request: cookies of other servers on localhost do not hide the emulator's own."""

from __future__ import annotations

import pytest
from aiohttp.test_utils import make_mocked_request

from hosting_emulator.http.request_head import read_cookie


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("session=a.b-c_d", "a.b-c_d"),
        ("other=1; session=a; last=2", "a"),
        ('theme={"dark": 1}; session=a', "a"),
        ("user@app=1; session=a", "a"),
        ("bare; session=a", "a"),
        ("näme=ü; session=a", "a"),
        ("session=a=b", "a=b"),
        ("session=", ""),
        ("session=a; session=b", "a"),  # The browser sends the cookie with the longest path first.
        ("my-session=a", None),
        ("other=session=a", None),
        ("", None),
    ],
)
def test_a_cookie_is_read_whatever_other_cookies_the_browser_sends(header: str, value: str | None):
    request = make_mocked_request("GET", "/", {"Cookie": header})

    assert read_cookie(request, "session") == value
