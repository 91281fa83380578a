"""The table of interventions, by the word that scenarios, control API and CLI use for each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from hosting_emulator.contract.words import nearest, plainly
from hosting_emulator.interventions import on_access, on_operations, on_projects
from hosting_emulator.interventions.base import Intervention, InterventionRefused, doc_of

_KINDS: tuple[type[Intervention], ...] = (
    on_operations.StickOperation,
    on_operations.ReleaseOperation,
    on_operations.StepOperation,
    on_operations.FailOperation,
    on_operations.CancelOperation,
    on_operations.RequireReconciliation,
    on_operations.RunReconciliation,
    on_operations.CompleteReconciliation,
    on_operations.ExhaustReconciliation,
    on_operations.HoldClaim,
    on_operations.ReleaseClaim,
    on_operations.AddDeployments,
    on_operations.FailDeployment,
    on_access.ExpireTicket,
    on_access.RevokeTicket,
    on_access.ExpireKey,
    on_access.RevokeKey,
    on_access.LeaveKeyCreationUncertain,
    on_access.SetPlan,
    on_access.SetCredits,
    on_access.SetPermissions,
    on_access.AddMember,
    on_access.RemoveMember,
    on_access.SetRole,
    on_access.TransferOwnership,
    on_projects.MoveDns,
    on_projects.FailDatabaseProvider,
    on_projects.RecoverDatabaseProvider,
    on_projects.SetDatabase,
    on_projects.ConnectDomain,
    on_projects.DisconnectDomain,
)


def _word(kind: type[Intervention]) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


#: Every intervention by its word, such as `stick_operation`.
INTERVENTIONS: dict[str, type[Intervention]] = {_word(kind): kind for kind in _KINDS}


def read_intervention(document: Mapping[str, Any]) -> Intervention:
    """Read an intervention as people write it: `{"stick_operation": {"project": "shop"}}`.

    Raises InterventionRefused, naming what is unknown and what is near.
    """
    if len(document) != 1:
        raise InterventionRefused(
            "an intervention is an object with one word, such as "
            '{"stick_operation": {"project": "shop"}}'
        )
    word, options = next(iter(document.items()))
    kind = INTERVENTIONS.get(str(word))
    if kind is None:
        hint = nearest(str(word), INTERVENTIONS) or f"; there are {', '.join(INTERVENTIONS)}"
        raise InterventionRefused(f"there is no intervention {str(word)[:80]!r}{hint}")
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise InterventionRefused(f"{word} takes an object of fields")
    fields = {field.encode_name for field in msgspec.structs.fields(kind)}
    for name in options:
        if name not in fields:
            hint = nearest(str(name), fields)
            takes = ", ".join(sorted(fields))
            message = f"{word} has no field {name!r} (it takes {takes}){hint}"
            raise InterventionRefused(message, str(name))
    try:
        return msgspec.convert(dict(options), kind)
    except msgspec.ValidationError as error:
        found = re.search(r"`\$\.([a-z_]+)", str(error))
        field = found.group(1) if found else ""
        where = f"{word}.{field}" if field else word
        message = f"{where}: {plainly(str(error), kind, field)}"
        raise InterventionRefused(message, field) from None


def describe_interventions() -> list[dict[str, Any]]:
    """Return every intervention: its word, what it does, its fields and which are required."""
    return [
        {
            "word": word,
            "about": doc_of(kind),
            "fields": [
                {"name": field.encode_name, "required": field.required}
                for field in msgspec.structs.fields(kind)
            ],
        }
        for word, kind in INTERVENTIONS.items()
    ]
