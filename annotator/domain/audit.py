"""Define the audit log's actions, the origin of an act, and the hashes that chain the entries.

An entry's hash covers the entry and the hash of the previous entry. Personal values (username, address) enter
it only as a salted commitment. The value and its salt are stored outside the chain, so removing them does not
break it. docs/security.md describes the encoding, so that others can recompute it.
"""

import hashlib
import json
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Literal

FIRST_PREVIOUS = "0" * 64
"""The first entry's value for the hash of the previous entry."""
ENCODING = 1
"""The version of the encoding; every entry's hash covers it."""
LONGEST_TEXT = 200
LONGEST_DETAILS = 4_000


class AuditAction(StrEnum):
    """The actions that an entry can record. Values are stored for ever: add some, never change one."""

    signed_in = "signed_in"
    sign_in_failed = "sign_in_failed"
    sign_in_limited = "sign_in_limited"
    signed_out = "signed_out"
    signed_out_everywhere = "signed_out_everywhere"
    account_made = "account_made"
    account_renamed = "account_renamed"
    account_disabled = "account_disabled"
    account_enabled = "account_enabled"
    account_pseudonymised = "account_pseudonymised"
    role_given = "role_given"
    role_taken = "role_taken"
    expertise_changed = "expertise_changed"
    password_changed = "password_changed"
    password_reset = "password_reset"
    password_link_made = "password_link_made"
    second_factor_set_up = "second_factor_set_up"
    second_factor_removed = "second_factor_removed"
    second_factor_reset = "second_factor_reset"
    second_factor_failed = "second_factor_failed"
    recovery_code_used = "recovery_code_used"
    invited = "invited"
    invitation_revoked = "invitation_revoked"
    invitation_used = "invitation_used"
    identity_linked = "identity_linked"
    dataset_made = "dataset_made"
    settings_changed = "settings_changed"
    dataset_archived = "dataset_archived"
    dataset_unarchived = "dataset_unarchived"
    dataset_restored = "dataset_restored"
    dataset_exported = "dataset_exported"
    imported = "imported"
    documents_remapped = "documents_remapped"
    queries_renamed = "queries_renamed"
    pool_round_made = "pool_round_made"
    guideline_published = "guideline_published"
    checks_changed = "checks_changed"
    quality_drawn = "quality_drawn"
    names_revealed = "names_revealed"
    decided = "decided"
    decision_withdrawn = "decision_withdrawn"
    decided_in_bulk = "decided_in_bulk"
    bulk_undone = "bulk_undone"
    documents_ordered = "documents_ordered"
    duplicates_accepted = "duplicates_accepted"
    file_downloaded = "file_downloaded"
    release_published = "release_published"
    backup_written = "backup_written"
    backup_restored = "backup_restored"
    installation_copied = "installation_copied"
    schema_migrated = "schema_migrated"
    personal_data_removed = "personal_data_removed"


ActorKind = Literal["person", "operator", "program", "unknown"]
"""Who acted: a person, the operator of the command line, the program itself, or a person who is not signed in."""
PersonalField = Literal["actor", "subject", "address"]
PERSONAL_FIELDS: tuple[PersonalField, ...] = ("actor", "subject", "address")
"""The values outside the chain: the actor, the person concerned, and the address of the actor's browser."""
Source = Literal["web", "cli", "program"]


@dataclass(frozen=True, slots=True)
class AuditOrigin:
    """The origin of an act. The web adds the id of its request and the browser's address."""

    source: Source
    request_id: str | None = None
    address: str | None = None


OF_PROGRAM = AuditOrigin("program")
audit_origin: ContextVar[AuditOrigin] = ContextVar("audit_origin", default=OF_PROGRAM)
"""Set at the edges: by the command line, by the gate for each request, and by each run of a page."""


def encode_canonically(value: Any) -> str:
    """Return JSON with sorted keys, without white space between tokens, and without escaped non-ASCII characters."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def encode_details(details: Mapping[str, Any]) -> str:
    """Return an entry's details as canonical JSON of at most LONGEST_DETAILS characters.

    Long texts are cut. If the JSON is still too long, only its keys and its SHA-256 are kept.
    """
    encoded = encode_canonically(_clean(details))
    if len(encoded) <= LONGEST_DETAILS:
        return encoded
    keys = [str(key)[:40] for key in list(details)[:20]]
    return encode_canonically({"keys": keys, "sha256": hashlib.sha256(encoded.encode()).hexdigest()})


def clean_text(text: str) -> str:
    """Return a text that both databases can store, cut to LONGEST_TEXT characters."""
    kept = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", "")
    return kept if len(kept) <= LONGEST_TEXT else kept[: LONGEST_TEXT - 1] + "…"


def _clean(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if value is None or isinstance(value, bool | int):
        return value
    return clean_text(str(value))


def commit_to(field: PersonalField, person_pk: int | None, value: str, salt: str) -> str:
    """Return the commitment to a personal value, in hexadecimal. The salt prevents guessing the value."""
    return hashlib.sha256(encode_canonically([salt, field, person_pk, value]).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ChainedEntry:
    """The parts of an entry that its hash covers. `commitments`: by field; None if the entry has no such value."""

    sequence: int
    at: datetime
    action: str
    actor_kind: str
    source: str
    request_id: str | None
    dataset: str | None
    object: str
    details: str
    commitments: Mapping[PersonalField, str | None]
    previous: str

    def compute_hash(self) -> str:
        """Return the SHA-256 of the entry's canonical encoding, in hexadecimal."""
        content = {
            "encoding": ENCODING,
            "sequence": self.sequence,
            "at": write_time(self.at),
            "action": self.action,
            "actor_kind": self.actor_kind,
            "source": self.source,
            "request_id": self.request_id,
            "dataset": self.dataset,
            "object": self.object,
            "details": self.details,
            "commitments": {name: self.commitments.get(name) for name in PERSONAL_FIELDS},
            "previous": self.previous,
        }
        return hashlib.sha256(encode_canonically(content).encode()).hexdigest()


def write_time(at: datetime) -> str:
    """Return a time in UTC with microseconds: 2026-11-26T01:02:03.000004Z."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
