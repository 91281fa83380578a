"""Who may ask what: nobody without a token, readers a little, strangers nothing."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract_check.scene import Scene, story
from hosting_emulator.contract_check.wire import Answer

#: What each call sends that would be in order; nothing is created, since nobody may ask.
_IN_ORDER: dict[str, dict[str, Any]] = {
    "set_project_powered_by_flag": {"body": {"enabled": True}},
    "initialize_managed_source": {"body": {"expected_source_generation": 0}},
    "create_user_api_key": {"body": {"name": "hosting-emulator-check"}},
    "apply_project_domains": {},
    "get_dns_authorization": {},
    "list_deployments": {},
    "create_dev_access_ticket": {},
    "read_database_compute": {},
}
_WITH_KEY = frozenset(list(_IN_ORDER)[:4])


def _asked(scene: Scene, call_id: str, about: str, **how: Any) -> Answer:
    if call_id in _WITH_KEY:
        how["key"] = scene.ask.new_key()
    query = ""
    if call_id == "read_database_compute":
        query = f"?{scene.name_of('environment_parameter') or 'environment'}=dev"
    return scene.ask.call(call_id, query, about=about, **_IN_ORDER[call_id], **how)


@story("nobody may ask without a token")
def unauthenticated(scene: Scene) -> None:
    """Make each call without one, and one call with what is none."""
    unnamed = scene.name_of("environment_parameter") is None
    for call_id in _IN_ORDER:
        if unnamed and call_id == "read_database_compute":
            continue  # what is not in order may be refused for that
        answer = _asked(scene, call_id, "without a token", token="")
        if scene.refused("auth.bearer bearer", answer):
            scene.refused("auth.unauthenticated", answer, "unauthenticated")
    wrong = {
        "a made-up token": "Bearer hosting-emulator-check",
        "another scheme": "Basic aG9zdGluZy1lbXVsYXRvcjpjaGVjaw==",
    }
    for about, sent in wrong.items():
        answer = _asked(
            scene, "get_dns_authorization", about, token="", headers={"Authorization": sent}
        )
        if scene.refused("auth.bearer auth.kinds", answer):
            scene.refused("auth.unauthenticated", answer, "unauthenticated")
    token = scene.options.token
    cookies = {"Cookie": f"token={token}; access_token={token}; session={token}"}
    answer = _asked(
        scene, "get_dns_authorization", "the token in cookies", token="", headers=cookies
    )
    scene.refused("auth.no-cookie", answer)


@story(
    "what a reader may do",
    needs="reader_token",
    judges="flag.owner-only tickets.owner-only auth.roles auth.forbidden compute.readers",
)
def as_reader(scene: Scene) -> None:
    """Read, and be refused what is the owner's."""
    token = scene.options.reader_token
    for call_id, key in (
        ("set_project_powered_by_flag", "flag.owner-only"),
        ("create_dev_access_ticket", "tickets.owner-only"),
    ):
        answer = _asked(scene, call_id, "as a reader", token=token)
        if answer.code in ("resource_not_found", "organization_required", "unauthenticated"):
            why = f"{answer.said}: --reader-token is not a reader's of this project"
            scene.ledger.skips(f"{key} auth.roles auth.forbidden compute.readers", why)
            return
        if scene.refused(f"{key} auth.roles", answer):
            scene.refused("auth.forbidden", answer, "forbidden")
    if scene.name_of("environment_parameter") is None:
        scene.ledger.skips("compute.readers", "the query parameter's name is not known")
    else:
        answer = _asked(scene, "read_database_compute", "as a reader", token=token)
        if scene.succeeded("compute.readers auth.roles", answer):
            scene.ledger.holds("compute.readers auth.roles", answer.said)


@story("who may read")
def roles(scene: Scene) -> None:
    """Read as each of those whose tokens were given."""
    for call_id, name in (
        ("get_dns_authorization", "dns_role"),
        ("list_deployments", "deployments_role"),
    ):

        def ask(token: str, about: str, call_id: str = call_id) -> Answer:
            return _asked(scene, call_id, about, token=token)

        scene.least_role(name, ask)


@story("what a stranger sees", needs="outsider_token", judges="")
def as_outsider(scene: Scene) -> None:
    """Everything lies outside the scope of somebody of another organization."""
    token = scene.options.outsider_token
    unnamed = scene.name_of("environment_parameter") is None
    left_out = {"create_user_api_key", *(("read_database_compute",) if unnamed else ())}
    for call_id in _IN_ORDER:
        if call_id not in left_out:
            answer = _asked(scene, call_id, "as an outsider", token=token)
            if answer.code in ("unauthenticated", "organization_required"):
                why = f"{answer.said}: --outsider-token is not of a member of another organization"
                scene.ledger.skips("condition.missing", why)
                return
            scene.refused("condition.missing", answer, "resource_not_found")


@story("a token without an organization", needs="no_organization_token", judges="auth.organization")
def without_organization(scene: Scene) -> None:
    """Be told to name one."""
    token = scene.options.no_organization_token
    answer = _asked(scene, "get_dns_authorization", "without an organization", token=token)
    if answer.ok or answer.code in ("resource_not_found", "unauthenticated"):
        why = f"{answer.said}: whether this call needs an organization is not shown"
        scene.ledger.skips("auth.organization", why)
    else:
        scene.refused("auth.organization", answer, "organization_required")
