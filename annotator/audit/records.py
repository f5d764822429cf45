"""Records of the audit log: entries, filters, its head, and what a verification found."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.domain.audit import PERSONAL_FIELDS, ChainedEntry, PersonalField, write_time
from annotator.domain.errors import ValidationError


@dataclass(frozen=True, slots=True)
class PersonalValue:
    """What an entry says of a person. `salt`: None since it was replaced by a pseudonym."""

    field: PersonalField
    person_pk: int | None
    value: str
    salt: str | None


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """A stored entry. `sha256`: its stored hash. `personal`: remaining personal values by field."""

    chained: ChainedEntry
    sha256: str
    personal: Mapping[PersonalField, PersonalValue]

    @property
    def sequence(self) -> int:
        return self.chained.sequence

    def name(self, field: PersonalField) -> str | None:
        """Return the value of a field; None if the entry has none, or if it was removed."""
        value = self.personal.get(field)
        return None if value is None else value.value

    def is_removed(self, field: PersonalField) -> bool:
        """Return whether the entry had a value that was removed since."""
        return self.chained.commitments.get(field) is not None and field not in self.personal

    def describe(self) -> dict[str, Any]:
        """Return the entry for a log collector, with everything that is needed to compute its hash again."""
        entry = self.chained
        return {
            "sequence": entry.sequence,
            "at": write_time(entry.at),
            "action": entry.action,
            "actor_kind": entry.actor_kind,
            "actor": self.name("actor"),
            "subject": self.name("subject"),
            "address": self.name("address"),
            "source": entry.source,
            "request_id": entry.request_id,
            "dataset": entry.dataset,
            "object": entry.object,
            "details": json.loads(entry.details),
            "commitments": {field: entry.commitments.get(field) for field in PERSONAL_FIELDS},
            "previous": entry.previous,
            "sha256": self.sha256,
        }


@dataclass(frozen=True, slots=True)
class AuditFilter:
    """Which entries are read. `person`: a username, as who acts or on whom; None everywhere: all."""

    dataset: str | None = None
    action: str | None = None
    person: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    after: int | None = None  # only entries with a higher sequence


@dataclass(frozen=True, slots=True)
class AuditPage:
    """A part of the entries, the newest first, and how many there are."""

    entries: tuple[AuditEntry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class AuditHead:
    """The newest entry's sequence and hash. A copy stored elsewhere proves later that no entries were cut off."""

    sequence: int
    sha256: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.sha256}"


def read_head(text: str) -> AuditHead:
    """Read SEQUENCE:HASH as `annotator audit --head` prints it. Raises ValidationError."""
    found = re.fullmatch(r"(\d{1,10}):([0-9a-f]{64})", text.strip())
    if found is None:
        raise ValidationError(f"expected SEQUENCE:HASH as annotator audit --head prints it, found {text!r}")
    return AuditHead(int(found[1]), found[2])


@dataclass(frozen=True, slots=True)
class ChainProblem:
    """The first entry that breaks the chain, with the expected and the found value."""

    sequence: int
    expected: str
    found: str


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The result of a verification.

    `entries`: number of verified entries. `removed`: number of personal values that were removed or replaced, each accounted for
    by an entry. `problem`: None if the whole chain holds.
    """

    entries: int
    head: AuditHead | None
    removed: int
    problem: ChainProblem | None
