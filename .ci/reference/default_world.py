"""The page of the default world: its organizations, users and projects."""

from __future__ import annotations

from collections.abc import Mapping

from hosting_emulator.world.default_population import DEFAULT_POPULATION
from hosting_emulator.world.population_parts import OrganizationPart, ProjectPart, UserPart
from reference.markdown import code, join, table

INTRODUCTION = """\
A new world contains these organizations, users and projects, unless it is created from an exported
world or from a [scenario](scenario-file.md) with its own. [The service that is
emulated](../service.md#the-default-world) tells the story behind them."""
USERS = """\
An organization's owner has all rights in its projects. Other members need a role in a project."""
PROJECTS = """\
A project whose databases are shared has one database for both environments."""


def render() -> str:
    """Return the page without its title."""
    population = DEFAULT_POPULATION
    return join(
        INTRODUCTION,
        "## Organizations",
        table(
            ["alias", "name", "plan", "credits"],
            [_organization(part) for part in population.organizations],
        ),
        "## Users",
        USERS,
        table(
            ["alias", "name", "email address", "role in organizations", "role in projects"],
            [_user(part) for part in population.users],
        ),
        "## Projects",
        PROJECTS,
        table(
            [
                "alias",
                "organization",
                "deployments",
                "flag",
                "domain",
                "DNS authorization",
                "databases",
                "dev database",
                "prod database",
            ],
            [_project(part) for part in population.projects],
        ),
    )


def _organization(part: OrganizationPart) -> list[str]:
    return [code(part.alias), part.name or "", part.plan, str(part.credits)]


def _user(part: UserPart) -> list[str]:
    return [
        code(part.alias),
        part.name or "",
        code(part.email),
        _roles(part.organizations),
        _roles(part.projects),
    ]


def _roles(roles: Mapping[str, str]) -> str:
    return ", ".join(f"{role} of {code(alias)}" for alias, role in roles.items()) or "none"


def _project(part: ProjectPart) -> list[str]:
    deployments = part.deployments
    count = deployments if isinstance(deployments, int) else len(deployments)
    return [
        code(part.alias),
        code(part.organization),
        str(count),
        "on" if part.flag else "off",
        code(part.domain) if part.domain else "none",
        code(part.dns),
        part.database.data_mode,
        code(part.database.dev),
        code(part.database.prod),
    ]
