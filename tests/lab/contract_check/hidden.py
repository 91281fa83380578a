"""Servers whose deviation hides behind a response that shows nothing."""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from hosting_emulator_lab.contract_check import ALLOWED, CheckOptions
from tests.lab.contract_check.mutations import is_successful_poll, path_ends_with, refuse
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering

Make = Callable[[CheckOptions], Tampering]


class HiddenDeviation(NamedTuple):
    """A wrong server: the sentences in `breaks` get `verdict` if the check may change what `allow` lists."""

    name: str
    breaks: str
    verdict: str
    make: Make
    allow: tuple[str, ...] = ALLOWED


HIDDEN: list[HiddenDeviation] = []


def hide(name: str, breaks: str, verdict: str, *allow: str) -> Callable[[Make], Make]:
    def add(make: Make) -> Make:
        HIDDEN.append(HiddenDeviation(name, breaks, verdict, make, allow or ALLOWED))
        return make

    return add


class _Both(Tampering):
    def __init__(
        self,
        before: Callable[[Exchange], object] = lambda exchange: None,
        after: Callable[[Exchange], object] = lambda exchange: None,
    ) -> None:
        self._before = before
        self._after = after

    def before(self, exchange: Exchange) -> None:
        self._before(exchange)

    def after(self, exchange: Exchange) -> None:
        self._after(exchange)


# --- Idempotency-Keys -----------------------------------------------------------------------------

_CALLS = {
    "flag": "/powered-by-flag",
    "source": "/source:initialize",
    "keys": "/user-api-keys",
    "domains": "/domains",
}


