"""A world as a client sees it: where it answers, what is in it, who may ask."""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator.sdk.answers import World
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.names import Aliases, NoSuchName

#: A test may move time far; its tokens should not expire unless it asks for that.
_TEN_YEARS_S = 10 * 365 * 86_400


class Place:
    """The part of `HostingEmulator` that names things and lets people in."""

    control: ControlClient
    """The control API's client, for everything that has no method here."""
    name: str
    """The world's name."""
    base_url: str
    """What goes before `/v1/…` for this world."""
    control_url: str
    """Where the control API has this world."""
    projects: Aliases
    """Ids of projects by alias."""
    organizations: Aliases
    """Ids of organizations by alias."""
    people: Aliases
    """Ids of people by alias: `owner`, `member`, `reader`, `outsider`, `no-organization`, …"""

    def __init__(self, control: ControlClient, world: World) -> None:
        self.control = control
        self._settle_in(world)

    def _settle_in(self, world: World) -> None:
        """Take over what a summary says; tokens of an earlier past may be refused by now."""
        self.name = world["name"]
        self.base_url = world["base_url"]
        self.control_url = world["control_url"]
        self.projects = Aliases("project", [(p["alias"], p["id"]) for p in world["projects"]])
        self.organizations = Aliases(
            "organization", [(o["alias"], o["id"]) for o in world["organizations"]]
        )
        self.people = Aliases("person", [(p["alias"], p["id"]) for p in world["people"]])
        self._homes = {p["id"]: p["organization_id"] for p in world["projects"]}
        self._tokens: dict[str, str] = {}

    @property
    def project(self) -> str:
        """The id of the project `shop`, or else of the first. NoSuchName if there is none."""
        return _showcase(self.projects, "shop", f"world {self.name} has no project")

    @property
    def organization(self) -> str:
        """The id of `acme`, or else of the project's organization, or else of the first."""
        if "acme" not in self.organizations and self.projects:
            return self._homes[self.project]
        return _showcase(self.organizations, "acme", f"world {self.name} has no organization")

    def url(self, path: str, /, *, project: str | None = None) -> str:
        """Return the whole URL of a path of this world, such as `/v1/projects/{project}/domains`.

        In the path `{project}` stands for a project's id and `{organization}` for that of its
        organization: `project`, by alias, or else the ones of the attributes of these names. Raises
        ValueError for a path that does not begin with `/`, NoSuchName for an unknown project.
        """
        if not path.startswith("/"):
            raise ValueError(f"a path begins with /, as in /v1/projects: not {path[:80]!r}")
        if "{project}" in path:
            wanted = self.project if project is None else self.projects[project]
            path = path.replace("{project}", wanted)
        if "{organization}" in path:
            home = self.organization if project is None else self._homes[self.projects[project]]
            path = path.replace("{organization}", home)
        return self.base_url + path

    def token(
        self,
        who: str = "owner",
        *,
        organization: str | None = None,
        interactive: bool = True,
        expires_in_seconds: int | None = None,
    ) -> str:
        """Return an access token for a person, by alias or id.

        `organization`, an alias or id, is the person's own unless given. A token that is not
        `interactive` carries no sign-in. It lives ten years of world time unless told otherwise
        (1 second to ten years). Raises ControlRefused for whoever does not exist (404).
        """
        plain = organization is None and interactive and expires_in_seconds is None
        if plain and who in self._tokens:
            return self._tokens[who]
        made = self.control.token(
            who,
            world=self.name,
            organization=organization,
            interactive=interactive,
            expires_in_seconds=_TEN_YEARS_S if expires_in_seconds is None else expires_in_seconds,
        )
        if plain:
            self._tokens[who] = made["access_token"]
        return made["access_token"]

    def headers(self, who: str = "owner", *, key: str | None = None) -> dict[str, str]:
        """Return a person's Authorization header, and with `key` the Idempotency-Key."""
        headers = {"Authorization": f"Bearer {self.token(who)}"}
        return headers if key is None else {**headers, "Idempotency-Key": key}

    def api_key(
        self,
        who: str = "owner",
        *,
        name: str | None = None,
        organization: str | None = None,
        permissions: Sequence[str] | None = None,
    ) -> str:
        """Make a user API key without a call of the contract, and return its value.

        `organization` is the person's own unless given, `permissions` are all that it has. It
        expires after 90 days of world time.
        """
        made = self.control.create_api_key(
            who,
            world=self.name,
            name=name,
            organization=organization,
            permissions=permissions,
        )
        return str(made["value"])


def _showcase(ids: Aliases, alias: str, none: str) -> str:
    if alias in ids:
        return ids[alias]
    if not ids:
        raise NoSuchName(none)
    return next(iter(ids.values()))
