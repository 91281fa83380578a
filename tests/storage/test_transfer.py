"""Export and import: a world as one document; an import that would break the world is refused."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.storage.export import export_state, import_state
from hosting_emulator.storage.format import StateRefused
from hosting_emulator.storage.snapshot import read_snapshot, write_snapshot
from tests.support.in_process import InProcess, fresh_world
from tests.support.worlds_on_disk import make_changes, world_content, world_indexes


@pytest.fixture(scope="module")
def world():
    api = InProcess()
    make_changes(api)
    api.apply_domains()
    api.initialize(2)
    api.add_fault(connection_reset={}, times=1)
    return api.world


@pytest.fixture
def document(world):
    return json.loads(json.dumps(export_state(world, with_seed=True)))


def test_an_imported_world_equals_the_exported_one(world, document):
    assert import_state(document, world.name, 0).seed == world.seed
    imported = import_state(document, world.name, 0)

    assert world_content(imported)[4:] == world_content(world)[4:]
    assert world_indexes(imported) == world_indexes(world)
    assert imported.commit == world.commit + 1


def test_a_world_whose_user_has_a_reserved_alias_is_imported(world, document):
    users = document["tables"]["users"].values()
    next(user for user in users if user["alias"] == "outsider")["alias"] = "nobody"

    imported = import_state(document, world.name, 0)

    stored = export_state(imported)["tables"]["users"].values()
    assert "nobody" in [user["alias"] for user in stored]


def test_an_imported_world_gets_a_new_name_and_a_later_commit(world, document):
    imported = import_state(document, "copy", 10_000)

    assert (imported.name, imported.commit) == ("copy", 10_001)


def without(document, *path):
    *above, last = path
    for step in above:
        document = document[step]
    del document[last]


def set_value(document, *path_and_value):
    *above, last, value = path_and_value
    for step in above:
        document = document[step]
    document[last] = value


def first_key(document, table):
    return next(iter(document["tables"][table]))


@pytest.mark.parametrize("garbage", [None, 5, "text", [], {}, {"kind": "other"}, [{"kind": "x"}]])
def test_a_document_that_is_no_export_is_refused(garbage):
    with pytest.raises(StateRefused, match="this is not an exported state"):
        import_state(garbage, "default", 0)


@pytest.mark.parametrize(
    ("path_and_value", "reason"),
    [
        (
            ("format", 99),
            "its format is 99, and .* reads only format .*; use hosting-emulator 0.1.0",
        ),
        (("format", "1"), "its format is '1'"),
        (("seed", None), "seed"),
        (("seed", 5), "seed"),
        (("at_ms", None), "at_ms"),
        (("at_ms", "soon"), "at_ms"),
        (("at_ms", True), "at_ms"),
        (("at_ms", -1), "at_ms"),
        (("at_ms", LATEST_MS + 1), "at_ms"),
        (("at_ms", 1.5), "at_ms"),
        (("commit", 2**63), "commit"),
        (("commit", -1), "commit"),
        (("commit", "many"), "commit"),
        (("tables", None), "tables"),
        (("tables", []), "tables"),
        (("tables", "projects", []), "table projects must be an object"),
        (("tables", "tables", {}), None),
        (("tables", "tables", {"x": {}}), "there is no table 'tables'"),
        (("tables", "streams", "ids", "many"), "table streams, row ids"),
        (("tables", "streams", "ids", -1), "table streams, row ids"),
        (("tables", "streams", "ids", 2**70), "table streams, row ids"),
        (("tables", "streams", "schedule", 1), "table schedule, row .*: sequence must be"),
        (("tables", "clock", {}), "clock has no row 'world'"),
        (("tables", "clock", "world", "world_ms", LATEST_MS + 1), "table clock, row world"),
        (("tables", "clock", "world", "mode", "warp"), "table clock, row world"),
        (("tables", "clock", "world", "rate", 0), "table clock, row world"),
        (("tables", "assumptions", "world", {"rate_limit": "x"}), "table assumptions"),
        (("tables", "operations", {"x": {}}), "table operations, row x"),
    ],
)
def test_the_refusal_of_an_import_names_the_invalid_part(document, path_and_value, reason):
    set_value(document, *path_and_value)

    if reason is None:
        import_state(document, "default", 0)
        return
    with pytest.raises(StateRefused, match=reason):
        import_state(document, "default", 0)


@pytest.mark.parametrize(
    ("table", "field", "value"),
    [
        ("projects", "id", "01JGFJJZ000000000000000000"),
        ("projects", "organization_id", "nowhere"),
        ("projects", "claim", "nobody"),
        ("projects", "queue_head", "nobody"),
        ("projects", "queue_tail", "nobody"),
        ("projects", "surprise", 1),
        ("projects", "alias", "a/b"),
        ("projects", "handle", "Shop"),
        ("projects", "dev_label", "dev-a-b-c.elsewhere.example/"),
        ("projects", "dev_label", "a\r\nX: y"),
        ("projects", "dev_environment_id", "dev"),
        ("projects", "custom_domain", "example"),
        ("dns_authorizations", "zone", "a b.example"),
        ("dns_authorizations", "zone", f"{'a.' * 130}example"),
        ("dns_authorizations", "scopes", ["zone.write"]),
        ("dns_authorizations", "zone", "notes.example"),  # of a zone that is not_authorized
        ("dns_authorizations", "scopes", ["zone.read"] * 3),
        ("user_api_keys", "name", ""),
        ("memberships", "user_id", "nobody"),
        ("memberships", "organization_id", "nowhere"),
        ("memberships", "role", "emperor"),
        ("grants", "project_id", "nowhere"),
        ("grants", "user_id", "nobody"),
        ("deployments", "project_id", "nowhere"),
        ("deployments", "status", "flying"),
        ("operations", "project_id", "nowhere"),
        ("operations", "state", "flying"),
        ("operations", "phase", "flying"),
        ("operations", "kind", "flying"),
        ("operations", "profile", "slowly"),
        ("operations", "step", 99),
        ("operations", "step", -1),
        ("operations", "deployment_id", "nothing"),
        ("operations", "event", "nothing"),
        ("operations", "next_waiting", "nobody"),
        ("dev_access_tickets", "project_id", "nowhere"),
        ("dev_access_tickets", "state", "eaten"),
        ("user_api_keys", "organization_id", "nowhere"),
        ("user_api_keys", "user_id", "nobody"),
        ("user_api_keys", "permissions", ["everything"]),
        ("organizations", "permissions", ["everything"]),
        ("dns_authorizations", "status", "perhaps"),
        ("databases", "placement", {"state": "gone"}),
        ("schedule", "subject", "nobody"),
        ("schedule", "due_ms", "soon"),
        ("schedule", "kind", "party"),
        ("faults", "rule", {"until": ""}),
        ("remembered_responses", "status", 5),
        ("remembered_responses", "subject", "nothing"),
    ],
)
def test_the_refusal_of_an_import_names_the_row_that_would_break_the_world(
    document, table, field, value
):
    key = first_key(document, table)
    set_value(document, "tables", table, key, field, value)

    with pytest.raises(StateRefused, match=f"table {table}, row {key}: ") as refused:
        import_state(document, "default", 0)

    # Only an unknown field suggests that another build wrote the file.
    is_of_another_build = "use the hosting-emulator that wrote the file" in str(refused.value)
    assert is_of_another_build == (field == "surprise")


@pytest.mark.parametrize(
    ("table", "field", "value", "reason"),
    [
        ("organizations", "name", "\ud800", "the row cannot be written as JSON"),
        ("remembered_responses", "status", 404, "the body is not a problem document"),
    ],
)
def test_the_refusal_of_an_imported_row_gives_the_reason(document, table, field, value, reason):
    key = first_key(document, table)
    set_value(document, "tables", table, key, field, value)

    with pytest.raises(StateRefused, match=f"table {table}, row {key}: {reason}"):
        import_state(document, "default", 0)


@pytest.mark.parametrize(
    ("path_and_value", "reason"),
    [
        (
            ("kind", "x"),
            'this is not an exported state: it has no "kind": "hosting-emulator state"',
        ),
        (("tables", None), '"tables" is missing or not an object'),
        (("tables", "users", []), "table users must be an object that maps keys to rows"),
        (("seed", 5), '"seed" must be a string'),
        (
            ("commit", 2**53 + 1),
            '"commit" is missing or not a whole number from 0 to 9007199254740992',
        ),
        (
            ("at_ms", LATEST_MS + 1),
            f'"at_ms" is missing or not a whole number from 0 to {LATEST_MS}',
        ),
    ],
)
def test_the_refusal_of_a_document_says_which_member_is_wrong(document, path_and_value, reason):
    set_value(document, *path_and_value)

    with pytest.raises(StateRefused) as refused:
        import_state(document, "default", 0)

    assert str(refused.value) == reason


def test_a_remembered_refusal_is_imported():
    api = InProcess(fresh_world(idempotency_remembers="all_answers"))
    first = api.initialize(99, key="k")
    assert first.status == 409
    imported = import_state(json.loads(json.dumps(export_state(api.world))), "default", 0)

    assert InProcess(imported).initialize(99, key="k").body == first.body


def names_of(document):
    """Return ids in the document, by the names under which the table below uses them."""
    tables = document["tables"]
    projects = {row["alias"]: key for key, row in tables["projects"].items()}
    shop = tables["projects"][projects["shop"]]
    return {
        "shop": projects["shop"],
        "notes": projects["notes"],
        "running": shop["claim"],
        "waiting": shop["queue_head"],
        "event": tables["operations"][shop["claim"]]["event"],
        "finished": first_key(document, "operations"),
        "deployment": tables["operations"][shop["queue_head"]]["deployment_id"],
        "flag": first_key(document, "remembered_responses"),
    }


def with_names(value, names):
    """Replace the names in braces in a text, or in each text of a list."""
    if isinstance(value, str):
        return value.format(**names)
    if isinstance(value, list | tuple):
        return [with_names(item, names) for item in value]
    return value


#: Paths in the tables with their new values, the row that is refused for them, and the reason.
INCONSISTENT = [
    ((("streams", "ids", -1),), "streams ids", "-1 is not a valid number of draws"),
    ((("streams", "ids", 2**31),), "streams ids", "2147483648 is not a valid number of draws"),
    (
        (("users", "{shop}", {"id": "x", "alias": "x", "name": "X", "email": "x@x.example"}),),
        "users {shop}",
        "the id is not a ULID",
    ),
    ((("projects", "{shop}", "id", "{notes}"),), "projects {shop}", "the key should be '{notes}'"),
    (
        (("clock", "other", {"mode": "frozen", "world_ms": 0, "machine_ms": 0}),),
        "clock other",
        "the key should be 'world'",
    ),
    (
        (("operations", "{running}", "created_at", "yesterday"),),
        "operations {running}",
        "created_at must be a timestamp such as 2026-01-31T09:30:00.000Z",
    ),
    (
        (("operations", "{running}", "created_ms", 2**53 + 1),),
        "operations {running}",
        "created_ms is out of range",
    ),
    (
        (("operations", "{running}", "created_ms", -(2**53) - 1),),
        "operations {running}",
        "created_ms is out of range",
    ),
    (
        (("projects", "{shop}", "organization_id", "x"),),
        "projects {shop}",
        "organization_id: there is no row 'x' in the table organizations",
    ),
    (
        (("projects", "{shop}", "handle", "S" * 81),),
        "projects {shop}",
        f"handle has the invalid value '{'S' * 80}'",
    ),
    (
        (("dns_authorizations", "{shop}", "scopes", ["zone.write"]),),
        "dns_authorizations {shop}",
        "scopes must be one of dns.write, zone.read",
    ),
    (
        (("dns_authorizations", "nowhere", {}),),
        "dns_authorizations nowhere",
        "there is no such project",
    ),
    (
        (("dns_authorizations", "{notes}", "zone", "notes.example"),),
        "dns_authorizations {notes}",
        "a DNS authorization in the state not_authorized must have no zone, scopes or expiry",
    ),
    (
        (("databases", "nowhere/dev", {"data_mode": "shared"}),),
        "databases nowhere/dev",
        "there is no such project",
    ),
    (
        (("databases", "{notes}/test", {"data_mode": "shared"}),),
        "databases {notes}/test",
        "there is no such project",
    ),
    (
        (("databases", "{notes}/dev", "placement", "state", "gone"),),
        "databases {notes}/dev",
        "the state is unknown",
    ),
    (
        (("databases", "{notes}/dev", "placement", "pending_state", "gone"),),
        "databases {notes}/dev",
        "the state is unknown",
    ),
    (
        (("projects", "{shop}", "claim", "{finished}"),),
        "projects {shop}",
        "the claim is held by an operation that belongs to another project or has ended",
    ),
    (
        (("projects", "{notes}", "claim", "{running}"),),
        "projects {notes}",
        "the claim is held by an operation that belongs to another project or has ended",
    ),
    (
        (("projects", "{shop}", "claim", None),),
        "projects {shop}",
        "operations are waiting for a claim that no operation holds",
    ),
    (
        (("operations", "{waiting}", "next_waiting", "{waiting}"),),
        "projects {shop}",
        "the queue of operations contains a loop",
    ),
    (
        (("operations", "{waiting}", "next_waiting", "x"),),
        "projects {shop}",
        "the queue contains an operation that does not exist",
    ),
    (
        (("projects", "{shop}", "queue_head", "{running}"),),
        "projects {shop}",
        "the queue contains an operation that belongs to another project or holds the claim",
    ),
    (
        (("operations", "{waiting}", "project_id", "{notes}"),),
        "projects {shop}",
        "the queue contains an operation that belongs to another project or holds the claim",
    ),
    (
        (("projects", "{shop}", "queue_tail", "{running}"),),
        "projects {shop}",
        "queue_tail is not the last operation in the queue",
    ),
    (
        (("operations", "{running}", "event", "0"),),
        "operations {running}",
        "the event does not belong to this operation",
    ),
    (
        (("schedule", "{event}", "subject", "{waiting}"),),
        "operations {running}",
        "the event does not belong to this operation",
    ),
    ((("operations", "{running}", "step", -1),), "operations {running}", "step is out of range"),
    ((("operations", "{running}", "step", 99),), "operations {running}", "step is out of range"),
    (
        (("operations", "{waiting}", "state", "running"),),
        "operations {waiting}",
        "step 0 of the plan does not have the state running",
    ),
    (
        (
            ("operations", "{finished}", "event", "{event}"),
            ("schedule", "{event}", "subject", "{finished}"),
        ),
        "operations {finished}",
        "the operation has ended but still has a scheduled event",
    ),
    (
        (("deployments", "{deployment}", "status", "ready"),),
        "operations {waiting}",
        "the status of the deployment is impossible at step 0",
    ),
    (
        (("operations", "{running}", "outcome", {"id": "o", "kind": "x", "steps": ["dance"]}),),
        "operations {running}",
        "the outcome has an unknown step",
    ),
    (
        (("operations", "{running}", "outcome", {"id": "o", "kind": "x", "steps": ["none"]}),),
        "operations {running}",
        "the outcome has an unknown step",
    ),
    (
        (
            (
                "operations",
                "{running}",
                "outcome",
                {"id": "o", "kind": "x", "steps": ["stuck"], "steps_taken": 2},
            ),
        ),
        "operations {running}",
        "the outcome has taken too many steps",
    ),
    (
        (
            (
                "operations",
                "{running}",
                "outcome",
                {"id": "o", "kind": "x", "steps": ["stuck"], "steps_taken": -1},
            ),
        ),
        "operations {running}",
        "the outcome has taken too many steps",
    ),
    (
        (("operations", "{running}", "outcome", {"id": "o", "kind": "x", "steps": ["failed"]}),),
        "operations {running}",
        "the outcome fails without an error",
    ),
    ((("streams", "schedule", 12),), "schedule 12", "sequence must be less than 12"),
    (
        (("operations", "{running}", "event", None),),
        "schedule {event}",
        "no operation waits for this event",
    ),
    (
        (("schedule", "0", "subject", "x"),),
        "schedule 0",
        "there is no row 'x' in the table projects",
    ),
    (
        (("schedule", "0", "kind", "timeline"),),
        "schedule 0",
        "there is no row '{shop}' in the table timeline",
    ),
    ((("faults", "fault-1", "id", "fault-2"),), "faults fault-1", "the id is not the row's key"),
    (
        (("streams", "fault order", 0),),
        "faults fault-1",
        "order must be at least 0 and less than 0",
    ),
    (
        (("remembered_responses", "{flag}", "status", 199),),
        "remembered_responses {flag}",
        "199 is not a valid response status",
    ),
    (
        (("remembered_responses", "{flag}", "status", 600),),
        "remembered_responses {flag}",
        "600 is not a valid response status",
    ),
    (
        (("remembered_responses", "{flag}", "status", 400),),
        "remembered_responses {flag}",
        "the body is not a problem document",
    ),
    (
        (("remembered_responses", "{flag}", "call_id", "list_deployments"),),
        "remembered_responses {flag}",
        "responses of the call 'list_deployments' are not remembered",
    ),
    (
        (("remembered_responses", "{flag}", "call_id", "dance"),),
        "remembered_responses {flag}",
        "responses of the call 'dance' are not remembered",
    ),
    (
        (("remembered_responses", "{flag}", "subject", "x"),),
        "remembered_responses {flag}",
        "the subject 'x' does not exist",
    ),
    ((("retry_waits", "x", {"due_ms": -1}),), "retry_waits x", "due_ms is out of range"),
    ((("retry_waits", "x", {"due_ms": LATEST_MS + 1}),), "retry_waits x", "due_ms is out of range"),
]


@pytest.mark.parametrize(("changes", "row", "reason"), INCONSISTENT)
def test_the_refusal_of_an_inconsistent_import_says_what_is_inconsistent(
    document, changes, row, reason
):
    names = names_of(document)
    for *path, value in changes:
        set_value(document, "tables", *with_names(path, names), with_names(value, names))
    table, _, key = with_names(row, names).partition(" ")

    with pytest.raises(StateRefused) as refused:
        import_state(document, "default", 0)

    assert str(refused.value) == f"table {table}, row {key}: {with_names(reason, names)}"


@pytest.mark.parametrize(
    "path_and_value",
    [
        ("streams", "ids", 2**31 - 1),
        ("operations", "{running}", "created_ms", 2**53),
        ("retry_waits", "x", {"due_ms": 0}),
        ("retry_waits", "x", {"due_ms": LATEST_MS}),
        ("remembered_responses", "{flag}", "status", 200),
        (
            "operations",
            "{running}",
            "outcome",
            {"id": "outcome-1", "kind": "stick", "steps": ["stuck"], "steps_taken": 1},
        ),
    ],
)
def test_an_import_with_a_value_at_its_limit_is_accepted(document, path_and_value):
    names = names_of(document)

    set_value(document, "tables", *with_names(path_and_value, names))

    import_state(document, "default", 0)


GARBAGE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
    | st.sampled_from(["queued", "running", "ready", "owner", "0", "1", "world", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=4,
)


def draw_damage(document, data):
    """Return a copy of the document with one value changed, deleted or swapped."""
    document = copy.deepcopy(document)
    node = document
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        key = data.draw(st.sampled_from(keys))
        value = node[key]
        if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 4)) == 0:
            break
        node = value
    match data.draw(st.sampled_from(["change", "delete", "swap"])):
        case "change":
            node[key] = data.draw(GARBAGE)
        case "delete":
            del node[key]
        case "swap":
            other_key = data.draw(st.sampled_from(keys))
            node[key], node[other_key] = node[other_key], node[key]
    return document


@given(data=st.data())
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_call_works_in_a_world_of_any_accepted_import(document, tmp_path, data):
    try:
        world = import_state(draw_damage(document, data), "default", 0)
    except StateRefused:
        return

    api = InProcess(world)
    check_every_call(api)
    write_snapshot(tmp_path / "snapshot.json", api.world)
    assert world_content(read_snapshot(tmp_path / "snapshot.json").world()) == world_content(
        api.world
    )
    import_state(json.loads(json.dumps(export_state(api.world))), "default", 0)


def check_every_call(api):
    """Send every call as each user. No response may be an error of the emulator."""
    responses = []
    users = [alias for alias in ("owner", "reader") if f"user:{alias}" in api.world.indexes]
    if not {f"project:{alias}" for alias in ("shop", "blog")} <= {*dict(api.world.indexes.items())}:
        return
    for user in users if "organization:acme" in api.world.indexes else []:
        for project in ("shop", "blog"):
            options = {"user": user, "project": project}
            responses += [
                api.set_flag(True, **options),
                api.initialize(2, **options),
                api.apply_domains(**options),
                api.dns(**options),
                api.deployments("?limit=100", **options),
                api.ticket(**options),
                api.compute("?environment=dev", **options),
                api.compute("?environment=prod", **options),
            ]
        responses.append(api.create_key(user=user))
        responses += [api.poll(key, user=user) for key in list(api.world.tables["operations"])]
    api.engine.move_by(86_400_000 * 100)
    responses += [api.poll(key) for key in list(api.world.tables["operations"])] if users else []
    assert [response.status for response in responses if response.status >= 500] == []
