"""Read which roles the provider's groups give, and choose a person's roles."""

from collections.abc import Iterable
from pathlib import Path

from annotator.domain.errors import ValidationError
from annotator.domain.people import ROLES
from annotator.people.single_sign_on.records import GroupRoles


def read_group_roles(path: Path) -> GroupRoles:
    """Read the file: a mapping of groups, each to a mapping of datasets ("*": every dataset) to roles.

    Raises ValidationError with the first entry that means nothing.
    """
    import yaml  # only where a provider is configured: the server starts sooner without it

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, RecursionError, ValueError, yaml.YAMLError) as error:
        raise ValidationError(f"ANNOTATOR_OIDC_ROLES_FILE: {path}: {error}") from None
    if not isinstance(content, dict):
        raise _fault(path, "expected groups with the roles of their members", content)
    roles: dict[str, dict[str, str]] = {}
    for group, given in content.items():
        if not isinstance(group, str) or not isinstance(given, dict):
            raise _fault(path, f"{group!r}: expected a group with datasets and roles", given)
        for dataset, role in given.items():
            if not isinstance(dataset, str) or role not in ROLES:
                raise _fault(path, f"{group}: {dataset!r}: expected annotator, lead or admin", role)
        roles[group] = dict(given)
    return roles


def choose_roles(roles: GroupRoles, groups: Iterable[str]) -> dict[str, str]:
    """Return {dataset: strongest role} for a member of these groups ("*": every dataset)."""
    chosen: dict[str, str] = {}
    for group in groups:
        for dataset, role in roles.get(group, {}).items():
            chosen[dataset] = max(role, chosen.get(dataset, role), key=ROLES.index)
    return chosen


def _fault(path: Path, expected: str, found: object) -> ValidationError:
    return ValidationError(f"ANNOTATOR_OIDC_ROLES_FILE: {path}: {expected}, found {found!r:.80}")
