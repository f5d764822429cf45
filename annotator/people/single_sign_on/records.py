"""What the operator says of the provider, what the provider says of a person, and why a sign-in is refused."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from annotator.domain.addresses import is_loopback
from annotator.domain.errors import NotAllowed, ValidationError
from annotator.domain.messages import say
from annotator.domain.people import ROLES

GroupRoles = Mapping[str, Mapping[str, str]]
"""By group, then by dataset (EVERY_DATASET: all of them), the role that its members have."""
EVERY_DATASET = "*"
Refusal = Literal["unavailable", "expired", "denied", "refused", "disabled"]
REFUSALS: Mapping[Refusal, str] = {
    "unavailable": say("Your organisation's sign-in cannot be reached. Try again in a moment."),
    "expired": say("This sign-in took too long, or was begun in another tab. Try again."),
    "denied": say("Your organisation's sign-in did not let you in. Ask its administrator for access."),
    "refused": say("The answer of your organisation's sign-in cannot be accepted. Tell your admin the time."),
    "disabled": say("Your account here is disabled. Ask the admin of your dataset."),
}


class SingleSignOnRefused(NotAllowed):
    """The sign-in failed. `refusal`: the message for the person; `why`: for the log, without secrets."""

    def __init__(self, refusal: Refusal, why: str) -> None:
        self.refusal, self.why = refusal, why
        super().__init__(REFUSALS[refusal])


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderSettings:
    """How to speak with the provider."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)  # "": a public client, which PKCE alone protects
    name: str  # on the button
    scopes: tuple[str, ...]
    groups_claim: str
    username_claim: str
    roles: GroupRoles


@dataclass(frozen=True, slots=True)
class ProviderAnswer:
    """What a valid id token, and the provider's userinfo where that lacks something, say of a person."""

    issuer: str
    subject: str
    username: str
    name: str
    groups: tuple[str, ...]
    session_id: str | None  # at the provider
    id_token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class LogoutNotice:
    """The sessions that a valid logout token ends. `subject` or `session_id` can be missing."""

    token_id: str
    subject: str | None
    session_id: str | None  # at the provider
    issued_at: datetime


def check_provider_settings(settings: ProviderSettings) -> ProviderSettings:
    """Return them. Raises ValidationError if the provider could not be spoken with, or not safely."""
    parts = urlsplit(settings.issuer)
    if parts.query or parts.fragment or not is_safe_address(settings.issuer):
        raise ValidationError(
            f"ANNOTATOR_OIDC_ISSUER: expected an https address without ? and # (http on this machine only), found {settings.issuer!r:.200}"
        )
    if not settings.client_id:
        raise ValidationError("ANNOTATOR_OIDC_CLIENT_ID: expected the client's id at the provider")
    if "openid" not in settings.scopes:
        raise ValidationError("ANNOTATOR_OIDC_SCOPES: expected openid among the scopes")
    return settings


def is_safe_address(address: object) -> bool:
    """Return whether it is an https address, or an http address of this machine."""
    if not isinstance(address, str):
        return False
    try:
        parts = urlsplit(address)
        host = parts.hostname
    except ValueError:
        return False
    if not host or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host))


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