def _ignores_keys(ending: str, is_wrong: Callable[[str | None], bool]) -> Make:
    numbers = itertools.count(1)

    def before(exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key")
        if path_ends_with(exchange, ending) and is_wrong(key):
            exchange.request_headers["Idempotency-Key"] = f"made-up-{next(numbers)}"

    return lambda _: _Both(before)


for _allow, _ending in _CALLS.items():
    for _description, _is_wrong in (
        ("no", lambda key: key is None),
        ("an empty", lambda key: key == ""),
        ("a long", lambda key: key is not None and len(key) > 128),
    ):
        hide(f"{_ending} takes {_description} key", "idempotency-key", "differs")(
            _ignores_keys(_ending, _is_wrong)
        )
hide("nobody may see that call 2 takes no key", "idempotency-key", "undecided", "flag")(
    lambda options: _Both(_generation_first)
)


def _generation_first(exchange: Exchange) -> None:
    """Call 2 checks the generation and never the key."""
    if path_ends_with(exchange, "/source:initialize") and not exchange.request_headers.get(
        "Idempotency-Key"
    ):
        exchange.request_headers["Idempotency-Key"] = "made-up"
    if path_ends_with(exchange, "/source:initialize") and exchange.request_json:
        exchange.request_json = {"expected_source_generation": 777}


def _folds_case(ending: str) -> Make:
    def before(exchange: Exchange) -> None:
        key = exchange.request_headers.get("Idempotency-Key")
        if path_ends_with(exchange, ending) and key is not None and len(key) > 1:
            exchange.request_headers["Idempotency-Key"] = key.lower()

    return lambda _: _Both(before)


for _ending in _CALLS.values():
    hide(f"{_ending} takes keys that differ in case for one", "idempotency-key", "differs")(
        _folds_case(_ending)
    )


def _refuses_keys(ending: str, length: int) -> Make:
    def before(exchange: Exchange) -> None:
        if (
            path_ends_with(exchange, ending)
            and len(exchange.request_headers.get("Idempotency-Key", "")) == length
        ):
            exchange.request_headers["Idempotency-Key"] = "k" * 129

    return lambda _: _Both(before)


for _ending in _CALLS.values():
    for _length in (1, 128):
        hide(
            f"{_ending} refuses an Idempotency-Key of {_length}",
            "idempotency-key limit.idempotency-key",
            "differs",
        )(_refuses_keys(_ending, _length))


@hide("one call is down", "idempotency-key", "undecided")
def one_call_is_down(_: CheckOptions) -> Tampering:
    def after(exchange: Exchange) -> None:
        if path_ends_with(exchange, "/domains"):
            refuse(exchange, 503, "service_unavailable")

    return _Both(after=after)


# --- API keys -------------------------------------------------------------------------------------


@hide("an API key may send an exact replay", "keys.session auth.session", "differs")
def an_api_key_may_send_an_exact_replay(options: CheckOptions) -> Tampering:
    seen_keys: set[str] = set()

    def before(exchange: Exchange) -> None:
        if not path_ends_with(exchange, "/user-api-keys"):
            return
        key = exchange.request_headers.get("Idempotency-Key", "")
        if (
            exchange.request_headers.get("Authorization", "").startswith("Bearer phk_")
            and key in seen_keys
        ):
            exchange.request_headers["Authorization"] = f"Bearer {options.token}"
        seen_keys.add(key)

    return _Both(before)


@hide("an API key may do everything", "auth.key-bound", "unseen")
def an_api_key_may_do_everything(options: CheckOptions) -> Tampering:
    def before(exchange: Exchange) -> None:
        is_key = exchange.request_headers.get("Authorization", "").startswith("Bearer phk_")
        if is_key and not path_ends_with(exchange, "/user-api-keys"):
            exchange.request_headers["Authorization"] = f"Bearer {options.token}"

    return _Both(before)


def _refuses_names(is_refused: Callable[[str], bool]) -> Make:
    def before(exchange: Exchange) -> None:
        name = (
            exchange.request_json.get("name")
            if path_ends_with(exchange, "/user-api-keys")
            else None
        )
        if isinstance(name, str) and is_refused(name):
            exchange.request_json = {"name": ""}

    return lambda _: _Both(before)


hide("a name of 1 is too short", "limit.key-name keys.body", "differs")(
    _refuses_names(lambda name: len(name) == 1)
)
hide("a name is measured in bytes", "limit.key-name keys.body", "differs")(
    _refuses_names(lambda name: len(name) <= 64 < len(name.encode()))
)


def _takes_bodies(ending: str, body: bytes, replacement: bytes) -> Make:
    def before(exchange: Exchange) -> None:
        if path_ends_with(exchange, ending) and exchange.request_body == body:
            exchange.request_body = replacement

    return lambda _: _Both(before)


for _body in (b'{"name": null}', b'["hosting-emulator-check-"]', b'{"name":'):
    hide(f"a key's body may be {_body.decode()}", "keys.body", "differs")(
        _takes_bodies("/user-api-keys", _body, b'{"name": "x"}')
    )


@hide("an accepted operation is an empty object", "domains.accepted", "undecided")
def an_accepted_operation_is_an_empty_object(_: CheckOptions) -> Tampering:
    def after(exchange: Exchange) -> None:
        if exchange.ok and path_ends_with(exchange, "/domains"):
            exchange.json = {}

    return _Both(after=after)


# --- Refusals that name no reason -----------------------------------------------------------------


def _refuses_hiding(code: str) -> Make:
    def after(exchange: Exchange) -> None:
        if exchange.ok and exchange.request_body == b'{"enabled": false}':
            refuse(exchange, 409, code)

    return lambda _: _Both(after=after)


hide("hiding is always refused", "flag.hiding-refused", "undecided")(
    _refuses_hiding("deployment_plan_expired")
)


@hide("one call does not know outsiders", "condition.missing", "differs")
def one_call_does_not_know_outsiders(options: CheckOptions) -> Tampering:
    def before(exchange: Exchange) -> None:
        if path_ends_with(exchange, "/powered-by-flag"):
            authorization = exchange.request_headers.get("Authorization", "")
            if authorization == f"Bearer {options.outsider_token}":
                exchange.request_headers["Authorization"] = "Bearer nobody"

    return _Both(before)


# --- Tokens ---------------------------------------------------------------------------------------


def _takes(read: Callable[[str], str | None]) -> Make:
    def before(exchange: Exchange) -> None:
        authorization = exchange.request_headers.get("Authorization", "")
        token = None if authorization.startswith("Bearer ") else read(authorization)
        if token is not None:
            exchange.request_headers["Authorization"] = f"Bearer {token}"

    return lambda _: _Both(before)


def _password(authorization: str) -> str | None:
    try:
        return (
            base64.b64decode(authorization.removeprefix("Basic "), validate=True)
            .decode()
            .split(":")[1]
        )
    except (ValueError, IndexError):
        return None


hide("a token under Basic", "auth.bearer bearer", "differs")(
    _takes(lambda authorization: authorization[6:] if authorization.startswith("Basic ") else None)
)
hide("a token as a password", "auth.bearer bearer", "differs")(_takes(_password))
hide("a token under Token", "auth.bearer bearer", "differs")(
    _takes(lambda authorization: authorization[6:] if authorization.startswith("Token ") else None)
)
hide("a token without a scheme", "auth.bearer bearer", "differs")(
    _takes(lambda authorization: authorization if authorization.startswith("ey") else None)
)


def _takes_cookies(ending: str) -> Make:
    def make(options: CheckOptions) -> Tampering:
        def before(exchange: Exchange) -> None:
            if path_ends_with(exchange, ending) and "Cookie" in exchange.request_headers:
                exchange.request_headers["Authorization"] = f"Bearer {options.token}"

        return _Both(before)

    return make


def _takes_basic(ending: str) -> Make:
    def make(options: CheckOptions) -> Tampering:
        def before(exchange: Exchange) -> None:
            is_basic = exchange.request_headers.get("Authorization", "").startswith("Basic ")
            if path_ends_with(exchange, ending) and is_basic:
                exchange.request_headers["Authorization"] = f"Bearer {options.token}"

        return _Both(before)

    return make


def _refuses_request_ids(ending: str, length: int) -> Make:
    def after(exchange: Exchange) -> None:
        if (
            path_ends_with(exchange, ending)
            and len(exchange.request_headers.get("X-Request-Id", "")) == length
        ):
            refuse(exchange, 400, "invalid_request", retryable=False)

    return lambda _: _Both(after=after)


#: The calls of the contract except call 2, which checks its generation first.
_ENDINGS = (
    "/powered-by-flag",
    "/user-api-keys",
    "/domains",
    "/edge-dns",
    "/deployments",
    "/dev-access-tickets",
    "/database/compute",
)
for _ending in _ENDINGS:
    hide(f"{_ending} takes a token under Basic", "auth.bearer bearer", "differs")(
        _takes_basic(_ending)
    )
    hide(f"{_ending} takes a token in a cookie", "auth.no-cookie", "differs")(
        _takes_cookies(_ending)
    )
for _ending in (*_ENDINGS, "/source:initialize"):
    for _length in (1, 128):
        hide(
            f"{_ending} refuses an X-Request-Id of {_length}",
            "request-id limit.request-id",
            "differs",
        )(_refuses_request_ids(_ending, _length))

# --- Sizes, ids and words -------------------------------------------------------------------------


def _page_size(size: str, replacement: str) -> Make:
    def before(exchange: Exchange) -> None:
        if path_ends_with(exchange, "/deployments"):
            exchange.path = exchange.path.replace(f"limit={size}", f"limit={replacement}")
            if exchange.path.endswith(f"limit={replacement}0"):  # it was a size of several digits
                exchange.path = exchange.path.removesuffix("0")

    return lambda _: _Both(before)


hide("a page size of 101", "limit.page-size", "undecided")(_page_size("101", "100"))


@hide("a page size of 0", "limit.page-size", "undecided")
def a_page_size_of_0(_: CheckOptions) -> Tampering:
    def before(exchange: Exchange) -> None:
        if path_ends_with(exchange, "/deployments") and exchange.path.endswith("limit=0"):
            exchange.path = exchange.path.replace("limit=0", "limit=20")

    return _Both(before)


@hide("a long X-Request-Id comes back in refusals", "request-id", "differs")
def a_long_x_request_id_comes_back_in_refusals(_: CheckOptions) -> Tampering:
    def after(exchange: Exchange) -> None:
        if exchange.status >= 400 and len(exchange.request_headers.get("X-Request-Id", "")) > 128:
            exchange.headers["X-Request-Id"] = exchange.request_headers["X-Request-Id"]

    def before(exchange: Exchange) -> None:
        pass

    return _Both(before, after)


def _words(ending: str, change: Callable[[Any], object]) -> Make:
    def after(exchange: Exchange) -> None:
        is_operation = (
            is_successful_poll(exchange)
            or path_ends_with(exchange, "/domains")
            or path_ends_with(exchange, ":initialize")
        )
        if exchange.ok and (
            is_operation if ending == "operation" else path_ends_with(exchange, ending)
        ):
            document = exchange.json
            change(document)
            exchange.json = document

    return lambda _: _Both(after=after)


def _status(page: Any) -> None:
    for item in page["items"]:
        item["status"] = "live"


def _phase(operation: Any) -> None:
    if "progress" in operation:
        operation["progress"]["phase"] = "waiting"


def _compute(compute: Any) -> None:
    compute["data_mode"] = "separate"
    if compute.get("database"):
        compute["database"]["state"] = "ready"


hide("no deployment is queued", "deployment.status", "undecided")(_words("/deployments", _status))
hide("no progress is queued", "progress-object", "undecided")(_words("operation", _phase))
hide("no data is shared, no database init", "compute.data_mode compute.placement", "undecided")(
    _words("/database/compute", _compute)
)

# --- Fresh observations ---------------------------------------------------------------------------


class Caches(Tampering):
    """Serves every repeated read of a path from a cache for each token."""

    def __init__(self, ending: str) -> None:
        self._ending = ending
        self._cache: dict[tuple[str, str], Exchange] = {}

    def after(self, exchange: Exchange) -> None:
        if (
            exchange.method != "GET"
            or not exchange.ok
            or not path_ends_with(exchange, self._ending)
        ):
            return
        cache_key = (exchange.path, exchange.request_headers.get("Authorization", ""))
        cached = self._cache.setdefault(cache_key, exchange)
        exchange.status = cached.status
        exchange.body = cached.body


hide("compute from a cache", "compute.observed_at", "differs")(lambda _: Caches("/compute"))
hide("compute from a cache, only read", "compute.observed_at", "undecided", "tickets")(
    lambda _: Caches("/compute")
)
hide("deployments from a cache", "operation.deployment_id", "differs")(
    lambda _: Caches("/deployments")
)

# --- Refusals for another reason ------------------------------------------------------------------


@hide("sessions are not asked for, states are", "keys.session auth.session", "undecided")
def sessions_are_not_asked_for_states_are(_: CheckOptions) -> Tampering:
    def after(exchange: Exchange) -> None:
        is_key = exchange.request_headers.get("Authorization", "").startswith("Bearer phk_")
        if is_key and path_ends_with(exchange, "/user-api-keys"):
            refuse(exchange, 409, "deployment_plan_expired")

    return _Both(after=after)
